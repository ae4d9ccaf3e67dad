// A barrier for all blocks, made of atomics and fences: heat spreads along a line, in one launch.
#include "../example.h"

__device__ unsigned waiting = 0, turn = 0;

__device__ void grid_barrier() {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned now = atomicAdd(&turn, 0u);
    if (atomicAdd(&waiting, 1u) == gridDim.x - 1) {
      atomicExch(&waiting, 0u);
      __threadfence();
      atomicAdd(&turn, 1u);
    } else {
      while (atomicAdd(&turn, 0u) == now) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void heat(int n, int steps, int* a, int* b) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  for (int s = 0; s < steps; ++s) {
    const int* const from = s % 2 == 0 ? a : b;
    int* const to = s % 2 == 0 ? b : a;
    if (i < n) to[i] = from[i == 0 ? 0 : i - 1] + from[i] + from[i == n - 1 ? i : i + 1];
    grid_barrier();
  }
}

// Counters that only grow, with release and acquire in the instructions.
__global__ void phases(int n, int* data, unsigned* counter) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  int next = i < n ? 1 : 0;
  for (unsigned phase = 1; phase <= 3; ++phase) {
    if (i < n) data[(phase - 1) * n + i] = next;
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned seen;
      asm volatile("atom.release.gpu.global.add.u32 %0, [%1], 1;" : "=r"(seen) : "l"(counter) : "memory");
      do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      while (seen < phase * gridDim.x);
    }
    __syncthreads();
    if (i < n) next = data[(phase - 1) * n + n - 1 - i] + i;
  }
  if (i < n) data[3 * n + i] = next;
}

int main() {
  const int n = 300, blocks = 5, steps = 4;
  std::vector<int> values(n), got(n), got_phases(n);
  for (int i = 0; i < n; ++i) values[i] = i * 13 % 17;
  int *a, *b, *data;
  unsigned* counter;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMalloc(&data, 4 * n * sizeof(int)));
  CHECK(cudaMalloc(&counter, sizeof(unsigned)));
  CHECK(cudaMemcpy(a, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(counter, 0, sizeof(unsigned)));
  heat<<<blocks, 64>>>(n, steps, a, b);
  phases<<<blocks, 64>>>(n, data, counter);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_phases.data(), data + 3 * n, n * sizeof(int), cudaMemcpyDeviceToHost));
  std::vector<int> want = values, next(n);
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i) next[i] = want[i == 0 ? 0 : i - 1] + want[i] + want[i == n - 1 ? i : i + 1];
    want = next;
  }
  bool pass = got == want;
  for (int i = 0; i < n; ++i) pass = pass && got_phases[i] == 1 + i + (n - 1 - i) + i;
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(data));
  CHECK(cudaFree(counter));
  return verdict("grid_barrier", pass);
}
