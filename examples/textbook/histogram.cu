// A histogram of numbers, an element a thread. All numbers are zero, as in the published measurement: every
// thread adds to the first bin.
//
//   histogram global|shared COUNT [THREADS [LAUNCHES]]
//     global: bins in global memory, which the kernel sets to zero first
//     shared: each block counts in shared memory and adds its bins to those in global memory
#include "textbook.h"

const char* const kUsage = "histogram global|shared COUNT [THREADS [LAUNCHES]]";
constexpr unsigned kBins = 512;

__global__ void count_globally(const unsigned* in, unsigned* bins, unsigned count, unsigned bin_count) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
  for (unsigned bin = thread; bin < bin_count; bin += step) bins[bin] = 0;
  __syncthreads();
  for (unsigned i = thread; i < count; i += step) atomicAdd(&bins[in[i]], 1u);
}

__global__ void count_by_blocks(const unsigned* in, unsigned* bins, unsigned count, unsigned bin_count) {
  extern __shared__ unsigned of_the_block[];
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, step = blockDim.x * gridDim.x;
  for (unsigned bin = threadIdx.x; bin < bin_count; bin += blockDim.x) of_the_block[bin] = 0;
  __syncthreads();
  for (unsigned i = thread; i < count; i += step) atomicAdd(&of_the_block[in[i]], 1u);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < bin_count; bin += blockDim.x)
    atomicAdd(&bins[bin], of_the_block[bin]);
}

int main(int argc, char** argv) {
  if (argc < 3 || argc > 5) wrong_words(kUsage);
  const bool shared = std::strcmp(argv[1], "shared") == 0;
  if (!shared && std::strcmp(argv[1], "global") != 0) wrong_words(kUsage);
  const int count = whole(argv[2], 1, 1 << 27, kUsage),
            threads = argc > 3 ? whole(argv[3], 1, 1024, kUsage) : 512;
  const int launches = argc > 4 ? whole(argv[4], 1, 1000, kUsage) : 4;
  Buffer<unsigned> in(zeros<unsigned>(static_cast<std::size_t>(count))), bins(zeros<unsigned>(kBins));
  const int blocks = blocks_of(count, threads);
  unsigned ran = 0;
  report_times(
      [&] {
        if (shared)
          count_by_blocks<<<blocks, threads, kBins * sizeof(unsigned)>>>(in.data, bins.data, count, kBins);
        else
          count_globally<<<blocks, threads>>>(in.data, bins.data, count, kBins);
        ++ran;
      },
      launches);
  // The bins in global memory are set to zero by one block while others already count: only one block is
  // sure.
  std::vector<unsigned> want(kBins);
  want[0] = static_cast<unsigned>(count) * (shared ? ran : 1);
  const std::vector<unsigned> got = bins.get();
  return verdict("histogram", shared || blocks == 1 ? got == want : got[0] > 0 && got[0] <= want[0]);
}
