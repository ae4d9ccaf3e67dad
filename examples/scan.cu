// Inclusive prefix sum: shuffles inside a warp, shared memory inside a block, a second pass between blocks.
#include "example.h"

constexpr int kBlock = 256;

__device__ int scan_warp(int v) {
  const int lane = threadIdx.x % 32;
  for (int d = 1; d < 32; d *= 2) {
    const int left = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += left;
  }
  return v;
}

__global__ void scan_blocks(int n, const int* in, int* out, int* sums) {
  __shared__ int warps[kBlock / 32];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  int v = scan_warp(i < n ? in[i] : 0);
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 31) warps[warp] = v;
  __syncthreads();
  if (warp == 0) {
    const int total = scan_warp(threadIdx.x < kBlock / 32 ? warps[threadIdx.x] : 0);
    if (threadIdx.x < kBlock / 32) warps[threadIdx.x] = total;
  }
  __syncthreads();
  if (warp > 0) v += warps[warp - 1];
  if (i < n) out[i] = v;
  if (sums != nullptr && threadIdx.x == kBlock - 1) sums[blockIdx.x] = v;
}

__global__ void add_before(int n, int* data, const int* sums) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (blockIdx.x > 0 && i < n) data[i] += sums[blockIdx.x - 1];
}

// Scans data in place, level upon level.
void scan(int n, int* data) {
  const int blocks = (n + kBlock - 1) / kBlock;
  Buffer<int> sums(blocks);
  scan_blocks<<<blocks, kBlock>>>(n, data, data, sums.data);
  if (blocks > 1) {
    scan(blocks, sums.data);
    add_before<<<blocks, kBlock>>>(n, data, sums.data);
  }
  CHECK(cudaGetLastError());
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 16, 1, 1 << 26);
  Sequence random;
  std::vector<int> in(n), want(n);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<int>(random.next() % 100) - 50;
    want[i] = sum += in[i];
  }
  Buffer<int> data(in);
  scan(n, data.data);
  return verdict("scan", data.get() == want);
}
