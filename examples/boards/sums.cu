// The sum of a row of whole numbers by one launch, each block adding its share to the result: two forms that
// were published with their bandwidth on an H100.
//
//   sums FORM [COUNT [LAUNCHES]]
//     FORM 1: 512 threads, 20 numbers a thread, halves added in shared memory
//          2: 1024 threads, 16 quadruples a thread, lanes added by shuffles
#include "board.h"

const char* const kUsage = "sums 1|2 [COUNT [LAUNCHES]]";

constexpr int kThreads1 = 512, kEach1 = 20, kThreads2 = 1024, kEach2 = 16;

__global__ void sum_by_halves(const int* in, int* out, int n) {
  __shared__ volatile int kept[kThreads1 + 32];
  const int thread = threadIdx.x, first = blockIdx.x * kThreads1 * kEach1 + thread;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kEach1; ++i)
    if (first + i * kThreads1 < n) sum += in[first + i * kThreads1];
  kept[thread] = sum;
  __syncthreads();
#pragma unroll
  for (int half = kThreads1 / 2; half > 32; half /= 2) {
    if (thread < half) kept[thread] += kept[thread + half];
    __syncthreads();
  }
  if (thread >= 32) return;
  sum = kept[thread] + kept[thread + 32];
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    kept[thread] = sum;
    __syncwarp();
    if (thread < half) sum += kept[thread + half];
    __syncwarp();
  }
  if (thread == 0) atomicAdd(out, sum);
}

__device__ int over_lanes(int sum) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffff, sum, half);
  return sum;
}

__global__ void sum_by_lanes(const int4* in, int* out, int n) {
  __shared__ int kept[32];
  const int thread = threadIdx.x, first = blockIdx.x * kThreads2 * kEach2 + thread;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kEach2; ++i)
    if (first + i * kThreads2 < n) {
      const int4 value = in[first + i * kThreads2];
      sum += value.x + value.y + value.z + value.w;
    }
  sum = over_lanes(sum);
  if (thread % 32 == 0) kept[thread / 32] = sum;
  __syncthreads();
  if (thread < 32) sum = over_lanes(kept[thread]);
  if (thread == 0) atomicAdd(out, sum);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) wrong_words(kUsage);
  const int form = whole(argv[1], 1, 2, kUsage);
  const int count = argc > 2 ? whole(argv[2], 4, 1 << 30, kUsage) : 1 << 20;
  const int launches = argc > 3 ? whole(argv[3], 1, 1000, kUsage) : 1;
  if (count % 4 != 0) wrong_words(kUsage);
  std::vector<int> in(static_cast<std::size_t>(count));
  unsigned want = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<int>(i % 1000);
    want += static_cast<unsigned>(in[i]);
  }
  Buffer<int> din(in), out(zeros<int>(1));
  const auto launch = [&] {
    if (form == 1)
      sum_by_halves<<<(count + kThreads1 * kEach1 - 1) / (kThreads1 * kEach1), kThreads1>>>(din.data,
                                                                                            out.data, count);
    else
      sum_by_lanes<<<(count / 4 + kThreads2 * kEach2 - 1) / (kThreads2 * kEach2), kThreads2>>>(
          reinterpret_cast<const int4*>(din.data), out.data, count / 4);
  };
  const double time = milliseconds_each(launches, launch);
  report("time", time * 1e3, "us");
  report("bandwidth", 4e-6 * count / time, "GB/s");
  return verdict("sums", static_cast<unsigned>(out.get()[0]) == want * static_cast<unsigned>(launches));
}
