// A matrix of floats times a vector, a warp a row, four rows a block, by loads of one or of four floats a
// lane; the lanes' sums are added by shuffles.
//
//   sgemv ROWS COLUMNS [LAUNCHES]
// COLUMNS below 128: single floats; from 128 on: four. Prints the mean time of launches behind one another.
#include "board.h"

const char* const kUsage = "sgemv ROWS COLUMNS [LAUNCHES]";

__device__ float over_lanes(float sum) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
  return sum;
}

__global__ void rows_by_floats(const float* __restrict__ a, const float* __restrict__ x,
                               float* __restrict__ y, int rows, int columns) {
  const int lane = threadIdx.x % 32, row = blockDim.y * blockIdx.x + threadIdx.y;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < columns / 32; ++i) sum += a[row * columns + i * 32 + lane] * x[i * 32 + lane];
  sum = over_lanes(sum);
  if (lane == 0) y[row] = sum;
}

__global__ void rows_by_vectors(const float* __restrict__ a, const float* __restrict__ x,
                                float* __restrict__ y, int rows, int columns) {
  const int lane = threadIdx.x % 32, row = blockDim.y * blockIdx.x + threadIdx.y;
  if (row >= rows) return;
  const float4* of_row = reinterpret_cast<const float4*>(a + row * columns);
  float sum = 0.0f;
  for (int i = 0; i < columns / 128; ++i) {
    const float4 p = of_row[i * 32 + lane], q = reinterpret_cast<const float4*>(x)[i * 32 + lane];
    sum += p.x * q.x;
    sum += p.y * q.y;
    sum += p.z * q.z;
    sum += p.w * q.w;
  }
  sum = over_lanes(sum);
  if (lane == 0) y[row] = sum;
}

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) wrong_words(kUsage);
  const int rows = whole(argv[1], 4, 1 << 20, kUsage), columns = whole(argv[2], 32, 8192, kUsage);
  const int launches = argc > 3 ? whole(argv[3], 1, 1000, kUsage) : 4;
  const bool vectors = columns >= 128;
  if (rows % 4 != 0 || columns % (vectors ? 128 : 32) != 0) wrong_words(kUsage);
  std::vector<float> a(static_cast<std::size_t>(rows) * columns), x(static_cast<std::size_t>(columns)),
      y(rows);
  Sequence numbers;
  for (float& v : a) v = numbers.unit();
  for (float& v : x) v = numbers.unit();
  for (std::size_t row = 0; row < y.size(); ++row)
    for (std::size_t i = 0; i < x.size(); ++i) y[row] += a[row * x.size() + i] * x[i];
  Buffer<float> da(a), dx(x), dy(y.size());
  const auto launch = [&] {
    (vectors ? rows_by_vectors : rows_by_floats)<<<rows / 4, dim3(32, 4)>>>(da.data, dx.data, dy.data, rows,
                                                                            columns);
  };
  launch();
  report("time", milliseconds_each(launches, launch) * 1e3, "us");
  return verdict("sgemv", close(dy.get(), y, 1e-4));
}
