// C = A B with tiles in shared memory: every element is read n/16 times instead of n times.
#include "example.h"

constexpr int kTile = 16;

__global__ void matmul_tiled(int n, const float* a, const float* b, float* c) {
  __shared__ float ta[kTile][kTile];
  __shared__ float tb[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < n; t += kTile) {
    const int ka = t + threadIdx.x, kb = t + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = row < n && ka < n ? a[row * n + ka] : 0.0f;
    tb[threadIdx.y][threadIdx.x] = column < n && kb < n ? b[kb * n + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 128, 1, 2048);
  Sequence random;
  std::vector<float> a(n * n), b(n * n), want(n * n, 0.0f);
  for (float& v : a) v = random.unit() - 0.5f;
  for (float& v : b) v = random.unit() - 0.5f;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) want[i * n + j] += a[i * n + k] * b[k * n + j];
  Buffer<float> da(a), db(b), dc(n * n);
  const int blocks = (n + kTile - 1) / kTile;
  matmul_tiled<<<dim3(blocks, blocks), dim3(kTile, kTile)>>>(n, da.data, db.data, dc.data);
  CHECK(cudaGetLastError());
  return verdict("matmul_tiled", close(dc.get(), want, 1e-4));
}
