// The transposition of a square matrix of floats, in five steps. The first is a plain copy: what the memory
// gives at best. Each step is a lesson of docs/guide/ladders.md.
//
//   transpose STEP [SIZE [WARM-UPS]]
#include "ladder.h"

constexpr int kTile = 32;

// Step 1: a copy, to compare with.
__global__ void copy_matrix(int n, const float* in, float* out) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  out[y * n + x] = in[y * n + x];
}

// Step 2: a warp reads a row and writes a column: 32 places that lie a row apart.
__global__ void transpose_naive(int n, const float* in, float* out) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}

// Step 3: through a tile in shared memory, where the turn is made: rows are read and rows are written. The
// column of the tile that a warp reads lies in one bank.
__global__ void transpose_shared(int n, const float* in, float* out) {
  __shared__ float tile[kTile][kTile];
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * n + x + threadIdx.x];
  __syncthreads();
  out[(x + threadIdx.y) * n + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Step 4: one word more in each row of the tile puts a column into all banks.
__global__ void transpose_padded(int n, const float* in, float* out) {
  __shared__ float tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * n + x + threadIdx.x];
  __syncthreads();
  out[(x + threadIdx.y) * n + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Step 5: four elements for each thread, in a tile four times as wide: four loads under way at once.
__global__ void transpose_four(int n, const float* in, float* out) {
  constexpr int kEach = 4;
  __shared__ float tile[kTile][kTile * kEach + 1];
  const int x = blockIdx.x * kTile * kEach, y = blockIdx.y * kTile;
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    tile[threadIdx.y][threadIdx.x + i * kTile] = in[(y + threadIdx.y) * n + x + i * kTile + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kEach; ++i)
    out[(x + i * kTile + threadIdx.y) * n + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y + i * kTile];
}

struct Step {
  const char* name;
  void (*kernel)(int, const float*, float*);
  int each;  // elements of a thread, side by side
  bool turns;
};

const Step kSteps[] = {
    {"copy_matrix", copy_matrix, 1, false},          {"transpose_naive", transpose_naive, 1, true},
    {"transpose_shared", transpose_shared, 1, true}, {"transpose_padded", transpose_padded, 1, true},
    {"transpose_four", transpose_four, 4, true},
};

// Numbers of 24 bits, which differ in most places.
float element(std::size_t i) { return static_cast<float>((static_cast<unsigned>(i) * 2654435761u) >> 8); }

bool right_matrix(const std::vector<float>& out, std::size_t n, bool turned) {
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) {
      const float want = element(turned ? x * n + y : y * n + x), got = out[y * n + x];
      if (got == want) continue;
      std::printf("row %zu, column %zu has %g instead of %g\n", y, x, static_cast<double>(got),
                  static_cast<double>(want));
      return false;
    }
  return true;
}

int main(int argc, char** argv) {
  const Ladder ladder{"transpose", 1, 5, 512, 128, 16384};
  const Arguments arguments = ladder_arguments(argc, argv, ladder);
  const Step& step = kSteps[arguments.step - 1];
  const int n = arguments.size;
  std::vector<float> in(static_cast<std::size_t>(n) * n);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = element(i);
  Buffer<float> din(in), dout(in.size());
  const dim3 grid(n / (kTile * step.each), n / kTile);
  const auto launch = [&] { step.kernel<<<grid, dim3(kTile, kTile)>>>(n, din.data, dout.data); };
  for (int i = 0; i < arguments.warm_ups; ++i) launch();
  const float time = milliseconds_of(launch);
  print_rate(ladder, arguments, step.name, time, 8.0 * n * n, "GB/s");
  return verdict(step.name, right_matrix(dout.get(), n, step.turns));
}
