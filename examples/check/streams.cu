// Kernels and copies in two streams that events put into an order.
#include "../example.h"

__global__ void fill(int n, int first, int* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) out[i] = first + i;
}
__global__ void add(int n, const int* a, const int* b, int* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void twice(int n, int* data) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) data[i] *= 2;
}

int main() {
  const int n = 500, blocks = 8;
  cudaStream_t one, two;
  cudaEvent_t filled, added, doubled;
  CHECK(cudaStreamCreate(&one));
  CHECK(cudaStreamCreate(&two));
  CHECK(cudaEventCreate(&filled));
  CHECK(cudaEventCreate(&added));
  CHECK(cudaEventCreate(&doubled));
  int *a, *b, *sum, *copy;
  CHECK(cudaMalloc(&a, n * sizeof(int)));
  CHECK(cudaMalloc(&b, n * sizeof(int)));
  CHECK(cudaMalloc(&sum, n * sizeof(int)));
  CHECK(cudaMalloc(&copy, n * sizeof(int)));
  // Both fill something; the first stream adds when the second one is ready.
  fill<<<blocks, 64, 0, one>>>(n, 0, a);
  fill<<<blocks, 64, 0, two>>>(n, 1000, b);
  CHECK(cudaEventRecord(filled, two));
  CHECK(cudaStreamWaitEvent(one, filled, 0));
  add<<<blocks, 64, 0, one>>>(n, a, b, sum);
  CHECK(cudaEventRecord(added, one));
  // The second one changes its part when the sum is there, and the first one uses it again.
  CHECK(cudaStreamWaitEvent(two, added, 0));
  twice<<<blocks, 64, 0, two>>>(n, b);
  CHECK(cudaEventRecord(doubled, two));
  twice<<<blocks, 64, 0, one>>>(n, sum);
  CHECK(cudaStreamWaitEvent(one, doubled, 0));
  add<<<blocks, 64, 0, one>>>(n, sum, b, copy);
  CHECK(cudaStreamSynchronize(one));
  // One device-wide synchronisation between the two streams.
  twice<<<blocks, 64, 0, two>>>(n, a);
  CHECK(cudaDeviceSynchronize());
  add<<<blocks, 64, 0, one>>>(n, a, copy, copy);
  std::vector<int> got(n);
  CHECK(cudaMemcpyAsync(got.data(), copy, n * sizeof(int), cudaMemcpyDeviceToHost, one));
  CHECK(cudaStreamSynchronize(one));
  bool pass = true;
  for (int i = 0; i < n; ++i) pass = pass && got[i] == 2 * i + 2 * (2 * i + 1000) + 2 * (i + 1000);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(sum));
  CHECK(cudaFree(copy));
  CHECK(cudaEventDestroy(filled));
  CHECK(cudaEventDestroy(added));
  CHECK(cudaEventDestroy(doubled));
  CHECK(cudaStreamDestroy(one));
  CHECK(cudaStreamDestroy(two));
  return verdict("streams", pass);
}
