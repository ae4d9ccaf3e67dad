// Sum of an array: a tree in shared memory for each block, then one block over the partial sums.
#include "example.h"

__global__ void sum_blocks(int n, const int* in, int* out) {
  __shared__ int part[256];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 16, 1, 1 << 26);
  const int blocks = 64;
  Sequence random;
  std::vector<int> in(n);
  int want = 0;
  for (int& v : in) want += v = static_cast<int>(random.next() % 1000) - 500;
  Buffer<int> din(in), partial(blocks), total(1);
  sum_blocks<<<blocks, 256>>>(n, din.data, partial.data);
  sum_blocks<<<1, 256>>>(blocks, partial.data, total.data);
  CHECK(cudaGetLastError());
  const int got = total.get()[0];
  if (got != want) std::printf("sum is %d instead of %d\n", got, want);
  return verdict("reduction", got == want);
}
