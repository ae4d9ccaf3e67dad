// Running sums in one pass: each block waits for the sum of the blocks before it (decoupled look-back).
#include "../example.h"

enum State : unsigned { nothing = 0, own = 1, all = 2 };

__device__ void release(unsigned* at, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
__device__ unsigned acquire(const unsigned* at) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

__global__ void scan(int n, const int* in, int* out, unsigned* state, int* own_sum, int* all_sum,
                     unsigned* next) {
  __shared__ int part[64];
  __shared__ int before;
  __shared__ unsigned block;
  const int t = threadIdx.x;
  if (t == 0) block = atomicAdd(next, 1u);
  __syncthreads();
  const int b = static_cast<int>(block), i = b * 64 + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    const int left = t >= d ? part[t - d] : 0;
    __syncthreads();
    part[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    own_sum[b] = part[63];
    release(&state[b], own);
    int sum = 0;
    for (int k = b - 1; k >= 0;) {
      const unsigned found = acquire(&state[k]);
      if (found == nothing) continue;
      sum += found == all ? all_sum[k] : own_sum[k];
      if (found == all) break;
      --k;
    }
    all_sum[b] = sum + part[63];
    release(&state[b], all);
    before = sum;
  }
  __syncthreads();
  if (i < n) out[i] = part[t] + before;
}

int main() {
  const int n = 1500, blocks = 24;
  Sequence random;
  std::vector<int> values(n), want(n), got(n);
  for (int i = 0, sum = 0; i < n; ++i) want[i] = sum += values[i] = static_cast<int>(random.next() % 100);
  int *in, *out, *own_sum, *all_sum;
  unsigned *state, *next;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&own_sum, blocks * sizeof(int)));
  CHECK(cudaMalloc(&all_sum, blocks * sizeof(int)));
  CHECK(cudaMalloc(&state, blocks * sizeof(unsigned)));
  CHECK(cudaMalloc(&next, sizeof(unsigned)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(state, 0, blocks * sizeof(unsigned)));
  CHECK(cudaMemset(next, 0, sizeof(unsigned)));
  scan<<<blocks, 64>>>(n, in, out, state, own_sum, all_sum, next);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  CHECK(cudaFree(own_sum));
  CHECK(cudaFree(all_sum));
  CHECK(cudaFree(state));
  CHECK(cudaFree(next));
  return verdict("lookback", got == want);
}
