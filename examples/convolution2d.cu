// 5 x 5 filter over an image, weights in constant memory, borders clamped.
#include "example.h"

constexpr int kRadius = 2;
constexpr int kWidth = 2 * kRadius + 1;
__constant__ float weights[kWidth * kWidth];

__host__ __device__ int clamp(int v, int high) {
  return v < 0 ? 0 : v > high ? high : v;
}

__global__ void convolve(int width, int height, const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int dy = -kRadius; dy <= kRadius; ++dy)
    for (int dx = -kRadius; dx <= kRadius; ++dx)
      sum += weights[(dy + kRadius) * kWidth + dx + kRadius] *
             in[clamp(y + dy, height - 1) * width + clamp(x + dx, width - 1)];
  out[y * width + x] = sum;
}

int main(int argc, char** argv) {
  const int width = size_argument(argc, argv, 160, 1, 8192), height = (width * 3 + 3) / 4;
  Sequence random;
  std::vector<float> in(width * height), want(width * height), filter(kWidth * kWidth);
  for (float& v : in) v = random.unit();
  for (float& v : filter) v = random.unit() / 25.0f;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0.0f;
      for (int dy = -kRadius; dy <= kRadius; ++dy)
        for (int dx = -kRadius; dx <= kRadius; ++dx)
          sum += filter[(dy + kRadius) * kWidth + dx + kRadius] *
                 in[clamp(y + dy, height - 1) * width + clamp(x + dx, width - 1)];
      want[y * width + x] = sum;
    }
  CHECK(cudaMemcpyToSymbol(weights, filter.data(), filter.size() * sizeof(float)));
  Buffer<float> din(in), dout(in.size());
  convolve<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(width, height, din.data, dout.data);
  CHECK(cudaGetLastError());
  return verdict("convolution2d", close(dout.get(), want, 1e-5));
}
