// A sum in one launch: the block that ends last adds up what all blocks have left.
#include "../example.h"

__device__ unsigned arrived = 0;

__global__ void sum(int n, const int* in, int* part, int* out) {
  __shared__ int mine[128];
  __shared__ bool last;
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  mine[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) mine[t] += mine[t + half];
    __syncthreads();
  }
  if (t == 0) {
    part[blockIdx.x] = mine[0];
    __threadfence();
    last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int k = t; k < static_cast<int>(gridDim.x); k += 128) sum += part[k];
  mine[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) mine[t] += mine[t + half];
    __syncthreads();
  }
  if (t == 0) {
    out[0] = mine[0];
    arrived = 0;
  }
}

// The same with all threads leaving something, and a fence for each.
__global__ void rows(int n, const int* in, int* part, int* out, unsigned* tickets) {
  __shared__ unsigned ticket;
  const int t = threadIdx.x, column = blockIdx.x * 64 + t;
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    const int row = blockIdx.y * 4 + k;
    if (column < n) sum += in[row * n + column];
  }
  if (column < n) part[blockIdx.y * n + column] = sum;
  __threadfence();
  __syncthreads();
  if (t == 0) ticket = atomicAdd(&tickets[blockIdx.x], 1u);
  __syncthreads();
  if (ticket != gridDim.y - 1) return;
  __threadfence();
  sum = 0;
  for (int y = 0; y < static_cast<int>(gridDim.y); ++y)
    if (column < n) sum += part[y * n + column];
  if (column < n) out[column] = sum;
}

int main() {
  const int n = 3000, blocks = 24, columns = 100, strips = 7;
  Sequence random;
  std::vector<int> values(n), want(columns), got(columns);
  int total = 0;
  for (int& v : values) total += v = static_cast<int>(random.next() % 1000) - 500;
  for (int i = 0; i < columns * strips * 4; ++i) want[i % columns] += values[i];
  int *in, *part, *part_rows, *out, *out_rows;
  unsigned* tickets;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&part, blocks * sizeof(int)));
  CHECK(cudaMalloc(&part_rows, columns * strips * sizeof(int)));
  CHECK(cudaMalloc(&out, sizeof(int)));
  CHECK(cudaMalloc(&out_rows, columns * sizeof(int)));
  CHECK(cudaMalloc(&tickets, 2 * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(tickets, 0, 2 * sizeof(unsigned)));
  sum<<<blocks, 128>>>(n, in, part, out);
  rows<<<dim3(2, strips), 64>>>(columns, in, part_rows, out_rows, tickets);
  CHECK(cudaGetLastError());
  int got_total;
  CHECK(cudaMemcpy(&got_total, out, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), out_rows, columns * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(part));
  CHECK(cudaFree(part_rows));
  CHECK(cudaFree(out));
  CHECK(cudaFree(out_rows));
  CHECK(cudaFree(tickets));
  return verdict("last_block", got_total == total && got == want);
}
