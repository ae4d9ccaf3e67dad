"""simtlab compare, rerun, config diff and config init."""
import json
import os
import unittest

from harness import SAXPY, SAXPY_LAUNCH, Case, main, needs_clang


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.saxpy()

    def run_as(self, name, *more):
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", f"--json={name}", *more)

    def test_equal_results(self):
        self.run_as("a.json")
        self.run_as("b.json")
        text = self.ok("compare", "a.json", "b.json", "--fail-above", "0").stdout
        self.assertIn("the same", text)
        self.assertIn("Configuration and inputs are the same.", text)
        self.assertIn("every metric is the same", text)

    def test_the_chain_from_the_setting_to_the_time(self):
        self.run_as("a.json", "--lines")
        self.run_as("b.json", "--lines", "--set", "dram.latency=800 cycles")
        text = self.ok("compare", "a.json", "b.json").stdout
        self.assertRegex(text, r"gpu\.time: .* -> .*, \+\d")
        self.assertRegex(text, r"dram\.latency: .* -> 800 cycles")
        self.assertRegex(text, r"A load takes \d+ -> \d+ cycles, \+\d+ of them in dram")
        self.assertRegex(text, r"Schedulers: long_scoreboard \+.*of the difference")
        data = json.loads(self.ok("compare", "a.json", "b.json", "--json").stdout)
        kernel = data["kernels"][0]
        # What schedulers did adds up to the time, so its differences add up to the difference.
        parts = sum((p["after"] or 0) - (p["before"] or 0) for p in kernel["parts"])
        self.assertAlmostEqual(parts, kernel["after_ns"] - kernel["before_ns"], delta=1e-6 * kernel["after_ns"])
        self.assertGreater(data["change"], 0.05)
        self.assertEqual([c["key"] for c in data["configuration"]], ["dram.latency"])

    def test_fail_above(self):
        self.run_as("a.json")
        self.run_as("b.json", "--set", "dram.latency=800 cycles")
        self.ok("compare", "b.json", "a.json", "--fail-above", "0")
        result = self.simtlab("compare", "a.json", "b.json", "--fail-above", "5")
        self.assertEqual(result.returncode, 6)
        self.assertIn("[compare-above]", result.stderr)
        self.assertIn("What was changed", result.stdout, "the comparison is printed all the same")
        self.ok("compare", "a.json", "b.json", "--fail-above", "5", "--metric", "l1.read.misses")
        for bad in ("-1", "nan", "x"):
            self.assertEqual(self.simtlab("compare", "a.json", "b.json", "--fail-above", bad).returncode, 2)

    def test_what_only_one_has(self):
        self.run_as("a.json")
        self.file("saxpy.ptx", SAXPY.replace("saxpy", "other"))
        self.run_as("b.json")
        text = self.ok("compare", "a.json", "b.json").stdout
        self.assertIn("only in the first: saxpy", text)
        self.assertIn("only in the second: other", text)
        self.assertIn("input ", text)

    def test_results_with_nothing_in_common(self):
        self.run_as("a.json")
        self.ok("dram", "--generate", "random", "--requests", "500", "--dram", "ddr4-3200", "--json=d.json")
        self.fails(3, "compare", "a.json", "d.json", "--metric", "gpu.time", says="[compare-metric]")

    def test_other_kinds_of_results(self):
        for name, dram in (("a", "ddr4-3200"), ("b", "ddr3-1600")):
            self.ok("dram", "--generate", "random", "--requests", "500", "--dram", dram, f"--json={name}.json")
        self.assertIn("dram.time: ", self.ok("compare", "a.json", "b.json", "--all").stdout)


