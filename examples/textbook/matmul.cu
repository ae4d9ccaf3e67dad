// The product of two square matrices of whole numbers through square tiles in shared memory. The width of a
// tile is that of a block, which the kernel is not compiled for.
//
//   matmul SIZE [BLOCK-AXIS [LAUNCHES]]
#include "textbook.h"

const char* const kUsage = "matmul SIZE [BLOCK-AXIS [LAUNCHES]]";

__global__ void multiply_tiles(const unsigned* a, const unsigned* b, unsigned* c, int n) {
  extern __shared__ unsigned tiles[];
  const int width = blockDim.x, x = threadIdx.x, y = threadIdx.y;
  unsigned *of_a = tiles, *of_b = tiles + width * width;
  const int row = blockIdx.y * width + y, column = blockIdx.x * width + x;
  unsigned sum = 0;
  for (int tile = 0; tile < (n + width - 1) / width; ++tile) {
    const int column_of_a = tile * width + x, row_of_b = tile * width + y;
    of_a[y * width + x] = row < n && column_of_a < n ? a[row * n + column_of_a] : 0;
    of_b[y * width + x] = row_of_b < n && column < n ? b[row_of_b * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < width; ++k) sum += of_a[y * width + k] * of_b[k * width + x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

// A vector's product is enough to see that all elements of a matrix are right: A (B v) = C v, modulo 2^32.
std::vector<unsigned> times_vector(const std::vector<unsigned>& matrix, const std::vector<unsigned>& vector) {
  std::vector<unsigned> out(vector.size());
  for (std::size_t row = 0; row < out.size(); ++row)
    for (std::size_t i = 0; i < out.size(); ++i) out[row] += matrix[row * out.size() + i] * vector[i];
  return out;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) wrong_words(kUsage);
  const int n = whole(argv[1], 1, 8192, kUsage), width = argc > 2 ? whole(argv[2], 1, 32, kUsage) : 16;
  const int launches = argc > 3 ? whole(argv[3], 1, 1000, kUsage) : 4;
  const std::size_t size = static_cast<std::size_t>(n);
  std::vector<unsigned> a(size * size), b(size * size), v(size);
  Sequence numbers;
  for (unsigned& x : a) x = numbers.next();
  for (unsigned& x : b) x = numbers.next();
  for (unsigned& x : v) x = numbers.next() | 1u;
  Buffer<unsigned> da(a), db(b), dc(size * size);
  const dim3 grid(blocks_of(n, width), blocks_of(n, width));
  const std::size_t shared = 2 * sizeof(unsigned) * static_cast<std::size_t>(width * width);
  report_times([&] { multiply_tiles<<<grid, dim3(width, width), shared>>>(da.data, db.data, dc.data, n); },
               launches);
  return verdict("matmul", times_vector(dc.get(), v) == times_vector(a, times_vector(b, v)));
}
