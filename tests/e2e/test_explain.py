"""Observed runs (--lines, --series, --timeline, --what-if) and explain RESULT.json: evidence from the file, remedies by runs that are asked for."""
import json
import unittest

from harness import SAXPY_LAUNCH, SOURCE, Case, main, needs_clang

# Threads of a warp load a column: one sector each.
GATHER_CU = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void column(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(i * 33) % n];  // the hot line
}
int main() {
  const int n = 1 << 14;
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemset(in, 0, n * sizeof(float));
  for (int k = 0; k < 2; ++k) column<<<n / 128, 128>>>(in, out, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


class Metrics(Case):
    def test_an_operation_class_says_what_is_in_it(self):
        self.assertRegex(self.ok("explain", "instructions.sfu").stdout, r"(?m)^  operations +approximate rcp, rsqrt")
        for name in ("instructions.*", "gpu.cycles"):
            self.assertNotIn("operations  ", self.ok("explain", name).stdout)


class Observed(Case):
    def observed(self, *more):
        return self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", "v100", *more)

    def test_lines_add_up_to_the_kernel(self):
        (kernel,) = self.observed("--lines")["kernels"]
        profile, metrics = kernel["profile"], kernel["metrics"]
        self.assertEqual(sum(profile["slots"].values()), metrics["scheduler.slots"]["value"])
        self.assertEqual(
            sum(line["instructions"] for line in profile["lines"]), metrics["gpu.instructions.warp"]["value"]
        )
        loads = (line for line in profile["lines"] if line["ptx"].startswith("ld.global"))
        load = next(line for line in loads if "requests" in line)  # not what makes its address
        self.assertEqual((load["requests"], load["sectors"]), (512, 2048))
        self.assertEqual(load["loads"], 512)
        stages = [v["value"] for k, v in metrics.items() if k.startswith("load.latency.")]
        self.assertAlmostEqual(sum(stages), metrics["load.latency"]["value"], places=6)

    def test_a_run_that_is_not_observed_says_nothing_of_it(self):
        (kernel,) = self.observed()["kernels"]
        self.assertNotIn("profile", kernel)
        self.assertNotIn("series", kernel)
        self.assertNotIn("load.latency", kernel["metrics"])

    def test_report_prints_the_lines_again(self):
        text = (
            self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--lines", "--json=r.json", "-o", "r.txt")
            and (self.folder / "r.txt").read_text()
        )
        for word in ("Cycles per instruction", "Memory chart", "Roofline", "Where loads wait", "Hottest lines", "FFMA"):
            self.assertIn(word, text)
        again = self.ok("report", "r.json").stdout
        self.assertIn("Hottest lines", again)

    def test_series_cover_the_kernel(self):
        (kernel,) = self.observed("--series", "200")["kernels"]
        series = kernel["series"]
        self.assertEqual(series["columns"][0], "end")
        self.assertEqual(series["rows"][-1][0], kernel["metrics"]["gpu.cycles"]["value"])
        at = series["columns"].index("instructions.warp")
        self.assertEqual(sum(row[at] for row in series["rows"]), kernel["metrics"]["gpu.instructions.warp"]["value"])

    def test_the_timeline_is_a_chrome_trace(self):
        self.ok(
            "run",
            self.saxpy(),
            *SAXPY_LAUNCH,
            "--timeline=t.json",
            "--timeline-window",
            "4000:4800",  # the launch takes the cycles before
            "--timeline-sm",
            "all",
        )
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        kinds = {e.get("cat") for e in events}
        self.assertTrue({"issue", "load", "block"} <= kinds)
        for e in events:
            self.assertIn(e["ph"], "XMbe")
            if e.get("cat") == "issue":
                self.assertLess(e["ts"], 4800)

    def test_options_that_make_no_sense(self):
        for args, name in (
            (["--timeline-sm", "1"], "option-conflict"),
            (["--series", "x"], "option-value"),
            (["--series", "0"], "option-value"),
            (["--timeline=t", "--timeline-window", "9:3"], "option-value"),
            (["--lines", "--mode", "functional"], "option-conflict"),
        ):
            self.fails(2, "run", self.saxpy(), *SAXPY_LAUNCH, *args, says=f"[{name}]")
            # Before a program is looked for, let alone runs.
            self.fails(2, "run", *args, "--", "./no-program", says=f"[{name}]")
        self.fails(2, "run", self.saxpy(), *SAXPY_LAUNCH, "--what-if", "perfect-l2", says="[what-if]")
        self.fails(2, "run", "--sample", "5", "--", "./no-program", says=["[option-value]", "0 to 0.5"])
        self.fails(
            3, "run", "--config", self.file("c.toml", "sample = 0.7\n"), "x.ptx", says="c.toml:1:10: error: sample: "
        )

    def test_a_lifted_limit_is_in_the_configuration(self):
        r = self.observed("--what-if", "perfect-l1")
        self.assertEqual([c["value"] for c in r["manifest"]["configuration"] if c["key"] == "what-if"], ["perfect-l1"])
        m = r["kernels"][0]["metrics"]
        self.assertEqual(m["l1.read.hits"]["value"], m["l1.read.accesses"]["value"])


class Explain(Case):
    def result(self, *more):
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--gpu", "v100", "--json=r.json", *more)
        return "r.json"

    def test_evidence_is_read_from_the_file(self):
        done = self.ok("explain", self.result())
        text = " ".join(done.stdout.split())
        for word in (
            "saxpy takes",
            "Schedulers issued",
            "long_scoreboard",
            "L1: ",
            "--lines of `simtlab run` records them",
            "was not tried: --rerun runs the command of the file again for each, about ",
        ):
            self.assertIn(word, text)
        self.assertNotIn("loads take", text)
        self.assertEqual(done.stderr, "")
        done = self.ok("explain", self.result("--lines"))
        self.assertIn("loads take", done.stdout)
        self.assertNotIn("records them", " ".join(done.stdout.split()))
        self.assertEqual(json.loads(self.ok("explain", "r.json", "--json").stdout)["remedies"], [])

    def test_reading_needs_nothing_but_the_file(self):
        file = self.result("--lines")
        (self.folder / "saxpy.ptx").unlink()
        self.assertIn("loads take", self.ok("explain", file).stdout)
        self.fails(6, "explain", file, "--rerun", says="[input-changed]")

    def test_evidence_and_remedies(self):
        text = self.ok("explain", self.result(), "--rerun").stdout
        for word in (
            "saxpy takes",
            "Schedulers issued",
            "long_scoreboard",
            "loads take",
            "L1: ",
            "The line that takes most",
            "lifting a limit",
        ):
            self.assertIn(word, text)

    def test_each_remedy_is_a_run_of_the_model(self):
        explained = json.loads(self.ok("explain", self.result(), "--json", "--try", "perfect-l1").stdout)
        (remedy,) = explained["remedies"]
        expected = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", "v100", "--what-if", "perfect-l1")
        self.assertAlmostEqual(remedy["after_ns"], expected["kernels"][0]["metrics"]["gpu.time"]["value"], places=3)
        self.assertLess(remedy["after_ns"], remedy["before_ns"])

    def test_at_most_three_remedies(self):
        explained = json.loads(self.ok("explain", self.result("--lines"), "--rerun", "--json").stdout)
        self.assertTrue(1 <= len(explained["remedies"]) <= 3)

    @needs_clang
    def test_writes_of_parts_of_sectors(self):
        self.ok("run", SOURCE / "examples/transpose_naive.cu", "--gpu", "v100", "--json=t.json")
        remedies = json.loads(self.ok("explain", "t.json", "--json", "--rerun").stdout)["remedies"]
        (wide,) = (r for r in remedies if r["what_if"] == "wide-writes")
        self.assertGreater(wide["before_ns"], 1.2 * wide["after_ns"])
        self.assertIn("100.0 % of the sectors that SMs write come with a mask", wide["because"])

    def test_an_input_that_changed(self):
        file = self.result()
        path = self.saxpy()
        path.write_text(path.read_text() + "\n// changed\n")
        for words in (["--rerun"], ["--try", "alone"]):
            self.fails(6, "explain", file, *words, says="[input-changed]")
        self.assertIn("saxpy takes", self.ok("explain", file).stdout)

    def test_a_configuration_that_changed(self):
        file = self.result()
        (self.folder / "simtlab.toml").write_text("[sm]\ncount = 7\n")
        result = self.fails(6, "explain", file, "--rerun", says="[rerun-differs]")
        self.assertIn("sm.count", result.stderr)

    def test_words_are_explained_as_ever(self):
        self.assertIn("stall reason", self.ok("explain", "long_scoreboard").stdout)
        self.fails(3, "explain", "nothing.json", says="[file-missing]")
        self.fails(2, "explain", self.result(), "--kernel", "saxpi", says="[explain-kernel]")

    def test_functional_results_have_nothing_to_explain(self):
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--mode", "functional", "--json=f.json")
        self.fails(3, "explain", "f.json", says="[explain-result]")

    @needs_clang
    def test_source_lines_of_a_program(self):
        (self.folder / "column.cu").write_text(GATHER_CU)
        self.ok("run", "column.cu", "--gpu", "v100", "--lines", "--json=c.json")
        text = self.ok("report", "c.json").stdout
        self.assertIn("column.cu:6", text)
        lines = json.loads((self.folder / "c.json").read_text())["kernels"][0]["profile"]["lines"]
        self.assertTrue(any("the hot line" in line.get("text", "") for line in lines))
        text = self.ok("explain", "c.json", "--try", "perfect-coalescing").stdout
        self.assertIn("in 2 launches", text)
        self.assertIn("perfect-coalescing", text)


if __name__ == "__main__":
    main()
