// A square matrix times a vector, of whole numbers, a row a thread: the lanes of a warp read a row apart.
//
//   matvec ROWS [THREADS [LAUNCHES]]
#include "textbook.h"

const char* const kUsage = "matvec ROWS [THREADS [LAUNCHES]]";

__global__ void rows_times_vector(unsigned* out, const unsigned* matrix, const unsigned* vector, int rows,
                                  int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  unsigned sum = 0;
  for (int i = 0; i < columns; ++i) sum += matrix[row * columns + i] * vector[i];
  out[row] = sum;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) wrong_words(kUsage);
  const int n = whole(argv[1], 1, 16384, kUsage), threads = argc > 2 ? whole(argv[2], 1, 1024, kUsage) : 512;
  const int launches = argc > 3 ? whole(argv[3], 1, 1000, kUsage) : 4;
  const std::size_t size = static_cast<std::size_t>(n);
  std::vector<unsigned> matrix(size * size), vector(size), product(size);
  Sequence numbers;
  for (unsigned& x : matrix) x = numbers.next();
  for (unsigned& x : vector) x = numbers.next();
  for (std::size_t row = 0; row < size; ++row)
    for (std::size_t i = 0; i < size; ++i) product[row] += matrix[row * size + i] * vector[i];
  Buffer<unsigned> dmatrix(matrix), dvector(vector), dout(size);
  report_times(
      [&] {
        rows_times_vector<<<blocks_of(n, threads), threads>>>(dout.data, dmatrix.data, dvector.data, n, n);
      },
      launches);
  return verdict("matvec", dout.get() == product);
}
