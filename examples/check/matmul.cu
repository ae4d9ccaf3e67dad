// A matrix product by tiles, and a product with a vector whose rows are summed by a block.
#include "../example.h"

constexpr int tile = 8;

__global__ void matmul(int n, const float* a, const float* b, float* c) {
  __shared__ float left[tile][tile], right[tile][tile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * tile + x, row = blockIdx.y * tile + y;
  float sum = 0;
  for (int at = 0; at < n; at += tile) {
    left[y][x] = row < n && at + x < n ? a[row * n + at + x] : 0;
    right[y][x] = column < n && at + y < n ? b[(at + y) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void matvec(int n, const float* a, const float* v, float* out) {
  __shared__ float vector[64];
  __shared__ float part[64];
  const int t = threadIdx.x, row = blockIdx.x;
  float sum = 0;
  for (int at = 0; at < n; at += 64) {
    if (at + t < n) vector[t] = v[at + t];
    __syncthreads();
    if (at + t < n) sum += a[row * n + at + t] * vector[t];
    __syncthreads();
  }
  part[t] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[row] = part[0];
}

int main() {
  const int n = 77, blocks = (n + tile - 1) / tile;
  Sequence random;
  std::vector<float> ha(n * n), hb(n * n), want(n * n), want_v(n), got(n * n), got_v(n);
  for (float& v : ha) v = static_cast<float>(random.next() % 8);
  for (float& v : hb) v = static_cast<float>(random.next() % 8);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      want_v[i] += ha[i * n + k] * hb[k];
      for (int j = 0; j < n; ++j) want[i * n + j] += ha[i * n + k] * hb[k * n + j];
    }
  float *a, *b, *c, *v;
  CHECK(cudaMalloc(&a, n * n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * n * sizeof(float)));
  CHECK(cudaMalloc(&c, n * n * sizeof(float)));
  CHECK(cudaMalloc(&v, n * sizeof(float)));
  CHECK(cudaMemcpy(a, ha.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, hb.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
  matmul<<<dim3(blocks, blocks), dim3(tile, tile)>>>(n, a, b, c);
  matvec<<<n, 64>>>(n, a, b, v);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), c, n * n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_v.data(), v, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
  CHECK(cudaFree(v));
  return verdict("matmul", got == want && got_v == want_v);
}
