// y = a x + y: one multiply-add for twelve bytes, the classic of memory bandwidth.
#include "example.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1 << 16, 1, 1 << 26);
  const float a = 2.5f;
  Sequence random;
  std::vector<float> x(n), y(n), want(n);
  for (int i = 0; i < n; ++i) {
    x[i] = random.unit();
    y[i] = random.unit();
    want[i] = std::fma(a, x[i], y[i]);
  }
  Buffer<float> dx(x), dy(y);
  saxpy<<<(n + 255) / 256, 256>>>(n, a, dx.data, dy.data);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return verdict("saxpy", close(dy.get(), want, 1e-6));
}
