"""Programs whose kernels wait: for nobody (stopped, exit code 5), for another kernel, another block or the host (never stopped)."""
import time
import unittest

from harness import Case, main, needs_clang

PROGRAM = r"""
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>
__global__ void wait(volatile int* flag, int* out) { while (*flag == 0) { } *out = 42; }
__global__ void count(volatile int* flag, int* out) { int tries = 0; while (*flag == 0) ++tries; *out = tries; }
__global__ void set(volatile int* flag) { *flag = 1; }
__global__ void last(volatile int* flag, int* out) { if (blockIdx.x == gridDim.x - 1) *flag = 1; else while (*flag == 0) { } atomicAdd(out, 1); }
__global__ void meet(volatile int* flag) {
  if (threadIdx.x == 0) while (*flag == 0) { }
  __syncthreads();
  if (threadIdx.x == 1) *flag = 1;
}
__global__ void polls(int* lock, int* handed, int* out) {
  if (blockIdx.x != 0) { atomicExch(handed, 42); return; }
  for (int seen = 0; seen == 0; *out = seen) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    seen = atomicAdd(handed, 0);
    atomicExch(lock, 0);
  }
}
int main(int argc, char** argv) {
  const char* what = argv[1];
  auto is = [&](const char* name) { return !strcmp(what, name); };
  int *x = nullptr, *m = nullptr;
  cudaMalloc(&x, 4096); cudaMemset(x, 0, 4096);
  cudaMallocManaged(&m, 4096); memset(m, 0, 4096);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  std::thread other;
  if (is("nobody")) wait<<<1, 32>>>(x, x + 8);
  if (is("tries")) count<<<1, 32>>>(x, x + 8);
  if (is("barrier")) meet<<<1, 128>>>(x);
  if (is("managed")) wait<<<1, 32>>>(m, x + 8);
  if (is("many")) last<<<100000, 256>>>(x, x + 8);
  if (is("stream")) { wait<<<1, 32, 0, a>>>(x, x + 8); set<<<1, 1, 0, b>>>(x); }
  if (is("lock")) polls<<<3, 1>>>(x, x + 1, x + 8);
  if (is("block")) last<<<3, 64>>>(x, x + 8);
  if (is("host")) { wait<<<1, 32>>>(m, x + 8); *(volatile int*)m = 1; }
  if (is("thread")) { wait<<<1, 32>>>(m, x + 8); other = std::thread([=] { usleep(3000000); *(volatile int*)m = 1; }); }
  const cudaError_t e = cudaDeviceSynchronize();
  int out = 0;
  cudaMemcpy(&out, x + 8, 4, cudaMemcpyDeviceToHost);
  printf("%s %d\n", cudaGetErrorName(e), out);
  if (other.joinable()) other.join();
  return e != cudaSuccess;
}
"""


@needs_clang
class Deadlocks(Case):
    def both(self, what):
        self.file("app.cu", PROGRAM)
        self.ok("build", "app.cu", "-o", "app")
        for mode in ("timing", "functional"):
            begin = time.monotonic()
            yield mode, self.simtlab("run", "--mode", mode, "--gpu", "v100", "--", "./app", what, timeout=120)
            self.assertLess(time.monotonic() - begin, 60, mode)

    def stopped(self, what, *says):
        for mode, result in self.both(what):
            self.assertEqual(result.returncode, 5, (mode, result.stderr))
            for part in ("[deadlock]", *says):
                self.assertIn(part, result.stderr, mode)

    def ends(self, what, out):
        for mode, result in self.both(what):
            self.assertEqual(result.returncode, 0, (mode, result.stderr))
            self.assertEqual(result.stdout, f"cudaSuccess {out}\n", mode)

    def test_a_flag_that_nobody_sets(self):
        self.stopped(
            "nobody",
            "app.cu:6",
            "warp 0 of block (0,0,0) reads 4 bytes at 0x",
            "byte 0 of cudaMalloc",
            "which stay 0x0 (thread (0,0,0))",
        )

    def test_tries_that_are_counted_do_not_hide_it(self):
        self.stopped("tries", "app.cu:7")

    def test_the_rest_of_the_block_waits_at_a_barrier(self):
        self.stopped(
            "barrier",
            "app.cu:11",
            "warp 1 of block (0,0,0) and 2 more wait at barrier 0 (3 of 4 warps arrived)",
            "31 lanes of the same warp wait",
        )

    def test_managed_memory_that_nobody_writes(self):
        self.stopped("managed", "cudaMallocManaged")

    def test_a_block_that_does_not_fit(self):
        self.stopped("many", "app.cu:9", "are not resident and cannot begin before one of these ends")

    def test_another_stream_sets_the_flag(self):
        self.ends("stream", 42)

    def test_another_block_sets_the_flag(self):
        self.ends("block", 3 * 64)

    def test_another_block_answers_one_that_takes_and_releases_a_lock_to_ask(self):
        self.ends("lock", 42)

    def test_the_host_sets_the_flag(self):
        self.ends("host", 42)

    def test_another_thread_of_the_host_sets_the_flag_much_later(self):
        self.ends("thread", 42)


if __name__ == "__main__":
    main()
