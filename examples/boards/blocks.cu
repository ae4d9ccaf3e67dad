// Blocks on their SMs: barriers, what lies between one block and the next in its place, and who gets which.
//
//   blocks barrier THREADS              cycles of a barrier of all warps of one block, one after another
//   blocks turnover THREADS SHARED N    blocks of THREADS threads, SHARED bytes and a chain of N
//   multiply-adds, 16 for
//                                       each SM: cycles of a block, and from its end to the beginning of the
//                                       next one on its SM (median), if one fits at a time
//   blocks order BLOCKS THREADS SHARED  the SM of each block
#include <algorithm>

#include "board.h"

const char* const kUsage = "blocks barrier THREADS | turnover THREADS SHARED N | order BLOCKS THREADS SHARED";
constexpr int kBarriers = 64, kEach = 16;

__global__ void barriers(long long* cycles, int rounds) {
  __syncthreads();
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < kBarriers; ++j) __syncthreads();
  }
  const long long taken = clock64() - begin;
  if (threadIdx.x == 0) *cycles = taken;
}

struct Stay {
  long long begin, end;
  unsigned sm;
};

__global__ void stays(Stay* out, int links, float factor, float summand) {
  extern __shared__ float kept[];
  const long long begin = clock64();
  float x = static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (int i = 0; i < links; ++i) x = x * factor + summand;
  if (x == 12345.678f) kept[threadIdx.x] = x;
  __syncthreads();
  if (threadIdx.x != 0) return;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  out[blockIdx.x] = {begin, clock64(), sm};
}

std::vector<Stay> stays_of(int blocks, int threads, int shared, int links) {
  Buffer<Stay> out(blocks);
  CHECK(cudaFuncSetAttribute(stays, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  for (int turn = 0; turn < 2; ++turn) {  // The first one brings the code in.
    stays<<<blocks, threads, shared>>>(out.data, links, 0.5f, 1.0f);
    CHECK(cudaDeviceSynchronize());
  }
  return out.get();
}

double median(std::vector<long long> values) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  return static_cast<double>(values[values.size() / 2]);
}

int main(int argc, char** argv) {
  if (argc < 3) wrong_words(kUsage);
  const std::string mode = argv[1];
  if (mode == "barrier" && argc == 3) {
    const int threads = whole(argv[2], 1, 1024, kUsage), rounds = 16;
    Buffer<long long> cycles(zeros<long long>(1));
    for (int turn = 0; turn < 2; ++turn) {
      barriers<<<1, threads>>>(cycles.data, rounds);
      CHECK(cudaDeviceSynchronize());
    }
    report("barrier", static_cast<double>(cycles.get()[0]) / (rounds * kBarriers), "cycles");
    return verdict("blocks", true);
  }
  if (argc != 5) wrong_words(kUsage);
  if (mode == "order") {
    const auto all = stays_of(whole(argv[2], 1, 4096, kUsage), whole(argv[3], 1, 1024, kUsage),
                              whole(argv[4], 0, 1 << 18, kUsage), 256);
    for (std::size_t i = 0; i < all.size(); ++i) report(std::to_string(i), all[i].sm, "sm");
    return verdict("blocks", true);
  }
  if (mode != "turnover") wrong_words(kUsage);
  const int sms = device_properties().multiProcessorCount;
  auto all = stays_of(kEach * sms, whole(argv[2], 1, 1024, kUsage), whole(argv[3], 0, 1 << 18, kUsage),
                      whole(argv[4], 0, 1 << 20, kUsage));
  std::sort(all.begin(), all.end(),
            [](const Stay& a, const Stay& b) { return a.sm != b.sm ? a.sm < b.sm : a.begin < b.begin; });
  std::vector<long long> lengths, gaps, paces;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lengths.push_back(all[i].end - all[i].begin);
    if (i > 0 && all[i].sm == all[i - 1].sm) {
      gaps.push_back(all[i].begin - all[i - 1].end);
      paces.push_back(all[i].begin - all[i - 1].begin);
    }
  }
  report("block", median(lengths), "cycles");
  report("gap", median(gaps), "cycles");
  report("pace", median(paces), "cycles");
  return verdict("blocks", true);
}
