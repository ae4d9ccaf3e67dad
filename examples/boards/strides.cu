// Cycles that an SM takes for a warp's load that hits in L1, by what its lanes are apart. One block of 1024
// threads loads the same eight elements a thread again and again; the numbers of rounds of two launches
// differ, so that their start and the first, missing round fall out of the difference.
//
//   strides TYPE PATTERN [FIRST [LAST [ROUNDS]]]
//     TYPE     float, double
//     PATTERN  stride: lanes are FIRST..LAST (0..64) elements apart, 64 threads in a row
//              block: blocks of FIRST..LAST (1, 2, 4..64) columns; rows are 4098 elements apart
//     ROUNDS   by which the launches differ (128)
#include "board.h"

const char* const kUsage = "strides TYPE PATTERN [FIRST [LAST [ROUNDS]]]";
constexpr int kThreads = 1024, kLoads = 8, kPitch = 4098, kShort = 16;

// zero is 0: the compiler does not know, and loads again.
template <class T>
__device__ T eight_of_a_thread(const T* at, int rounds, int zero) {
  T sum = T(0);
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    at += zero;
    sum += at[0] * at[4];
    sum += at[8] * at[12];
    sum += at[16] * at[20];
    sum += at[24] * at[28];
  }
  return sum;
}

template <class T>
__global__ void load_strides(T* in, T* out, int rounds, int zero, int stride) {
  const T sum = eight_of_a_thread(in + threadIdx.x % 64 * stride, rounds, zero);
  if (sum != T(0)) out[threadIdx.x] = sum;
}

template <class T>
__global__ __launch_bounds__(kThreads) void load_blocks(T* in, T* out, int rounds, int zero, int pitch) {
  const T sum = eight_of_a_thread(in + threadIdx.x % 64 + (threadIdx.y % 32 + 1) * pitch, rounds, zero);
  if (sum != T(0)) out[threadIdx.x] = sum;
}

template <class T>
int measure(bool blocks, int first, int last, int rounds) {
  // All zeros, so that no thread stores a sum.
  Buffer<T> in(zeros<T>(33 * kPitch + 64 + 32)), out(zeros<T>(kThreads));
  const double rate = cycles_in_a_millisecond();
  for (int i = first; i <= last; i = blocks ? 2 * i : i + 1) {
    const auto time = [&](int times) {
      return milliseconds_each(1, [&] {
        if (blocks)
          load_blocks<T><<<1, dim3(i, kThreads / i)>>>(in.data, out.data, times, 0, kPitch);
        else
          load_strides<T><<<1, kThreads>>>(in.data, out.data, times, 0, i);
      });
    };
    const double cycles = (time(kShort + rounds) - time(kShort)) * rate;
    report(std::to_string(i), cycles / (rounds * kLoads * (kThreads / 32)), "cycles");
  }
  return verdict("strides", close(out.get(), std::vector<T>(kThreads), 0.0));
}

int main(int argc, char** argv) {
  if (argc < 3 || argc > 6) wrong_words(kUsage);
  const bool blocks = std::strcmp(argv[2], "block") == 0, wide = std::strcmp(argv[1], "double") == 0;
  if (!blocks && std::strcmp(argv[2], "stride") != 0) wrong_words(kUsage);
  if (!wide && std::strcmp(argv[1], "float") != 0) wrong_words(kUsage);
  const int least = blocks ? 1 : 0;
  const int first = argc > 3 ? whole(argv[3], least, 64, kUsage) : least;
  const int last = argc > 4 ? whole(argv[4], first, 64, kUsage) : argc > 3 ? first : 64;
  const int rounds = argc > 5 ? whole(argv[5], 1, 1 << 20, kUsage) : 128;
  if (blocks && (first & (first - 1)) != 0) wrong_words(kUsage);
  return wide ? measure<double>(blocks, first, last, rounds) : measure<float>(blocks, first, last, rounds);
}
