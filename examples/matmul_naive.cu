// C = A B, one thread an element, every operand from global memory: the caches do the work.
#include "example.h"

__global__ void matmul(int n, const float* a, const float* b, float* c) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
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
  const dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
  matmul<<<grid, block>>>(n, da.data, db.data, dc.data);
  CHECK(cudaGetLastError());
  return verdict("matmul_naive", close(dc.get(), want, 1e-4));
}
