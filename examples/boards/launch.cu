// What a launch costs: kernels that do nothing, or that do a known number of dependent multiply-adds.
//
//   launch empty BLOCKS THREADS
//   launch fma BLOCKS THREADS ROUNDS   128 dependent multiply-adds a round; 48 KiB of shared memory a block
// Prints the cycles of the SM's clock between two events around the launch.
//
// The second has the shape of a kernel that was published with its cycles alone. They show what it is: a
// round takes a warp 520 cycles, and four warps of a scheduler as long; four blocks of 128 threads fit an SM
// of 228 KiB, and two of 1024.
#include "board.h"

const char* const kUsage = "launch empty BLOCKS THREADS | launch fma BLOCKS THREADS ROUNDS";
constexpr int kChain = 128, kSharedFloats = 12288;

__global__ void nothing() {}

__global__ void multiply_adds(float* out, int rounds, float factor, float summand) {
  __shared__ float kept[kSharedFloats];
  float x = static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < kChain; ++j) x = x * factor + summand;
  }
  // Never so; the compiler cannot know, and keeps the sums and the shared memory.
  if (x == 12345.678f) {
    kept[threadIdx.x] = x;
    __syncthreads();
    out[threadIdx.x] = kept[kSharedFloats - 1 - threadIdx.x];
  }
}

int main(int argc, char** argv) {
  if (argc < 4) wrong_words(kUsage);
  const bool empty = std::strcmp(argv[1], "empty") == 0;
  if ((!empty && std::strcmp(argv[1], "fma") != 0) || argc != (empty ? 4 : 5)) wrong_words(kUsage);
  const int blocks = whole(argv[2], 1, 1 << 20, kUsage), threads = whole(argv[3], 1, 1024, kUsage);
  const int rounds = empty ? 0 : whole(argv[4], 1, 1 << 20, kUsage);
  Buffer<float> out(zeros<float>(1024));
  const double time = milliseconds_each(1, [&] {
    if (empty)
      nothing<<<blocks, threads>>>();
    else
      multiply_adds<<<blocks, threads>>>(out.data, rounds, 0.5f, 1.0f);
  });
  report("elapsed", time * cycles_in_a_millisecond(), "cycles");
  return verdict("launch", close(out.get(), std::vector<float>(1024), 0.0));
}
