// Shared memory whose size the launch decides: each block reverses its part of an array, and asks for as much
// as it holds.
#include "example.h"

__global__ void reverse(int n, int per_block, const int* in, int* out) {
  extern __shared__ int held[];
  const int begin = blockIdx.x * per_block;
  const int count = n - begin < per_block ? n - begin : per_block;
  for (int i = threadIdx.x; i < count; i += blockDim.x) held[i] = in[begin + i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) out[begin + i] = held[count - 1 - i];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 50000, 1, 1 << 26);
  bool pass = true;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i;
  Buffer<int> din(in), dout(n);
  for (const int per_block : {100, 1024, 10000}) {
    reverse<<<(n + per_block - 1) / per_block, 128, per_block * sizeof(int)>>>(n, per_block, din.data,
                                                                               dout.data);
    CHECK(cudaGetLastError());
    std::vector<int> want(n);
    for (int i = 0; i < n; ++i) {
      const int begin = i / per_block * per_block;
      const int end = begin + per_block < n ? begin + per_block : n;
      want[i] = begin + end - 1 - i;
    }
    pass = pass && dout.get() == want;
  }
  return verdict("dynamic_shared", pass);
}
