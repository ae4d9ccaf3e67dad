"""--memory-errors: accesses outside of every allocation end the kernel, or go on and are told once a place."""
import json
import unittest

from harness import Case, main, needs_clang

PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>
constexpr int n = 2048, far = 1 << 20;
__device__ int self() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void reads(const int* in, int* out) { int i = self(); out[i] = in[i % 3 == 0 ? i + far : i]; }
__global__ void wide(const int4* in, int* out) { int i = self(); int4 v = in[i % 2 ? i + far : i % (n / 4)]; out[i] = v.x + v.y + v.z + v.w; }
__global__ void writes(int* out) { int i = self(); out[i % 3 == 0 ? i + far : i] = 7; }
__global__ void adds(int* out) { int i = self(); out[i] = atomicAdd(out + far + i % 5, 5) + 1; }
__global__ void shares(int* out, int beyond) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t < 64 ? t : t + beyond] = t + 1;
  __syncthreads();
  out[self()] = s[t < 64 ? t : t + beyond];
  if (t >= 64) out[self()] += atomicAdd(s + t + beyond, 3);
}
__global__ void ends(const char* in, int* out) { out[self()] = *(const int*)(in + 4); }  // of 6 bytes
int main() {
  static int host[n];
  int *in, *out; char* six;
  cudaMalloc(&in, sizeof host); cudaMalloc(&out, sizeof host); cudaMalloc(&six, 6);
  for (int i = 0; i < n; ++i) host[i] = i + 1;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(six, 1, 6);
  int wrong = 0;
  auto check = [&](const char* what, auto expected) {
    cudaError_t e = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < n; ++i) bad += host[i] != expected(i);
    std::printf("%s: %s, %d wrong\\n", what, cudaGetErrorName(e), bad);
    wrong += bad + (e != cudaSuccess);
    cudaMemset(out, 0, sizeof host);
  };
  reads<<<n / 128, 128>>>(in, out); check("reads", [](int i) { return i % 3 == 0 ? 0 : i + 1; });
  wide<<<n / 128, 128>>>((int4*)in, out);
  check("wide", [](int i) { int k = 4 * (i % (n / 4)); return i % 2 ? 0 : 4 * k + 10; });
  writes<<<n / 128, 128>>>(out); check("writes", [](int i) { return i % 3 == 0 ? 0 : 7; });
  adds<<<n / 128, 128>>>(out); check("adds", [](int) { return 1; });
  shares<<<n / 128, 128>>>(out, 100); check("shares", [](int i) { return i % 128 < 64 ? i % 128 + 1 : 0; });
  ends<<<n / 128, 128>>>(six, out); check("ends", [](int) { return 0x0101; });
  return wrong != 0;
}
"""
PLACES = 8  # a load of reads, wide and ends, a store, an atomic; a store, a load and an atomic of shares

OPENCL = """
__kernel void far(__global const int* in, __global int* out, int beyond) {
  int i = get_global_id(0);
  out[i] = in[i + beyond];
}
"""
LAUNCH = ["--global", "64", "--local", "32", "--arg", "buffer:64:s32:iota", "--arg", "buffer:64:s32", "--arg"]


@needs_clang
class Programs(Case):
    def results(self, *options):
        self.file("p.cu", PROGRAM)
        run = self.ok("run", "p.cu", "--gpu", "gtx480", "--lowering", "counts", "--json=r.json", "-q", *options)
        return run, json.loads((self.folder / "r.json").read_text())

    def test_loads_read_zeros_and_stores_are_lost_for_any_number_of_threads(self):
        seen = set()
        for threads in (1, 2, 5):
            run, result = self.results("--memory-errors", "report", "--threads", threads)
            self.assertEqual(run.stdout.count(", 0 wrong"), 6, run.stdout)
            warnings = [line for line in run.stderr.splitlines() if "warning: Invalid" in line]
            self.assertEqual(len(warnings), PLACES, run.stderr)
            self.assertEqual(result["total"]["program.memory_errors"]["value"], PLACES)
            cycles = tuple(k["metrics"]["gpu.cycles"]["value"] for k in result["kernels"])
            seen.add((tuple(warnings), cycles))
        self.assertEqual(len(seen), 1, "what is told, and when, is the same")
        self.assertIn("of kernel", warnings[0])
        self.assertIn("the nearest allocation is", warnings[0])

    def test_ignore_is_silent_and_functional_runs_go_on_too(self):
        run, result = self.results("--memory-errors", "ignore")
        self.assertNotIn("Invalid", run.stderr)
        self.assertEqual(result["total"]["program.memory_errors"]["value"], PLACES)
        run, _ = self.results("--memory-errors=report", "--mode", "functional")
        self.assertEqual(run.stdout.count(", 0 wrong"), 6, run.stdout)
        self.assertEqual(run.stderr.count("warning: Invalid"), PLACES)

    def test_a_right_program_is_timed_alike(self):
        self.file("right.cu", PROGRAM.replace("i + far", "i"))
        found = []
        for how in ("stop", "report"):
            self.simtlab(
                "run",
                "right.cu",
                "--gpu",
                "gtx480",
                f"--json={how}.json",
                "-q",
                "--kernels",
                "reads",
                "--memory-errors",
                how,
            )
            result = json.loads((self.folder / f"{how}.json").read_text())
            found.append(result["kernels"][0]["metrics"])
        self.assertEqual(*found)

    def test_stop_is_the_default_and_says_how_to_go_on(self):
        self.file("p.cu", PROGRAM)
        run = self.simtlab("run", "p.cu", "--gpu", "gtx480")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("[illegal-address]", run.stderr)
        self.assertIn("--memory-errors report", run.stderr)

    def test_launches_that_do_not_fit_say_what_would_and_why_nothing_ran(self):
        self.file(
            "big.cu",
            "#include <cuda_runtime.h>\n__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
            "int main() { float* x; cudaMalloc(&x, 4096); k<<<1, 256>>>(x); cudaDeviceSynchronize(); }\n",
        )
        run = self.ok("run", "big.cu", "--gpu", "gtx480", "--regs", "112")
        self.assertIn("--regs 63 fits", run.stderr)
        self.assertIn("no kernel was launched: 1 launch was refused", run.stdout + run.stderr)
        fits = self.ok("run", "big.cu", "--gpu", "gtx480", "--regs", "63")
        self.assertNotIn("no kernel", fits.stdout + fits.stderr)


class Kernels(Case):
    @needs_clang
    def test_kernels_and_studies_of_caches_go_on(self):
        self.file("far.cl", OPENCL)
        for command in ("run", "cache"):
            args = (command, "far.cl", "--gpu", "gtx480", *LAUNCH, "s32:4096")
            stopped = self.simtlab(*args)
            self.assertEqual(stopped.returncode, 5)
            self.assertIn("[illegal-address]", stopped.stderr)
            run = self.ok(*args, "--memory-errors", "report")
            self.assertEqual(run.stderr.count("warning: Invalid global read"), 1, run.stderr)

    def test_wrong_values_and_studies_that_do_not_read_it(self):
        self.fails(2, "run", self.saxpy(), "--memory-errors", "maybe", says="stop|report|ignore")
        self.fails(2, "dram", "--dram", "ddr2", "--generate", "random", "--memory-errors", "stop", says="memory-errors")


if __name__ == "__main__":
    main()
