// The sum of an array of floats, in eight steps: what each block does to its part. The last addition, over
// the sums of the blocks, is the same for all and is left to the host, which checks each of them. Each step
// is a lesson of docs/guide/ladders.md.
//
//   reduction STEP [SIZE [WARM-UPS]]
#include "ladder.h"

constexpr int kThreads = 256;

// Step 0: a tree in which the threads with even numbers add, then every fourth, and so on. Every warp stays
// at work to the end, with ever fewer lanes.
__global__ void reduce_interleaved(const float* in, float* out, int) {
  __shared__ float part[kThreads];
  const unsigned thread = threadIdx.x, threads = blockDim.x;
  part[thread] = in[blockIdx.x * threads + thread];
  __syncthreads();
  for (unsigned step = 1; step < threads; step *= 2) {
    if (thread % (2 * step) == 0) part[thread] += part[thread + step];
    __syncthreads();
  }
  if (thread == 0) out[blockIdx.x] = part[0];
}

// Step 1: the first threads add, so that whole warps drop out. The words that a warp reads lie 2, 4, 8 ...
// apart: in ever fewer banks.
__global__ void reduce_strided(const float* in, float* out, int) {
  __shared__ float part[kThreads];
  const unsigned thread = threadIdx.x, threads = blockDim.x;
  part[thread] = in[blockIdx.x * threads + thread];
  __syncthreads();
  for (unsigned step = 1; step < threads; step *= 2) {
    const unsigned i = 2 * step * thread;
    if (i < threads) part[i] += part[i + step];
    __syncthreads();
  }
  if (thread == 0) out[blockIdx.x] = part[0];
}

// Step 2: halves are added, so that a warp's words are neighbours.
__global__ void reduce_sequential(const float* in, float* out, int) {
  __shared__ float part[kThreads];
  const int thread = threadIdx.x;
  part[thread] = in[blockIdx.x * blockDim.x + thread];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (thread < half) part[thread] += part[thread + half];
    __syncthreads();
  }
  if (thread == 0) out[blockIdx.x] = part[0];
}

// Step 3: each thread adds two elements on the way in: half the blocks, and no thread that only loads.
__global__ void reduce_on_load(const float* in, float* out, int) {
  __shared__ float part[kThreads];
  const int thread = threadIdx.x, first = blockIdx.x * blockDim.x * 2 + thread;
  part[thread] = in[first] + in[first + blockDim.x];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (thread < half) part[thread] += part[thread + half];
    __syncthreads();
  }
  if (thread == 0) out[blockIdx.x] = part[0];
}

// The last 64 words, by one warp, which needs no barrier of the block. __syncwarp() keeps its lanes in step:
// since Volta the hardware does not.
__device__ void sum_last_warp(float* part, int lane) {
  float sum = part[lane] + part[lane + 32];
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
    part[lane] = sum;
    __syncwarp();
    sum += part[lane + half];
    __syncwarp();
  }
  if (lane == 0) part[0] = sum;
}

// Step 4: no barriers for the last warp.
__global__ void reduce_last_warp(const float* in, float* out, int) {
  __shared__ float part[kThreads];
  const int thread = threadIdx.x, first = blockIdx.x * blockDim.x * 2 + thread;
  part[thread] = in[first] + in[first + blockDim.x];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 32; half /= 2) {
    if (thread < half) part[thread] += part[thread + half];
    __syncthreads();
  }
  if (thread < 32) sum_last_warp(part, thread);
  if (thread == 0) out[blockIdx.x] = part[0];
}

// The tree without a loop, for a block whose size is known.
__device__ void sum_block(float* part, int thread) {
  __syncthreads();
  if (thread < 128) part[thread] += part[thread + 128];
  __syncthreads();
  if (thread < 64) part[thread] += part[thread + 64];
  __syncthreads();
  if (thread < 32) sum_last_warp(part, thread);
}

