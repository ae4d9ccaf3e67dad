"""probe --analyse: levels of a measured curve; what it says of bad ones. validate probe: known sizes and exact cases."""
import csv
import io
import json
import re
import shutil

from harness import SOURCE, Case, main


def curve(levels, step=1.06, first=2048):
    """levels: (last size, cycles)."""
    rows, size = ["size_bytes,cycles"], float(first)
    for last, cycles in levels:
        while size <= last:
            rows.append(f"{round(size)},{cycles}")
            size *= step
    return "\n".join(rows) + "\n"


class Probe(Case):
    def write(self, text, name="curve.csv"):
        (self.folder / name).write_text(text)
        return name

    def test_levels_of_a_curve_and_their_ends(self):
        file = self.write(curve([(128 << 10, 30), (6 << 20, 200), (64 << 20, 430)]))
        out = self.ok("probe", "--analyse", file).stdout
        self.assertRegex(out, r"(?m)^\| 1 \| 30\.0 cycles, 30\.0 to 30\.0 \| \d+ \| 2 KiB \| 12\d\.?\d* KiB \| 12\d\.?\d* KiB, ")
        self.assertRegex(out, r"(?m)^\| 3 \| 430\.0 cycles.* \| - \| - \| - \|$")
        result = json.loads(self.ok("probe", "--analyse", file, "--json").stdout)
        self.assertEqual(result["manifest"]["inputs"][0]["path"], file)
        self.assertEqual(result["total"]["probe.levels"]["value"], 3)
        edges = [k["metrics"]["probe.edge.size"] for k in result["kernels"][:2]]
        for edge, known in zip(edges, (128 << 10, 6 << 20)):
            self.assertEqual(edge["unit"], "bytes")
            self.assertLess(abs(edge["value"] / known - 1), 0.06)
        rows = list(csv.DictReader(io.StringIO(self.ok("probe", "--analyse", file, "--csv").stdout)))
        self.assertIn("probe.edge.low", {row["metric"] for row in rows})
        self.assertEqual(self.ok("probe", "--analyse", file, "--detector", "ks").stdout.count(" cycles, "), 3)
        self.ok("probe", "--analyse", file, "-o", "report.md")
        self.assertEqual((self.folder / "report.md").read_text(), out)

    def test_a_result_file_is_printed_again(self):
        self.ok("probe", "--analyse", self.write(curve([(128 << 10, 30), (6 << 20, 200)])), "--json=r.json")
        out = self.ok("report", "r.json").stdout
        self.assertRegex(out, r"(?m)^level 1\n  probe.level.latency +30 cycles$")
        self.assertRegex(out, r"(?m)^  probe.edge.size +12\d KiB$")
        self.assertNotIn("executed", out)

    def test_a_curve_of_one_level_has_no_edge_and_says_so(self):
        self.assertIn("No edge", self.ok("probe", "--analyse", self.write(curve([(1 << 20, 30)]))).stdout)

    def test_bad_curves_are_named_with_their_place(self):
        good = curve([(1 << 20, 30)])
        end = len(good.splitlines()) + 1
        for row, place, says in ((f"{2 << 20},nan", f"{end}:9", "curve-value"), (f"{2 << 20},-3", f"{end}:9", "curve-value"), ("1024,30", f"{end}:1", "curve-order"),
                                 (good.splitlines()[-1], f"{end}:1", "curve-order"), ("5", f"{end}:1", "curve-syntax")):
            self.fails(3, "probe", "--analyse", self.write(good + row + "\n"), says=f"curve.csv:{place}: ")
            self.fails(3, "probe", "--analyse", "curve.csv", says=says)
        self.fails(3, "probe", "--analyse", self.write("size_bytes,cycles\n1024,30\n"), says="curve-points")
        self.fails(3, "probe", "--analyse", self.write("1024 30\n"), says="size_bytes,cycles")
        self.fails(3, "probe", "--analyse", self.write("#" * 600 + "\n" + ("# " + "x" * 500 + "\n") * 9000), says="file-too-large")
        self.fails(3, "probe", "--analyse", "nowhere.csv", says="file-missing")
        self.fails(3, "probe", "--analyse", ".", says="file-directory")

    def test_options_out_of_range_are_refused(self):
        file = self.write(curve([(1 << 20, 30)]))
        for option in ("--significance=0", "--significance=nan", "--step=-1", "--confidence=1"):
            self.fails(2, "probe", "--analyse", file, option)
        self.fails(2, "probe", "--analyse", file, "--gpu", "v100", says="probe-options")
        self.fails(2, "probe", "--analyse", file, "--detector", "mean")
        self.fails(2, "probe", "--analyse", file, "-o", file)

    def test_measuring_a_device_is_said_not_to_be_there(self):
        for arguments in ((), ("--gpu", "v100")):
            self.fails(4, "probe", *arguments, says="--analyse")

    def test_published_curves_have_their_known_sizes(self):
        out = self.ok("validate", "probe", "--check").stdout
        for board, size in (("v100", "128 KiB"), ("a40", "128 KiB"), ("l40", "128 KiB"), ("a100-80", "192 KiB"), ("gh200", "256 KiB"), ("mi100", "16 KiB"), ("mi210", "16 KiB"),
                            ("mi300x", "32 KiB")):
            self.assertRegex(out, rf"(?m)^\| {board} \| L1 \| {size} .* \| met \|$")
        for board, size in (("a100-80", "20 MiB"), ("gh200", "30 MiB")):
            self.assertRegex(out, rf"(?m)^\| {board} \| half of L2 \| {size} .* \| met \|$")
        self.assertEqual(len(re.findall(r"\| slope \|.*\| met \|", out)), 4)
        page = (SOURCE / "docs/probe.md").read_text()
        for line in out.splitlines():
            self.assertIn(line, page, "stale: simtlab validate probe, into docs/probe.md")

    def test_a_size_that_is_not_found_is_said_and_ends_with_6_only_with_check(self):
        shutil.copytree(SOURCE / "data", self.folder / "data")
        path = self.folder / "data/measured/known-sizes.csv"
        path.write_text(path.read_text().replace("v100,L1,128", "v100,L1,64"))
        env = {"SIMTLAB_DATA": str(self.folder / "data")}
        self.assertIn("- missed: v100 L1: no edge found, 64 KiB known", self.ok("validate", "probe", env=env).stdout)
        done = self.simtlab("validate", "probe", "--check", "--json", env=env)
        self.assertEqual(done.returncode, 6)
        self.assertIn("[validate-target]", done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["total"]["validate.targets.missed"]["value"], 1)
        self.assertNotIn("probe.edge.size", result["kernels"][0]["metrics"])


if __name__ == "__main__":
    main()
