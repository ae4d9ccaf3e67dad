"""Kernels of several streams at once: they overlap, share the GPU as --sharing says, and come out the same in every other respect."""
import json
import unittest

from harness import Case, main, needs_clang

PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void spin(int* out, int n) {
  int v = threadIdx.x;
  for (int i = 0; i < n; ++i) v = v * 1664525 + 1013904223;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void other(int* out, int n) {
  int v = threadIdx.x;
  for (int i = 0; i < n; ++i) v = v * 22695477 + 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const int blocks = argc > 2 ? atoi(argv[2]) : 4, n = argc > 3 ? atoi(argv[3]) : 10000;
  int *a, *b;
  cudaMalloc(&a, 1 << 20);
  cudaMalloc(&b, 1 << 20);
  cudaStream_t s[2];
  int least, greatest;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStreamCreateWithPriority(&s[0], cudaStreamNonBlocking, least);
  cudaStreamCreateWithPriority(&s[1], cudaStreamNonBlocking, greatest);
  spin<<<blocks, 128, 0, s[0]>>>(a, n);
  other<<<4, 128, 0, s[1]>>>(b, n);
  if (!strcmp(what, "unsynchronised")) return 0;
  if (!strcmp(what, "fault")) {
    spin<<<1, 32, 0, s[1]>>>((int*)8, 1);
    return cudaGetLastError() == cudaSuccess && cudaStreamSynchronize(s[1]) == cudaErrorIllegalAddress ? 0 : 1;
  }
  int first[4], last;
  cudaMemcpyAsync(first, a, sizeof first, cudaMemcpyDeviceToHost, s[0]);
  cudaMemcpyAsync(&last, b + 511, sizeof last, cudaMemcpyDeviceToHost, s[1]);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  printf("%d %d\n", first[3], last);
  return 0;
}
"""


@needs_clang
class Streams(Case):
    def setUp(self):
        super().setUp()
        self.file("app.cu", PROGRAM)
        self.ok("build", "app.cu", "-o", "app")

    def result(self, *options, program=(), gpu="v100"):
        self.ok("run", "--gpu", gpu, *options, "--json=r.json", "-q", "--", "./app", *program)
        return json.loads((self.folder / "r.json").read_text())

    @staticmethod
    def value(kernel, name):
        return kernel["metrics"].get(name, {}).get("value")

    def test_kernels_of_two_streams_overlap(self):
        both = self.result(program=("", "4", "100000"))
        one = self.result("--sharing", "serial", program=("", "4", "100000"))
        self.assertLess(both["total"]["program.time"]["value"], 0.75 * one["total"]["program.time"]["value"])
        for kernel, alone in zip(both["kernels"], one["kernels"]):
            self.assertEqual(kernel["name"], alone["name"])
            self.assertGreater(self.value(kernel, "gpu.overlap"), 0.5)
            self.assertIsNone(self.value(alone, "gpu.overlap"))
            self.assertEqual(self.value(kernel, "gpu.instructions.warp"), self.value(alone, "gpu.instructions.warp"))
            self.assertIn("D-TIMING-20", kernel["not_modelled"])
        self.assertGreater(self.value(one["kernels"][1], "gpu.begin"), self.value(one["kernels"][0], "gpu.begin"))

    def test_what_they_print_and_leave_is_the_same_under_every_policy(self):
        expected = self.ok("run", "--mode", "functional", "-q", "--", "./app", "", "700", "300").stdout
        for policy in ("leftover", "spatial", "smk", "serial", "spin*=0-9,*other*=10-19"):
            for threads in ("1", "2"):
                done = self.ok(
                    "run",
                    "--gpu",
                    "v100",
                    "--sharing",
                    policy,
                    "--threads",
                    threads,
                    "-q",
                    "--",
                    "./app",
                    "",
                    "700",
                    "300",
                )
                self.assertEqual(done.stdout, expected, policy)

    def test_a_full_gpu_is_left_to_the_urgent_stream_first(self):
        kernels = self.result("--threads", "2", program=("", "600", "1000"), gpu="gtx480")["kernels"]
        self.assertIn("other", kernels[1]["name"])
        self.assertLess(self.value(kernels[1], "gpu.time"), 0.5 * self.value(kernels[0], "gpu.time"))

    def test_what_nobody_waited_for_is_simulated(self):
        self.assertEqual(len(self.result(program=("unsynchronised",))["kernels"]), 2)

    def test_a_fault_comes_with_the_call_that_waits(self):
        done = self.simtlab("run", "--gpu", "v100", "-q", "--json=r.json", "--", "./app", "fault")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("Invalid global write", done.stderr)
        self.assertEqual(
            json.loads((self.folder / "r.json").read_text())["manifest"]["failure"]["id"], "illegal-address"
        )

    def test_explain_says_what_the_others_cost(self):
        self.result()
        done = self.ok("explain", "r.json", "--kernel", "other", "--try", "alone")
        self.assertIn("alone", done.stdout)
        self.assertIn("kernels of other streams wait", done.stdout)

    def test_a_trace_of_overlapping_kernels_repeats_them(self):
        first = self.result("--record", "t.simt")
        self.ok("run", "t.simt", "--gpu", "v100", "-q", "--json=again.json")
        again = json.loads((self.folder / "again.json").read_text())
        self.assertEqual([k["metrics"] for k in first["kernels"]], [k["metrics"] for k in again["kernels"]])
        self.assertEqual(first["total"]["program.time"], again["total"]["program.time"])

    def test_what_is_no_policy_is_refused(self):
        for text, words in (("fair", "neither a policy"), ("a=5-2", "no range"), ("a=x", "numbers"), ("", "empty")):
            done = self.simtlab("run", "app.cu", "--sharing", text)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
        done = self.simtlab("run", "--gpu", "v100", "--sharing", "spin*=0-200", "--", "./app")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("v100 has 80", done.stderr)


if __name__ == "__main__":
    main()
