"""Timelines: every one that simtlab writes passes the strict checker, and the checker refuses what Perfetto would."""
import json
import unittest

import chrome_trace
from chrome_trace import Malformed
from harness import SAXPY_LAUNCH, Case, main, needs_clang

ROW = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "t"}},
]


def slice_(ts, dur, **more):
    return {"ph": "X", "name": "s", "pid": 1, "tid": 1, "ts": ts, "dur": dur, **more}


def trace(*events):
    return json.dumps({"traceEvents": [*ROW, *events]})


class TheChecker(unittest.TestCase):
    def test_takes_what_nests_and_follows(self):
        self.assertEqual(chrome_trace.check(trace(slice_(0, 10), slice_(1, 3), slice_(4, 6), slice_(10, 2)))["X"], 4)

    def test_refuses_what_is_wrong(self):
        begin = {"ph": "b", "name": "l", "cat": "load", "id": 1, "pid": 1, "tid": 1, "ts": 5}
        end = {**begin, "ph": "e"}
        for events in (
            [slice_(0, 10), slice_(5, 10)],
            [slice_(-1, 1)],
            [slice_(0, -1)],
            [slice_(0, 1, name="")],
            [slice_(0, 1, pid="x")],
            [slice_(0, 1, tid=7)],
            [slice_(0, 1, ph="Q")],
            [begin],
            [end],
            [begin, begin, end],
            [begin, {**end, "ts": 4}],
            [{**begin, "cat": ""}, end],
            [{"ph": "C", "name": "c", "pid": 1, "ts": 1, "args": {}}],
            [{"ph": "C", "name": "c", "pid": 1, "ts": 1, "args": {"v": "x"}}],
            [{"ph": "C", "name": "c", "pid": 1, "ts": t, "args": {"v": 1}} for t in (2, 1)],
            [ROW[0]],
            [{"ph": "B", "name": "s", "pid": 1, "tid": 1, "ts": 1}],
            [{"ph": "E", "name": "s", "pid": 1, "tid": 1, "ts": 1}],
            ["x"],
            [slice_(True, 1)],
        ):
            with self.subTest(events=events), self.assertRaises(Malformed):
                chrome_trace.check(trace(*events))

    def test_refuses_what_is_no_trace(self):
        for content in (
            "",
            "[]",
            "{}",
            '{"traceEvents": 1}',
            '{"traceEvents": [{"ph": "X", "ph": "X"}]}',
            '{"traceEvents": [], "a": NaN}',
            '{"traceEvents": [],}',
        ):
            with self.subTest(content=content), self.assertRaises(Malformed):
                chrome_trace.check(content)


class Written(Case):
    def test_of_a_run(self):
        self.saxpy()
        for more in ([], ["--timeline-sm", "all"], ["--timeline-window", "3000:3800"]):
            self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--timeline", "t.json", *more)
            counts = chrome_trace.check((self.folder / "t.json").read_text())
            self.assertGreater(counts["X"], 10)
            self.assertEqual(counts.get("b"), counts.get("e"))

    def test_of_a_memory(self):
        self.ok("dram", "--generate", "random", "--requests", "2000", "--dram", "ddr4-3200", "--timeline", "t.json")
        self.assertGreater(sum(chrome_trace.check((self.folder / "t.json").read_text()).values()), 100)

    def test_of_a_result(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--series", "200", "--json=r.json")
        counts = chrome_trace.check(self.ok("report", "r.json", "--timeline").stdout)
        self.assertEqual(counts["X"], 1)
        self.assertGreater(counts["C"], 10)

    @needs_clang
    def test_of_kernels_that_overlap(self):
        source = """
__global__ void spin(float* x, int n) { float v = x[threadIdx.x]; for (int i = 0; i < n; ++i) v = v * 1.0001f + 1; x[threadIdx.x] = v; }
int main() {
  float* x; cudaMalloc(&x, 4096);
  cudaStream_t s[3];
  for (int i = 0; i < 3; ++i) { cudaStreamCreate(&s[i]); for (int k = 0; k < 3; ++k) spin<<<1, 32, 0, s[i]>>>(x + 32 * i, 3000 * (i + 1) * (k + 1)); }
  cudaDeviceSynchronize();
}
"""
        self.file("app.cu", source)
        self.ok("run", "app.cu", "--gpu", "v100", "--json=r.json", "-q")
        self.ok("report", "r.json", "--timeline=t.json")
        counts = chrome_trace.check((self.folder / "t.json").read_text())
        self.assertEqual(counts["X"], 9)
        self.assertGreater(counts["M"], 2, "kernels of three streams need several rows")

    def test_without_times_there_is_none(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--mode", "functional", "--json=r.json")
        self.fails(3, "report", "r.json", "--timeline", says="[report-timeline]")


if __name__ == "__main__":
    main()
