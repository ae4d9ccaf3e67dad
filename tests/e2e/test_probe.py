"""probe --analyse: levels of a measured curve; what it says of bad ones. validate probe: known sizes and exact cases."""
import csv
import io
import json
import re
import shutil

import pathlib

from harness import SIMTLAB, SOURCE, Case, long_test, main, needs_clang

MOCK = pathlib.Path(SIMTLAB).parents[1] / "mockcuda/libsimtlab-mockcuda.so"


def curve(levels, step=1.06, first=2048):
    """levels: (last size, cycles)."""
    rows, size = ["size_bytes,cycles"], float(first)
    for last, cycles in levels:
        while size <= last:
            rows.append(f"{round(size)},{cycles}")
            size *= step
    return "\n".join(rows) + "\n"


COLUMNS = [
    "key",
    "value",
    "word",
    "unit",
    "low",
    "high",
    "confidence",
    "samples",
    "method",
    "curve",
    "unknown",
    "correction",
]


class Probe(Case):
    def write(self, text, name="curve.csv"):
        (self.folder / name).write_text(text)
        return name

    def test_levels_of_a_curve_and_their_ends(self):
        file = self.write(curve([(128 << 10, 30), (6 << 20, 200), (64 << 20, 430)]))
        out = self.ok("probe", "--analyse", file).stdout
        self.assertRegex(
            out, r"(?m)^\| 1 \| 30\.0 cycles, 30\.0 to 30\.0 \| \d+ \| 2 KiB \| 12\d\.?\d* KiB \| 12\d\.?\d* KiB, "
        )
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
        for row, place, says in (
            (f"{2 << 20},nan", f"{end}:9", "curve-value"),
            (f"{2 << 20},-3", f"{end}:9", "curve-value"),
            ("1024,30", f"{end}:1", "curve-order"),
            (good.splitlines()[-1], f"{end}:1", "curve-order"),
            ("5", f"{end}:1", "curve-syntax"),
        ):
            self.fails(3, "probe", "--analyse", self.write(good + row + "\n"), says=f"curve.csv:{place}: ")
            self.fails(3, "probe", "--analyse", "curve.csv", says=says)
        self.fails(3, "probe", "--analyse", self.write("size_bytes,cycles\n1024,30\n"), says="curve-points")
        self.fails(3, "probe", "--analyse", self.write("1024 30\n"), says="size_bytes,cycles")
        self.fails(
            3,
            "probe",
            "--analyse",
            self.write("#" * 600 + "\n" + ("# " + "x" * 500 + "\n") * 9000),
            says="file-too-large",
        )
        self.fails(3, "probe", "--analyse", "nowhere.csv", says="file-missing")
        self.fails(3, "probe", "--analyse", ".", says="file-directory")

    def test_options_out_of_range_are_refused(self):
        file = self.write(curve([(1 << 20, 30)]))
        for option in ("--significance=0", "--significance=nan", "--step=-1", "--confidence=1"):
            self.fails(2, "probe", "--analyse", file, option)
        self.fails(2, "probe", "--analyse", file, "--gpu", "v100", says="option-conflict")
        self.fails(2, "probe", "--analyse", file, "--detector", "mean")
        for option in (
            ("--quick",),
            ("--seed", "3"),
            ("--only", "shared"),
            ("--base", "k40"),
            ("--method", "slope"),
            ("--max-time", "1s"),
        ):
            self.fails(2, "probe", "--analyse", file, *option, says=option[0] + " has no effect")
        self.fails(2, "probe", "--analyse", file, "-o", file)

    def test_a_simulated_board_is_measured_and_its_device_file_can_be_used(self):
        done = self.ok(
            "probe",
            "--gpu",
            "gtx480",
            "--quick",
            "--base",
            "gtx480",
            "-o",
            "mine.toml",
            "--json=r.json",
            "--curves",
            "curves",
        )
        self.assertRegex(done.stdout, r"(?m)^  l1.bytes +16 KiB$")
        self.assertRegex(done.stdout, r"(?m)^  l1.replacement +lru$")
        result = json.loads((self.folder / "r.json").read_text())
        self.assertGreater(result["total"]["probe.findings"]["value"], 100)
        text = (self.folder / "mine.toml").read_text()
        self.assertRegex(text, r'(?m)^latency = \{ value = "36 cycles", source = "probe: slope of a pointer chase')
        self.assertIn('estimated = "not measured; as gtx480', text)
        self.assertRegex((self.folder / "curves/l1.curve.csv").read_text(), r"(?m)^bytes,cycles$")
        run = (
            "run",
            SOURCE / "data/probes/validate.ptx",
            "--kernel",
            "scale",
            "--grid",
            "8",
            "--block",
            "128",
            "--arg",
            "buffer:4096:f32:iota",
            "--arg",
            "buffer:4096:f32",
            "--arg",
            "u32:1024",
            "--json",
        )
        cycles = [
            json.loads(self.ok(*run, "--gpu", gpu).stdout)["total"]["gpu.cycles"]["value"]
            for gpu in ("mine.toml", "gtx480")
        ]
        self.assertAlmostEqual(cycles[0] / cycles[1], 1, delta=0.03)

    def test_only_some_probes(self):
        out = self.ok("probe", "--gpu", "v100", "--only", "shared", "--quick").stdout
        self.assertIn("shared.banks", out)
        self.assertNotIn("l1.bytes", out)
        self.fails(2, "probe", "--only", "sharde", says="did you mean shared")

    def test_the_clocks_cost_is_taken_out_as_one_chooses_and_every_output_says_how(self):
        only = ("--gpu", "k40", "--quick", "--only", "shared,cache")

        def findings(*options):
            self.ok("probe", *only, *options, "--json=r.json", "-o", "mine.toml")
            rows = json.loads((self.folder / "r.json").read_text())["kernels"][0]["tables"]["findings"]["rows"]
            return {row[0]: dict(zip(COLUMNS, row)) for row in rows}

        truth = {"shared.latency": 26, "l1.latency": 32, "l2.latency": 188}  # data/devices/k40.toml
        by_slope = findings()
        self.assertEqual({by_slope[key]["correction"] for key in truth}, {"slope"})
        self.assertNotIn("slope.l1.latency", by_slope)
        for method in ("none", "subtract", "difference", "deconvolve"):
            found = findings("--correction", method)
            for key, cycles in truth.items():
                cost = found["cost." + key]["value"]
                self.assertGreater(cost, 10)
                self.assertAlmostEqual(
                    found[key]["value"], cycles + (cost if method == "none" else 0), places=9, msg=f"{method} {key}"
                )
                self.assertEqual(found[key]["correction"], method)
                self.assertAlmostEqual(found["slope." + key]["value"], by_slope[key]["value"], places=9)
            self.assertRegex(
                (self.folder / "mine.toml").read_text(),
                rf'(?m)^latency = .*source = "probe: mean interval around a load .*; correction {method}; ',
            )
            self.assertEqual(found["l1.bytes"]["value"], by_slope["l1.bytes"]["value"])
            self.assertIsNone(found["l1.bytes"]["correction"])
        self.ok("report", "r.json", "--html=r.html")
        self.assertIn("; correction: deconvolve", (self.folder / "r.html").read_text())
        self.fails(2, "probe", "--gpu", "k40", "--correction", "mean", says="--correction")
        self.fails(
            2, "probe", "--gpu", "k40", "--correction", "none", "--only", "launch,copy", says="times single operations"
        )
        self.fails(
            2, "probe", "--gpu", "k40", "--correction", "none", "--method", "thesis", says="--correction has no effect"
        )
        self.fails(2, "probe", "--compare", "k40", "v100", "--correction", "none", says="--correction has no effect")

    @long_test
    def test_the_published_method_has_its_artefacts_and_the_slopes_beside_it_do_not(self):
        measure = ("probe", "--method", "thesis", "--gpu", "k40", "--quick")
        done = self.ok(*measure, "--json=r.json", "-o", "mine.toml", "--curves", "curves")
        for title in ("Table 10: ", "Table 11: ", "Table 12: ", "Of the method and not of the device:"):
            self.assertIn(title, done.stdout)
        row = re.search(r"(?m)^\| add, cycles \| ([\d.]+) \| 9 \| \+(\d+) % \| 17 \|$", done.stdout)
        self.assertGreater(float(row[1]), 9.1)
        self.assertEqual(round((float(row[1]) / 9 - 1) * 100), int(row[2]))
        self.assertRegex(
            done.stdout, r"(?m)^\| mul \| - \| 9 \| 12 \| 17 \| [\d.]+ \| 9 \|$"
        )  # Mei, Andersch, Parra, Sanchez, the method, slope
        self.assertRegex(done.stdout, r"(?m)^\| 2 \| [\d.]+ \| 18 \| 6 \|")
        findings = {
            row[0]: row[1]
            for row in json.loads((self.folder / "r.json").read_text())["kernels"][0]["tables"]["findings"]["rows"]
        }
        self.assertAlmostEqual(findings["slope.add"], 9, places=9)
        self.assertAlmostEqual(
            findings["slope.div"], 418, delta=0.5
        )  # the longest chains are longer than the first instruction cache
        self.assertEqual(
            len([key for key in findings if re.fullmatch(r"thesis\.(add|sub|mul|div|mad)\.[1-8]", key)]), 40
        )
        # As published: hits of L1 under load, L2's a little; a line a thread leaves L2 from about 10,000 threads on,
        # and the line through what lies beyond is negative for few.
        self.assertAlmostEqual(findings["thesis.l1"], 51, delta=6)
        self.assertAlmostEqual(findings["thesis.l1.loaded"], 64, delta=8)
        self.assertAlmostEqual(findings["thesis.l2"], 365, delta=40)
        self.assertAlmostEqual(findings["thesis.lines.l2.threads"], 9984, delta=1100)
        self.assertIn("| SIMD width, cores of an SM | 192 |", done.stdout)
        self.assertLess(findings["thesis.memory.intercept"], 0)
        self.assertGreater(findings["thesis.memory.slope"], 0)
        self.assertAlmostEqual(findings["dram.latency"], 331, delta=4)
        self.assertRegex(
            done.stdout, r"(?m)^- memory: the line is at -\d.* which is no latency; one thread waits 331 cycles$"
        )
        self.assertIn("[l2]", (self.folder / "mine.toml").read_text())
        # The bandwidth test: every run of every size, and those of the thesis' size in their order.
        row = re.search(r"(?m)^\| copied in memory, GB/s \| ([\d.]+) \| ([\d.]+) \|  \| 183.5 \|$", done.stdout)
        self.assertAlmostEqual(float(row[1]), 183.5, delta=6)
        self.assertAlmostEqual(float(row[1]) * 1e9, findings["thesis.copy"], delta=1e8)
        read = lambda name: (self.folder / "curves" / name).read_text().splitlines()[2:]
        self.assertEqual([line.split(",")[0] for line in read("thesis.copy.runs.csv")], ["1", "2"])
        sizes = [int(float(line.split(",")[0])) for line in read("thesis.copy.samples.csv")]
        self.assertEqual(sorted(set(sizes))[-2:], [33554432, 67108864])
        self.assertEqual(len(sizes), 2 * len(read("thesis.copy.csv")))
        # What the loads count in each level, less what the clock's kernel counts (figure 24): two rounds of three.
        self.assertEqual(findings["counter.local.load.sectors.local.15x1024"], 2 * 3 * 4 * 15 * 32)
        estimate = [line.split(",") for line in read("counter.l2.read.misses.lines.20x896.estimate.csv")]
        mean = sum(float(count) * float(share) for count, share in estimate)
        self.assertAlmostEqual(mean, findings["counter.l2.read.misses.lines.20x896"], places=3)
        self.assertGreater(mean, 1000)
        self.assertEqual(findings["counter.l2.read.misses.global.11x896"], 0)
        self.ok("report", "r.json", "--html=r.html")
        self.assertIn("counter.l1.read.misses.local.15x1024.estimate", (self.folder / "r.html").read_text())
        self.fails(2, "probe", "--method", "thesis", "--only", "shared", "--gpu", "k40", says="probe-options")
        self.fails(2, "probe", "--method", "thesis", "--compare", "k40", "v100", says="option-conflict")
        self.fails(2, "probe", "--method", "deconvolve")

    def test_samples_of_a_users_own_become_a_distribution_and_its_parts(self):
        times = [50 + i % 3 + (250 if i % 4 == 3 else 0) + 20 + i % 2 for i in range(400)]
        (self.folder / "times.txt").write_text("".join(f"{t}\n" * 32 for t in times))
        (self.folder / "clock.txt").write_text("".join(f"{20 + i % 2} " * 32 + "\n" for i in range(400)))
        both = ("probe", "--samples", "times.txt", "--cost", "clock.txt")
        done = self.ok(*both, "--boundary", "150", "--json=r.json", "--csv=r.csv", "--curves", "curves")
        self.assertRegex(done.stdout, r"(?m)^\| part 1 \|  \| 75\.00 % \| 50\.8")
        self.assertRegex(done.stdout, r"(?m)^\| part 2 \|  \| 25\.00 % \| 30\d\.")
        self.assertEqual(
            sorted(file.name for file in (self.folder / "curves").iterdir()),
            ["histogram.clock.csv", "histogram.latency.csv", "histogram.measured.csv"],
        )
        kernels = {k["name"]: k["metrics"] for k in json.loads((self.folder / "r.json").read_text())["kernels"]}
        self.assertEqual(set(kernels), {"measured", "clock", "latency", "part 1", "part 2"})
        self.assertIn("probe.sample.mean", (self.folder / "r.csv").read_text())
        self.ok("report", "r.json", "--html=r.html")
        self.assertIn("histogram.latency", (self.folder / "r.html").read_text())
        self.assertIn("part 2", self.ok(*both, "--correction", "deconvolve", "--counters", "300,100").stdout)
        self.assertIn("the clock's cost is in them", self.ok("probe", "--samples", "times.txt").stdout)
        for name, text in ("empty", ""), ("negative", "12 -3"), ("huge", "1e300"), ("mixed", "12\nabc\n"):
            (self.folder / name).write_text(text)
            self.fails(3, "probe", "--samples", name, "--cost", "clock.txt", says="samples-")
        for more in (
            ("--correction", "slope"),
            ("--boundary", "400,100"),
            ("--boundary", "100", "--counters", "1,1"),
            ("--counters", "5"),
            ("--counters", "0,0"),
            ("--one-in", "0"),
        ):
            self.fails(2, *both, *more, says="probe-options")
        self.fails(2, "probe", "--samples", "times.txt", "--correction", "difference", says="probe-options")
        self.fails(2, "probe", "--cost", "clock.txt", says="option-conflict")
        self.fails(2, *both, "--quick", says="option-conflict")
        for launch in "11y3", "0x32", "1x0", "1x2000", "x", "11x896x2":
            self.fails(2, "probe", "--method", "thesis", "--histogram", launch, says="probe-options")
        self.fails(2, "probe", "--histogram", "11x896", says="probe-options")

    @needs_clang
    def test_the_example_prints_samples_whose_latency_is_the_devices(self):
        source = SOURCE / "examples/probe/clock_latency.cu"
        for kind in "clock", "add", "div", "local":
            done = self.ok("run", source, "--gpu", "k40", "--lowering", "counts", "-q", "--", kind)
            (self.folder / f"{kind}.txt").write_text(done.stdout)
            self.assertNotIn("nothing waits", done.stderr)
        for kind, latency in ("add", 9), ("div", 418), ("local", 32 + 9):  # the copy of the address
            said = self.ok("probe", "--samples", f"{kind}.txt", "--cost", "clock.txt").stdout
            mean = float(re.search(r"(?m)^\| latency \|  \| 100.00 % \| ([\d.]+) \|", said)[1])
            self.assertTrue(latency <= mean <= latency + 4, (kind, mean))

    def test_an_output_that_cannot_be_written_loses_none_of_the_others(self):
        done = self.simtlab(
            "probe",
            "--gpu",
            "gtx480",
            "--only",
            "shared",
            "--quick",
            "-o",
            "/dev/full",
            "--json=r.json",
            "--curves",
            "curves",
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("/dev/full", done.stderr)
        self.assertIn("shared.banks", done.stdout)
        self.assertIn("shared.banks", (self.folder / "r.json").read_text())
        self.assertTrue(list((self.folder / "curves").iterdir()))

    def test_the_device_file_that_is_read_is_not_overwritten(self):
        (self.folder / "mine.toml").write_text((SOURCE / "data/devices/gtx480.toml").read_text())
        self.fails(2, "probe", "--gpu", "mine.toml", "-o", "mine.toml", says="would overwrite")

    def test_wrong_choices_are_refused(self):
        for option in (("--gpu", "v100"), ("--set", "sm.count=3"), ("--threads", "1"), ("--max-memory", "1GiB")):
            self.fails(2, "probe", "--device", "0", *option, says=option[0] + " has no effect")
        self.fails(2, "probe", "--gpu", "v100", "--detector", "rank", says="--detector has no effect")
        self.fails(3, "probe", "--gpu", "v10", says="v100")
        self.fails(3, "probe", "--gpu", "v100", "--base", "nothing", says="nothing")
        self.fails(
            7,
            "probe",
            "--device",
            "0",
            "--only",
            "shared",
            env={"SIMTLAB_CUDA_DRIVER": "/nowhere/libcuda.so.1"},
            says="board-driver",
        )
        (self.folder / "bad.toml").write_text("[l1]\nbytes = 3\n")
        self.fails(3, "probe", "--gpu", "v100", "--base", "bad.toml", says="bad.toml:2")

    def test_what_was_measured_until_the_time_was_over_is_kept(self):
        done = self.simtlab("probe", "--gpu", "h100", "--max-time", "2", "-o", "part.toml", "--json=r.json")
        self.assertEqual(done.returncode, 130, done.stderr)
        self.assertIn("# Partial", (self.folder / "part.toml").read_text())
        result = json.loads((self.folder / "r.json").read_text())
        self.assertTrue(result["manifest"]["interrupted"])
        self.assertGreater(result["total"]["probe.findings"]["value"], 10)

    def test_a_board_lost_in_the_middle_leaves_what_was_measured_and_every_output_says_so(self):
        env = {"SIMTLAB_CUDA_DRIVER": str(MOCK), "SIMTLAB_MOCK_GPU": "k40", "SIMTLAB_MOCK_FAULT": "lost=12"}
        done = self.simtlab("probe", "--device", "0", "--quick", "-o", "part.toml", "--json=r.json", env=env)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("[board-lost]", done.stderr)
        self.assertIn("The device was lost", done.stdout)
        self.assertIn("# Partial", (self.folder / "part.toml").read_text())
        result = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(
            result["manifest"]["failure"]["id"]
            if isinstance(result["manifest"]["failure"], dict)
            else result["manifest"]["failure_id"],
            "board-lost",
        )
        self.assertGreater(result["total"]["probe.findings"]["value"], 10)
        self.assertIn("INCOMPLETE", self.ok("report", "r.json").stdout)

    def written(self, *probe, base):
        """The last line of a probe that writes p.toml, which runs as it is."""
        done = self.ok("probe", "--quick", "-o", "p.toml", *probe)
        last = done.stdout.splitlines()[-1]
        self.assertRegex(
            last,
            rf"^p\.toml: [1-9]\d* values? measured, [1-9]\d* from {base}(, \d+ from [\w-]+)* \(--base NAME for another.*\)$",
        )
        self.assertNotIn("warning", done.stderr)
        return last

    @long_test
    def test_a_written_file_is_complete_for_every_shipped_device(self):
        subsets = (
            "device",
            "memory",
            "launch,copy",
            "clock",
            "shared,atomic",
            "occupancy",
            "coalescing",
            "constant",
            "control",
            "clock",
            "shared,atomic",
        )
        kernel = (
            SOURCE / "data/probes/validate.ptx",
            "--kernel",
            "scale",
            "--grid",
            "8",
            "--block",
            "128",
            "--arg",
            "buffer:4096:f32:iota",
            "--arg",
            "buffer:4096:f32",
            "--arg",
            "u32:1024",
        )
        gpus = sorted(path.stem for path in (SOURCE / "data/devices").glob("*.toml"))
        self.assertEqual(len(gpus), len(subsets))
        for gpu, subset in zip(gpus, subsets):
            with self.subTest(gpu=gpu, subset=subset):
                last = self.written("--gpu", gpu, "--only", subset, base=gpu)
                measured, lent = map(int, re.search(r"(\d+) values? measured, (\d+) from", last).groups())
                origins = self.ok("config", "show", "--gpu", "./p.toml", "--origin").stdout
                self.assertEqual(len(re.findall(rf"estimated: not measured; as {gpu}", origins)), lent)
                self.assertEqual(len(re.findall(r"device \(.*p\.toml:\d+\): simtlab ", origins)), measured)
                cycles = [
                    json.loads(self.ok("run", *kernel, "--json", "--gpu", g).stdout)["total"]["gpu.cycles"]["value"]
                    for g in ("./p.toml", gpu)
                ]
                self.assertAlmostEqual(cycles[0] / cycles[1], 1, delta=0.05)
                self.ok("predict", *kernel, "--gpu", "./p.toml")
                self.ok("cache", *kernel, "--gpu", "./p.toml")
                self.ok("corun", "profile", "--database", f"{gpu}.toml", "--gpu", "./p.toml", *kernel)

    def test_the_nearest_device_lends_where_none_matches(self):
        for gpu, capability, base, says in (
            ("a40", "8.9", "a40", "no shipped device has compute capability 8.9; a40 has 8.6, the nearest of 8.x"),
            (
                "titanxp",
                "6.0",
                "titanxp",
                "no shipped device has compute capability 6.0; titanxp has 6.1, the nearest of 6.x",
            ),
            ("h100", "12.0", "h100", "generation of compute capability 12.0; h100 has 9.0"),
        ):
            self.assertIn(
                says,
                self.written("--gpu", gpu, "--set", f"compute_capability={capability}", "--only", "device", base=base),
            )
            self.assertIn(says, (self.folder / "p.toml").read_text())
            self.assertIn(capability, self.ok("config", "show", "--gpu", "./p.toml").stdout)
        # Another base, and none.
        self.assertIn("from v100", self.written("--gpu", "h100", "--only", "launch", "--base", "v100", base="v100"))
        alone = self.ok(
            "probe", "--gpu", "k40", "--only", "shared", "--quick", "--base", "none", "-o", "p.toml"
        ).stdout.splitlines()[-1]
        self.assertRegex(alone, r"^p\.toml: \d+ values measured, \d+ missing, so no command takes it as it is")
        self.assertNotIn("estimated", (self.folder / "p.toml").read_text())
        self.fails(3, "config", "show", "--gpu", "./p.toml", says="missing value")
        # On stdout the file is alone.
        done = self.ok("probe", "--gpu", "k40", "--only", "shared", "--quick", "-o", "-")
        self.assertTrue(done.stdout.startswith("# "), done.stdout[:80])
        self.assertRegex(done.stderr, r"device file: \d+ values measured, \d+ from k40")

    def test_where_a_base_contradicts_what_was_measured_another_one_lends(self):
        for gpu, base in (("k40", "a100"), ("h100", "v100"), ("gtx480", "h100")):
            with self.subTest(gpu=gpu, base=base):
                last = self.written("--gpu", gpu, "--only", "shared", "--base", base, base=base)
                self.ok("config", "show", "--gpu", "./p.toml")
                self.assertRegex(last, rf"from {base}, \d+ from|together with no device's values: ")
                self.ok(
                    "run",
                    SOURCE / "data/probes/validate.ptx",
                    "--kernel",
                    "scale",
                    "--grid",
                    "8",
                    "--block",
                    "128",
                    "--arg",
                    "buffer:4096:f32:iota",
                    "--arg",
                    "buffer:4096:f32",
                    "--arg",
                    "u32:1024",
                    "--gpu",
                    "./p.toml",
                )
        self.assertRegex(
            self.written("--gpu", "k40", "--only", "shared", "--base", "k40", base="k40"), r", \d+ from k40 \("
        )

    def test_what_was_measured_is_kept_repetition_by_repetition(self):
        self.ok("probe", "--gpu", "k40", "--only", "shared", "--quick", "--json=r.json")
        tables = json.loads((self.folder / "r.json").read_text())["kernels"][0]["tables"]
        self.assertEqual(tables["samples"]["columns"], ["key", "value", "count"])
        kept = [row for row in tables["samples"]["rows"] if row[0] == "shared.latency"]
        finding = next(row for row in tables["findings"]["rows"] if row[0] == "shared.latency")
        self.assertEqual(sum(row[2] for row in kept), finding[COLUMNS.index("samples")])
        self.assertIn(finding[1], [row[1] for row in kept])

    @long_test
    def test_all_operations_fit_a_gpu_with_few_registers(self):
        """Kernels of many chains take more registers than a thread of Fermi may have."""
        done = self.ok("probe", "--gpu", "gtx480", "--only", "arithmetic,issue", "--json=r.json")
        self.assertNotIn("Failed", done.stdout)
        findings = {
            row[0]: row[1]
            for row in json.loads((self.folder / "r.json").read_text())["kernels"][0]["tables"]["findings"]["rows"]
        }
        self.assertGreaterEqual(len([key for key in findings if re.fullmatch(r"op\..*\.latency", key)]), 45)
        self.assertAlmostEqual(findings["throughput.fp32"], 32, delta=0.96)
        self.assertEqual(findings["issue.interval"], 2)  # two schedulers at half of the shader clock
        self.assertEqual(findings["sm.schedulers"], 2)
        self.assertEqual((findings["sm.issue_turns"], findings["sm.issue_width"]), (2, 1))

    def test_published_curves_have_their_known_sizes(self):
        out = self.ok("validate", "probe", "--check").stdout
        for board, size in (
            ("v100", "128 KiB"),
            ("a40", "128 KiB"),
            ("l40", "128 KiB"),
            ("a100-80", "192 KiB"),
            ("gh200", "256 KiB"),
            ("mi100", "16 KiB"),
            ("mi210", "16 KiB"),
            ("mi300x", "32 KiB"),
        ):
            self.assertRegex(out, rf"(?m)^\| {board} \| L1 \| {size} .* \| met \|$")
        for board, size in (("a100-80", "20 MiB"), ("gh200", "30 MiB")):
            self.assertRegex(out, rf"(?m)^\| {board} \| half of L2 \| {size} .* \| met \|$")
        self.assertEqual(len(re.findall(r"\| slope \|.*\| met \|", out)), 4)
        page = (SOURCE / "docs/lab/probe.md").read_text()
        for line in out.splitlines():
            self.assertIn(line, page, "stale: simtlab validate probe, into docs/lab/probe.md")

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
