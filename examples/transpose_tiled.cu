// Transpose through a tile in shared memory: both sides coalesced, and a column of padding against bank
// conflicts.
#include "example.h"

__global__ void transpose(int n, const float* in, float* out) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) {
    const int y = blockIdx.y * 32 + r;
    if (x < n && y < n) tile[r][threadIdx.x] = in[y * n + x];
  }
  __syncthreads();
  const int ox = blockIdx.y * 32 + threadIdx.x;
  for (int r = threadIdx.y; r < 32; r += 8) {
    const int oy = blockIdx.x * 32 + r;
    if (ox < n && oy < n) out[oy * n + ox] = tile[threadIdx.x][r];
  }
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 256, 1, 8192);
  std::vector<float> in(n * n), want(n * n);
  for (int i = 0; i < n * n; ++i) in[i] = static_cast<float>(i);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) want[x * n + y] = in[y * n + x];
  Buffer<float> din(in), dout(n * n);
  const int blocks = (n + 31) / 32;
  transpose<<<dim3(blocks, blocks), dim3(32, 8)>>>(n, din.data, dout.data);
  CHECK(cudaGetLastError());
  return verdict("transpose_tiled", close(dout.get(), want, 0.0));
}
