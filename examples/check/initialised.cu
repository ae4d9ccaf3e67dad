// Memory that is set in all the ways there are: copies, cudaMemset, kernels, variables, dynamic shared memory.
#include "../example.h"

__device__ int table[64];
__constant__ int factors[4];

__global__ void clear(int n, int* data) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) data[i] = 0;
}
__global__ void squares() { table[threadIdx.x] = threadIdx.x * threadIdx.x; }

// Counts the squares whose last digit it is, in memory that clear() has set.
__global__ void digits(int n, const int* in, int* counts) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) atomicAdd(&counts[table[in[i]] % 10], factors[i % 4]);
}

__global__ void windows(int n, const int* in, const int* start, int* out) {
  extern __shared__ int mine[];
  int* const weights = mine + 66;
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (t < 2) mine[t] = 0;
  mine[t + 2] = i < n ? in[i] : 0;
  if (t < 3) weights[t] = t + 1;
  __syncthreads();
  int sum = start[0];
  for (int k = 0; k < 3; ++k) sum += weights[k] * mine[t + k];
  if (i < n) out[i] = sum;
}

// A list of its own for each thread, of which it uses what it has set.
__global__ void smallest(int n, const int* in, int* out) {
  int least[4];
  for (int k = 0; k < 4; ++k) least[k] = 1 << 30;
  for (int i = threadIdx.x; i < n; i += 64) {
    int v = in[i];
    for (int k = 0; k < 4; ++k)
      if (v < least[k]) {
        const int other = least[k];
        least[k] = v;
        v = other;
      }
  }
  for (int k = 0; k < 4; ++k) out[k * 64 + threadIdx.x] = least[k];
}

int main() {
  const int n = 500, blocks = 8;
  std::vector<int> values(n), counts(10), got_counts(10), got(n), got_least(256);
  const int host_factors[4] = {1, 2, 3, 4};
  for (int i = 0; i < n; ++i) {
    values[i] = i * 7 % 64;
    counts[values[i] * values[i] % 10] += host_factors[i % 4];
  }
  int *in, *copy, *count, *start, *out, *least;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&copy, n * sizeof(int)));
  CHECK(cudaMalloc(&count, 10 * sizeof(int)));
  CHECK(cudaMalloc(&start, sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMalloc(&least, 256 * sizeof(int)));
  CHECK(cudaMemcpyToSymbol(factors, host_factors, sizeof(host_factors)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(copy, in, n * sizeof(int), cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(start, 0, sizeof(int)));
  clear<<<1, 64>>>(10, count);
  squares<<<1, 64>>>();
  digits<<<blocks, 64>>>(n, copy, count);
  windows<<<blocks, 64, 69 * sizeof(int)>>>(n, copy, start, out);
  smallest<<<1, 64>>>(n, in, least);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got_counts.data(), count, 10 * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_least.data(), least, 256 * sizeof(int), cudaMemcpyDeviceToHost));
  bool pass = true;
  for (int i = 0; i < n; ++i) {
    const int before = i % 64 > 0 ? values[i - 1] : 0, first = i % 64 > 1 ? values[i - 2] : 0;
    pass = pass && got[i] == first + 2 * before + 3 * values[i];
  }
  for (int t = 0; t < 64; ++t) {
    int most = -1;
    for (int k = 0; k < 4; ++k) pass = pass && got_least[k * 64 + t] >= most && (most = got_least[k * 64 + t]) < 64;
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(copy));
  CHECK(cudaFree(count));
  CHECK(cudaFree(start));
  CHECK(cudaFree(out));
  CHECK(cudaFree(least));
  return verdict("initialised", pass && got_counts == counts);
}
