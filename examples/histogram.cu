// Histogram of bytes: atomics on shared memory inside a block, on global memory between blocks.
#include "example.h"

__global__ void histogram(int n, const unsigned char* data, unsigned* bins) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 16, 1, 1 << 26);
  Sequence random;
  std::vector<unsigned char> data(n);
  std::vector<unsigned> want(256, 0);
  for (unsigned char& v : data) {
    v = static_cast<unsigned char>((random.next() % 256) * (random.next() % 256) / 256);  // uneven on purpose
    ++want[v];
  }
  Buffer<unsigned char> ddata(data);
  Buffer<unsigned> bins(256);
  CHECK(cudaMemset(bins.data, 0, 256 * sizeof(unsigned)));
  histogram<<<32, 256>>>(n, ddata.data, bins.data);
  CHECK(cudaGetLastError());
  return verdict("histogram", bins.get() == want);
}
