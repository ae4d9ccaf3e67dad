"""Executables of NVIDIA's compiler, where it is installed: what its headers make kernels of runs, and what cannot run says how to build it."""
import shutil
import subprocess
import unittest

from harness import Case, main

THRUST = r"""
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
static void check(const char* what, bool right) { printf("%s %s\n", what, right ? "right" : "WRONG"); }
template <class D> static std::vector<int> host(const D& d, int n) { std::vector<int> h(n); thrust::copy(d.begin(), d.begin() + n, h.begin()); return h; }
int main() {
  const int n = 4096;
  std::vector<int> h(n), places(n), sorted, runs, lengths, before(n);
  unsigned s = 7;
  for (int i = 0; i < n; ++i) { s = s * 1664525u + 1013904223u; h[i] = (s >> 8) % 1000; places[i] = i; }
  sorted = h;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0, j; i < n; i = j) { for (j = i; j < n && sorted[j] == sorted[i]; ++j) {} runs.push_back(sorted[i]); lengths.push_back(j - i); }
  for (int i = 1; i < n; ++i) before[i] = before[i - 1] + h[i - 1];
  thrust::device_vector<int> d(h.begin(), h.end()), keys = d, values(places.begin(), places.end()), x = d, out(n), out2(n), ones(n, 1);
  thrust::sort(d.begin(), d.end());
  check("sort", host(d, n) == sorted);
  thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return h[a] < h[b]; });
  check("sort_by_key", host(values, n) == places);
  check("reduce", thrust::reduce(x.begin(), x.end()) == std::accumulate(h.begin(), h.end(), 0));
  keys = d;
  check("unique", thrust::unique(keys.begin(), keys.end()) - keys.begin() == (long)runs.size() && host(keys, runs.size()) == runs);
  check("reduce_by_key", thrust::reduce_by_key(d.begin(), d.end(), ones.begin(), out.begin(), out2.begin()).first - out.begin() == (long)runs.size() && host(out2, runs.size()) == lengths);
  thrust::exclusive_scan(x.begin(), x.end(), out.begin());
  check("exclusive_scan", host(out, n) == before);
  check("max_element", *thrust::max_element(x.begin(), x.end()) == sorted.back());
  check("count", thrust::count(x.begin(), x.end(), 42) == std::count(h.begin(), h.end(), 42));
}
"""
HEADERS = r"""
#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <cuda/atomic>
#include <curand_kernel.h>
__managed__ int sum, hits, uniform;
__global__ void k() {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  const int total = Reduce(storage).Sum(threadIdx.x);
  if (threadIdx.x == 0) sum = total;
  cuda::atomic_ref<int, cuda::thread_scope_device>(hits).fetch_add(2);
  curandState state;
  curand_init(7, threadIdx.x, 0, &state);
  const float f = curand_uniform(&state);
  if (f > 0 && f <= 1) atomicAdd(&uniform, 1);
}
int main() {
  k<<<1, 128>>>();
  const int code = cudaDeviceSynchronize();
  printf("%d %d %d %d\n", code, sum, hits, uniform);
}
"""
PLAIN = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"


@unittest.skipUnless(shutil.which("nvcc"), "nvcc is not installed")
class Nvcc(Case):
    def build(self, text, *flags):
        self.file("app.cu", text)
        built = subprocess.run(
            ["nvcc", "app.cu", "-o", "app", *flags], cwd=self.folder, capture_output=True, text=True, timeout=600
        )
        if built.returncode != 0:
            self.skipTest("this nvcc does not build it: " + built.stderr[-300:])

    def test_thrust(self):
        self.build(THRUST, "-cudart", "shared", "-arch=sm_90")
        for more in ([], ["--mode", "functional"]):
            result = self.ok("run", "--gpu", "h100", *more, "--", "./app", timeout=600)
            lines = result.stdout.splitlines()
            self.assertEqual(len(lines), 8, result.stdout)
            self.assertEqual([line for line in lines if not line.endswith(" right")], [])

    def test_what_is_refused_as_a_source_runs_as_an_executable(self):
        self.build(HEADERS, "-cudart", "shared", "-arch=sm_90")
        self.assertEqual(self.ok("run", "--gpu", "h100", "--", "./app").stdout, "0 8128 256 128\n")

    def test_the_usual_build_runs_with_the_runtime_that_is_linked_in(self):
        self.build(PLAIN, "-arch=sm_90")
        self.ok("run", "--gpu", "h100", "--", "./app")

    def test_linked_device_code_runs_as_machine_code(self):
        self.build(PLAIN, "-rdc=true", "-cudart", "shared", "-arch=sm_90")
        self.ok("run", "--gpu", "h100", "--mode", "functional", "--", "./app")
        self.fails(4, "run", "--gpu", "v100", "--", "./app", says=["machine code only (sm_90)"])


if __name__ == "__main__":
    main()