class Rerun(Case):
    def same(self, *command):
        self.ok(*command, "--json=r.json")
        self.assertIn("the same: ", self.ok("rerun", "r.json").stdout)

    def test_every_command_with_a_result_repeats_itself(self):
        self.saxpy()
        run = ["saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100"]
        self.same("run", *run, "--lines", "--series", "500", "--seed", "7", "--threads", "1")
        self.same("run", *run, "-o", "report.txt", "--record", "t.simt")
        self.same("run", "t.simt", "--gpu", "a100")
        self.same("cache", *run)
        self.same("cache", *run, "--plot", "pictures")
        self.same("predict", *run)
        self.same("dram", "--generate", "random", "--requests", "500", "--dram", "ddr4-3200")
        self.file(
            "c.csv", "size_bytes,cycles\n" + "".join(f"{1024 * (i + 1)},{30 if i < 32 else 200}\n" for i in range(64))
        )
        self.same("probe", "--analyse", "c.csv")

    def test_files_that_the_run_wrote_are_left_alone(self):
        self.saxpy()
        self.ok(
            "run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=r.json", "--timeline", "t.json", "-o", "text", "--record=x.simt"
        )
        before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in self.folder.iterdir() if p.is_file()}
        self.ok("rerun", "r.json", "-q")
        self.assertEqual(
            {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in self.folder.iterdir() if p.is_file()}, before
        )

    def test_a_run_that_failed_fails_the_same_way(self):
        self.saxpy()
        self.assertNotEqual(
            self.simtlab("run", "saxpy.ptx", *SAXPY_LAUNCH, "--max-cycles", "200", "--json=r.json").returncode, 0
        )
        self.assertIn("the same: ", self.ok("rerun", "r.json").stdout)

    def test_a_result_that_was_tampered_with(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=r.json")
        data = json.loads((self.folder / "r.json").read_text())
        data["kernels"][0]["metrics"]["gpu.cycles"]["value"] += 1
        self.file("r.json", json.dumps(data))
        self.fails(6, "rerun", "r.json", says=["[rerun-result]", "gpu.cycles was"])
        data["kernels"][0]["bottleneck"] = "none"
        data["kernels"][0]["metrics"]["gpu.cycles"]["value"] -= 1
        self.file("r.json", json.dumps(data))
        self.fails(6, "rerun", "r.json", says=["[rerun-result]", '"none"'])

    def test_what_cannot_be_repeated(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=r.json")
        data = json.loads((self.folder / "r.json").read_text())
        self.file("saxpy.ptx", SAXPY + "\n")
        self.fails(6, "rerun", "r.json", says="[input-changed]")
        self.saxpy()
        for command in (
            "",
            "rm -rf /",
            "simtlab",
            "simtlab explain x",
            "simtlab rerun r.json",
            "simtlab report r.json",
        ):
            data["manifest"]["command"] = command
            self.file("x.json", json.dumps(data))
            self.fails(3, "rerun", "x.json", says="[rerun-command]")
        data["manifest"].update(interrupted=True)
        self.file("x.json", json.dumps(data))
        self.fails(3, "rerun", "x.json", says="[rerun-interrupted]")

    @needs_clang
    def test_a_program(self):
        self.file(
            "app.cu",
            "__global__ void k(int* x) { atomicAdd(x, 1); }\nint main(int, char** v) { int* x; cudaMalloc(&x, 4); k<<<4, 64>>>(x); cudaDeviceSynchronize(); return v[1][0] == 'a' ? 0 : 1; }\n",
        )
        self.ok("run", "app.cu", "--json=r.json", "--", "a b", "it's")
        self.assertIn("the same: ", self.ok("rerun", "r.json").stdout)


class Configuration(Case):
    def test_diff_of_devices(self):
        text = self.ok("config", "diff", "v100", "a100").stdout
        self.assertRegex(text, r"(?m)^sm\.count +80 +108$")
        self.assertIn("are the same", self.ok("config", "diff", "v100", "v100").stdout)
        self.file("mine.toml", 'inherits = "v100"\nsm.count = { value = 7, source = "a test" }\n')
        data = json.loads(self.ok("config", "diff", "v100", "./mine.toml", "--json").stdout)
        self.assertEqual(
            [v for v in data["values"] if v["key"] == "sm.count"], [{"key": "sm.count", "a": "80", "b": "7"}]
        )
        self.fails(3, "config", "diff", "v100", "nothing")

    def test_diff_of_results(self):
        self.saxpy()
        for name, latency in (("a", "300"), ("b", "301")):
            self.ok(
                "run",
                "saxpy.ptx",
                *SAXPY_LAUNCH,
                "--gpu",
                "v100",
                "--set",
                f"l2.latency={latency} cycles",
                f"--json={name}.json",
            )
        text = self.ok("config", "diff", "a.json", "b.json").stdout
        self.assertEqual(len(text.splitlines()), 2)
        self.assertRegex(text, r"l2\.latency +300 cycles +301 cycles")

    def test_init_writes_what_is_read(self):
        self.ok("config", "init", "--gpu", "a100")
        self.assertIn("# a100:", self.ok("config", "show").stdout)
        text = (self.folder / "simtlab.toml").read_text()
        # Every line that is commented out is one that works.
        lines = [
            line[1:]
            for line in text.splitlines()
            if line.startswith("#") and " = " in line and not line.startswith("# ")
        ]
        self.assertGreater(len(lines), 8)
        self.file("all.toml", "\n".join(lines) + "\n")
        self.ok("config", "show", "--config", "all.toml")
        before = text
        self.fails(2, "config", "init", says="[config-exists]")
        self.assertEqual((self.folder / "simtlab.toml").read_text(), before)
        self.fails(3, "config", "init", "other.toml", "--gpu", "nothing")
        self.assertFalse((self.folder / "other.toml").exists())
        self.assertIn('gpu = "h100"', self.ok("config", "init", "-").stdout)

    @unittest.skipIf(os.geteuid() == 0, "root writes everywhere")
    def test_a_folder_that_may_not_be_written(self):
        (self.folder / "closed").mkdir(mode=0o500)
        self.fails(1, "config", "init", "closed/simtlab.toml", says="[file-write]")


if __name__ == "__main__":
    main()