// Step 5: no loop left.
__global__ void reduce_unrolled(const float* in, float* out, int) {
  __shared__ float part[kThreads];
  const int thread = threadIdx.x, first = blockIdx.x * kThreads * 2 + thread;
  part[thread] = in[first] + in[first + kThreads];
  sum_block(part, thread);
  if (thread == 0) out[blockIdx.x] = part[0];
}

// The sum of a thread's elements: each of the block's threads takes every 256th of the block's part.
__device__ float sum_own(const float* in, int each) {
  const float* own = in + blockIdx.x * kThreads * each + threadIdx.x;
  float sum = 0.0f;
#pragma unroll 8
  for (int i = 0; i < each; ++i) sum += own[i * kThreads];
  return sum;
}

// Step 6: many elements for each thread, so that a tree serves more of them.
__global__ void reduce_many(const float* in, float* out, int each) {
  __shared__ float part[kThreads];
  part[threadIdx.x] = sum_own(in, each);
  sum_block(part, threadIdx.x);
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// The sum over the lanes of a warp, in lane 0.
__device__ float sum_lanes(float sum) {
#pragma unroll
  for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
  return sum;
}

// Step 7: lanes exchange registers. Shared memory is only for the sums of eight warps.
__global__ void reduce_shuffle(const float* in, float* out, int each) {
  __shared__ float part[kThreads / 32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = sum_lanes(sum_own(in, each));
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  if (warp > 0) return;
  sum = sum_lanes(lane < kThreads / 32 ? part[lane] : 0.0f);
  if (lane == 0) out[blockIdx.x] = sum;
}

struct Step {
  const char* name;
  void (*kernel)(const float*, float*, int);
  int each;  // elements of a thread; 0: as many as make 1024 blocks, at least four
};

const Step kSteps[] = {
    {"reduce_interleaved", reduce_interleaved, 1},
    {"reduce_strided", reduce_strided, 1},
    {"reduce_sequential", reduce_sequential, 1},
    {"reduce_on_load", reduce_on_load, 2},
    {"reduce_last_warp", reduce_last_warp, 2},
    {"reduce_unrolled", reduce_unrolled, 2},
    {"reduce_many", reduce_many, 0},
    {"reduce_shuffle", reduce_shuffle, 0},
};

// Elements of a thread.
int elements_of_thread(const Step& step, int n) {
  if (step.each > 0) return step.each;
  int each = 4;
  while (n / (kThreads * each) > 1024 && n % (kThreads * each * 2) == 0) each *= 2;
  return each;
}

// The elements are whole numbers so small that every sum is exact, in any order: the sums of all blocks are.
bool right_sums(const std::vector<float>& in, const std::vector<float>& sums) {
  const std::size_t part = in.size() / sums.size();
  for (std::size_t block = 0; block < sums.size(); ++block) {
    long long want = 0;
    for (std::size_t i = 0; i < part; ++i) want += static_cast<int>(in[block * part + i]);
    if (static_cast<float>(want) != sums[block]) {
      std::printf("the sum of block %zu is %g instead of %lld\n", block, static_cast<double>(sums[block]),
                  want);
      return false;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  const Ladder ladder{"reduction", 0, 7, 1 << 20, 1024, 1 << 28};
  const Arguments arguments = ladder_arguments(argc, argv, ladder);
  const Step& step = kSteps[arguments.step];
  const int n = arguments.size, each = elements_of_thread(step, n), blocks = n / (kThreads * each);
  Sequence random;
  std::vector<float> in(n);
  for (float& value : in) value = static_cast<float>(random.next() % 101) - 40.0f;
  Buffer<float> din(in), sums(blocks);
  const auto launch = [&] { step.kernel<<<blocks, kThreads>>>(din.data, sums.data, each); };
  for (int i = 0; i < arguments.warm_ups; ++i) launch();
  const float time = milliseconds_of(launch);
  print_rate(ladder, arguments, step.name, time, 4.0 * n, "GB/s");
  return verdict(step.name, right_sums(in, sums.get()));
}
