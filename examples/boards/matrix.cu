// Copies and transpositions of a square matrix of floats in the forms that were published for a V100. Blocks
// are X x Y threads; a thread takes EACH elements, X apart. Where a block turns a tile in shared memory, a
// thread's place in the turned tile comes from a division by the height of the block, which the kernel is not
// compiled for.
//
//   matrix KIND [SIZE [EACH [X Y]]]
//     KIND  copy, naive, shared (a tile in shared memory), padded (and a word more in each of its rows)
#include "board.h"

const char* const kUsage = "matrix copy|naive|shared|padded [SIZE [EACH [X Y]]]";

template <int kEach>
__global__ void copy_matrix(const float* in, float* out, int n) {
  const unsigned x = kEach * blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + (kEach - 1) * blockDim.x >= n || y >= n) return;
#pragma unroll
  for (int i = 0; i < kEach; ++i) out[y * n + x + i * blockDim.x] = in[y * n + x + i * blockDim.x];
}

template <int kEach>
__global__ void turn_matrix(const float* in, float* out, int n) {
  const unsigned x = kEach * blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + (kEach - 1) * blockDim.x >= n || y >= n) return;
#pragma unroll
  for (int i = 0; i < kEach; ++i) out[x * n + y + n * (i * blockDim.x)] = in[y * n + x + i * blockDim.x];
}

template <int kEach, int kX, int kY, int kPad>
__global__ void turn_tiles(const float* in, float* out, int n) {
  __shared__ float tile[kY * (kX * kEach + kPad)];
  const unsigned x = kEach * blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x + (kEach - 1) * blockDim.x >= n || y >= n) return;
  const unsigned pitch = blockDim.x * kEach + kPad, put = threadIdx.y * pitch + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kEach; ++i) tile[put + kX * i] = in[y * n + x + kX * i];
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned row = thread / blockDim.y, column = thread % blockDim.y;
  const unsigned to = (kEach * blockDim.x * blockIdx.x + row) * n + blockDim.y * blockIdx.y + column;
  const unsigned take = column * pitch + row;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kEach; ++i) out[to + n * kX * i] = tile[take + kX * i];
}

using Kernel = void (*)(const float*, float*, int);

struct Form {
  const char* kind;
  int each, x, y;  // x 0: any
  Kernel kernel;
};

const Form kForms[] = {
    {"copy", 1, 0, 0, copy_matrix<1>},
    {"copy", 2, 0, 0, copy_matrix<2>},
    {"copy", 4, 0, 0, copy_matrix<4>},
    {"naive", 1, 0, 0, turn_matrix<1>},
    {"naive", 2, 0, 0, turn_matrix<2>},
    {"naive", 4, 0, 0, turn_matrix<4>},
    {"shared", 1, 32, 32, turn_tiles<1, 32, 32, 0>},
    {"shared", 2, 32, 32, turn_tiles<2, 32, 32, 0>},
    {"padded", 1, 32, 32, turn_tiles<1, 32, 32, 1>},
    {"padded", 2, 32, 32, turn_tiles<2, 32, 32, 1>},
    {"padded", 4, 32, 32, turn_tiles<4, 32, 32, 1>},
    {"padded", 4, 16, 16, turn_tiles<4, 16, 16, 1>},
    {"padded", 4, 32, 16, turn_tiles<4, 32, 16, 1>},
    {"padded", 4, 16, 32, turn_tiles<4, 16, 32, 1>},
};

// Numbers of 24 bits, which differ in most places.
float element(std::size_t i) { return static_cast<float>((static_cast<unsigned>(i) * 2654435761u) >> 8); }

int main(int argc, char** argv) {
  if (argc < 2 || argc == 5 || argc > 6) wrong_words(kUsage);
  const int n = argc > 2 ? whole(argv[2], 128, 16384, kUsage) : 1024;
  const int each = argc > 3 ? whole(argv[3], 1, 4, kUsage) : 1;
  const int x = argc > 4 ? whole(argv[4], 1, 32, kUsage) : 32,
            y = argc > 5 ? whole(argv[5], 1, 32, kUsage) : 32;
  Kernel kernel = nullptr;
  for (const Form& form : kForms)
    if (std::strcmp(argv[1], form.kind) == 0 && each == form.each &&
        (form.x == 0 || (form.x == x && form.y == y)))
      kernel = form.kernel;
  if (kernel == nullptr || n % (each * x) != 0 || n % y != 0) {
    std::fprintf(stderr, "no such form, or the blocks do not fit the size\n");
    wrong_words(kUsage);
  }
  std::vector<float> in(static_cast<std::size_t>(n) * n);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = element(i);
  Buffer<float> din(in), dout(in.size());
  const dim3 grid(n / (x * each), n / y);
  const double time = milliseconds_each(1, [&] { kernel<<<grid, dim3(x, y)>>>(din.data, dout.data, n); });
  report("time", time * 1e3, "us");
  report("bandwidth", 8e-6 * n * n / time, "GB/s");
  const std::vector<float> out = dout.get();
  const std::size_t size = static_cast<std::size_t>(n);
  bool right = true;
  const bool copied = std::strcmp(argv[1], "copy") == 0;
  for (std::size_t i = 0; i < out.size() && right; ++i)
    right = out[i] == element(copied ? i : i % size * size + i / size);
  return verdict("matrix", right);
}
