// Adds two square matrices of floats, an element a thread, in blocks of 16 x 16.
//
//   array_add AXIS [LAUNCHES]
#include "textbook.h"

const char* const kUsage = "array_add AXIS [LAUNCHES]";
constexpr int kBlock = 16;

__global__ void add_matrices(const float* a, const float* b, float* c, int rows, int columns) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = row * columns + column;
  if (row < rows && column < columns) c[at] = a[at] + b[at];
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) wrong_words(kUsage);
  const int axis = whole(argv[1], 1, 16384, kUsage),
            launches = argc > 2 ? whole(argv[2], 1, 1000, kUsage) : 4;
  const std::size_t count = static_cast<std::size_t>(axis) * axis;
  std::vector<float> a(count), b(count), sum(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<float>(i % 1021), b[i] = static_cast<float>(i % 509);
    sum[i] = a[i] + b[i];
  }
  Buffer<float> da(a), db(b), dc(count);
  const dim3 grid(blocks_of(axis, kBlock), blocks_of(axis, kBlock));
  report_times([&] { add_matrices<<<grid, dim3(kBlock, kBlock)>>>(da.data, db.data, dc.data, axis, axis); },
               launches);
  return verdict("array_add", close(dc.get(), sum, 0.0));
}
