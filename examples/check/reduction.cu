// Sum and largest element of an array: a tree in shared memory for each block, shuffles over its results.
#include "../example.h"

__global__ void sum_tree(int n, const int* in, int* out) {
  __shared__ int part[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  part[t] = 0;
  if (i < n) part[t] = in[i];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void sum_warps(int n, const int* in, int* out) {
  __shared__ int part[4];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += 128) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = part[0] + part[1] + part[2] + part[3];
}

__global__ void largest(int n, const int* in, int* out) {
  __shared__ int most;
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x == 0) most = -1000;
  __syncthreads();
  if (i < n) atomicMax(&most, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(out, most);
}

int main() {
  const int n = 1000, blocks = 8;
  Sequence random;
  std::vector<int> values(n);
  int want = 0, most = -1000;
  for (int& v : values) {
    want += v = static_cast<int>(random.next() % 1000) - 500;
    most = v > most ? v : most;
  }
  int *in, *part, *out;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&part, blocks * sizeof(int)));
  CHECK(cudaMalloc(&out, 2 * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0x80, 2 * sizeof(int)));
  sum_tree<<<blocks, 128>>>(n, in, part);
  sum_warps<<<1, 128>>>(blocks, part, out);
  largest<<<blocks, 128>>>(n, in, out + 1);
  CHECK(cudaGetLastError());
  int got[2];
  CHECK(cudaMemcpy(got, out, sizeof(got), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(part));
  CHECK(cudaFree(out));
  return verdict("reduction", got[0] == want && got[1] == most);
}
