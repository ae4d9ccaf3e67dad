// A row of floats under a mask of odd width, an element a thread. The result is cut to 0 to 1 in double
// precision, as the published kernels do: their limits are doubles.
//
//   convolution1d basic|tiled COUNT [MASK [THREADS [LAUNCHES]]]
//     basic: all from global memory, the mask too
//     tiled: the block's elements and their neighbours in shared memory, the mask in constant memory
#include "textbook.h"

const char* const kUsage = "convolution1d basic|tiled COUNT [MASK [THREADS [LAUNCHES]]]";
constexpr int kWidest = 121;
__constant__ float constant_mask[kWidest];

__device__ float cut(float x) { return static_cast<float>(fmin(fmax(static_cast<double>(x), 0.0), 1.0)); }

__global__ void convolve(const float* in, const float* mask, float* out, int width, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0f;
  const int first = i - width / 2;
  for (int j = 0; j < width; ++j)
    if (first + j >= 0 && first + j < count) sum += in[first + j] * mask[j];
  out[i] = cut(sum);
}

// Published without a bound for threads past the end: sizes are multiples of the block, or one block covers
// them. Here those threads load and store nothing.
__global__ void convolve_tiles(const float* in, float* out, int width, int count) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = blockDim.x, half = width / 2;
  const int thread = threadIdx.x;
  const int left = (static_cast<int>(blockIdx.x) - 1) * threads + thread;
  if (thread >= threads - half) tile[thread - (threads - half)] = left < 0 ? 0.0f : in[left];
  tile[half + thread] = i < count ? in[i] : 0.0f;
  const int right = (blockIdx.x + 1) * threads + thread;
  if (thread < half) tile[half + threads + thread] = right >= count ? 0.0f : in[right];
  __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j < width; ++j) sum += tile[thread + j] * constant_mask[j];
  if (i < count) out[i] = cut(sum);
}

int main(int argc, char** argv) {
  if (argc < 3 || argc > 6) wrong_words(kUsage);
  const bool tiled = std::strcmp(argv[1], "tiled") == 0;
  if (!tiled && std::strcmp(argv[1], "basic") != 0) wrong_words(kUsage);
  const int count = whole(argv[2], 1, 1 << 27, kUsage),
            width = argc > 3 ? whole(argv[3], 1, kWidest, kUsage) : 5;
  const int threads = argc > 4 ? whole(argv[4], 1, 1024, kUsage) : 512;
  const int launches = argc > 5 ? whole(argv[5], 1, 1000, kUsage) : 4;
  if (width % 2 == 0 || threads < width / 2) wrong_words(kUsage);
  std::vector<float> in(static_cast<std::size_t>(count)), out(in.size()),
      mask(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 17) / 32.0f;
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<float>(i + 1) / 64.0f;
  for (int i = 0; i < count; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) {
      const int at = i - width / 2 + j;
      if (at >= 0 && at < count) sum += in[static_cast<std::size_t>(at)] * mask[static_cast<std::size_t>(j)];
    }
    out[static_cast<std::size_t>(i)] = std::fmin(sum, 1.0f);
  }
  Buffer<float> din(in), dmask(mask), dout(in.size());
  CHECK(cudaMemcpyToSymbol(constant_mask, mask.data(), mask.size() * sizeof(float)));
  const int blocks = blocks_of(count, threads);
  const std::size_t shared = static_cast<std::size_t>(threads + width - 1) * sizeof(float);
  report_times(
      [&] {
        if (tiled)
          convolve_tiles<<<blocks, threads, shared>>>(din.data, dout.data, width, count);
        else
          convolve<<<blocks, threads>>>(din.data, dmask.data, dout.data, width, count);
      },
      launches);
  return verdict("convolution1d", close(dout.get(), out, 1e-6));
}
