// What instructions cost by how much code a loop has: bodies of multiply-adds of growing size, each turn
// after a first one that brings the code in.
//
//   code [WARPS [LARGEST]]
//     WARPS    of the one block (1): 1..32
//     LARGEST  multiply-adds of a body (32768)
// Prints the cycles of an SM for a multiply-add of each warp, by the number of multiply-adds.
#include "board.h"

const char* const kUsage = "code [WARPS [LARGEST]]";
constexpr int kTurns = 4;

template <int count>
__global__ void body(float* out, long long* cycles, int turns, float factor, float summand) {
  float x[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  long long begin = 0;
#pragma unroll 1
  for (int i = 0; i <= turns; ++i) {
    if (i == 1) begin = clock64();
#pragma unroll
    for (int j = 0; j < count; ++j) x[j % 4] = x[j % 4] * factor + summand;
  }
  const long long taken = clock64() - begin;
  const float sum = x[0] + x[1] + x[2] + x[3];
  if (sum == 12345.678f) out[threadIdx.x] = sum;  // Never so, which the compiler does not know.
  if (threadIdx.x % 32 == 0) cycles[threadIdx.x / 32] = taken;
}

template <int count>
void measure(int warps, int largest) {
  if (count > largest) return;
  Buffer<float> out(zeros<float>(1024));
  Buffer<long long> cycles(zeros<long long>(32));
  body<count><<<1, 32 * warps>>>(out.data, cycles.data, kTurns, 0.5f, 1.0f);
  CHECK(cudaDeviceSynchronize());
  long long most = 0;
  for (long long taken : cycles.get()) most = std::max(most, taken);
  report(std::to_string(count), static_cast<double>(most) / (static_cast<double>(kTurns) * count), "cycles");
}

template <int... counts>
void measure_each(int warps, int largest) {
  (measure<counts>(warps, largest), ...);
}

int main(int argc, char** argv) {
  if (argc > 3) wrong_words(kUsage);
  const int warps = argc > 1 ? whole(argv[1], 1, 32, kUsage) : 1;
  const int largest = argc > 2 ? whole(argv[2], 256, 32768, kUsage) : 32768;
  measure_each<256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768>(warps, largest);
  return verdict("code", true);
}
