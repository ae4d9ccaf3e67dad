// One lane takes places for its whole warp and tells the others: `base` is set in one branch only, and shuffled by all.
#include "check.h"

__global__ void compact(const int* in, int* out, unsigned int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned int lane = threadIdx.x % 32;
  const bool keep = i < n && in[i] % 3 == 0;
  const unsigned int keepers = __ballot_sync(0xffffffffu, keep);
  unsigned int base;
  if (lane == 0) base = atomicAdd(count, (unsigned int)__popc(keepers));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (keep) out[base + __popc(keepers & ((1u << lane) - 1))] = in[i];
}

// The leader is the first of the active lanes.
__device__ int aggregated_add(int* counter) {
  const unsigned int active = __activemask();
  const int leader = __ffs((int)active) - 1;
  const unsigned int lane = threadIdx.x % 32;
  int first;
  if (lane == (unsigned int)leader) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + __popc(active & ((1u << lane) - 1));
}
__global__ void tickets(int* counter, int* taken) {
  if (threadIdx.x % 4 != 1) atomicAdd(&taken[aggregated_add(counter)], 1);
}

int main() {
  const int n = 1000;
  Shared<int> in(n), out(n), counter(1), taken(256);
  Shared<unsigned int> count(1);
  std::vector<int> seen(n);
  int wanted = 0;
  for (int i = 0; i < n; ++i) {
    in[i] = (i * 7) % n;
    wanted += in[i] % 3 == 0;
  }
  compact<<<8, 128>>>(in.p, out.p, count.p, n);
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(count[0], (unsigned int)wanted);
  for (int i = 0; i < wanted; ++i) seen[out[i]] += out[i] % 3 == 0;
  for (int v = 0; v < n; v += 3) EXPECT_EQ_AT(v, seen[v], 1);

  tickets<<<2, 128>>>(counter.p, taken.p);
  CUDA(cudaDeviceSynchronize());
  EXPECT_EQ(counter[0], 192);
  for (int i = 0; i < 256; ++i) EXPECT_EQ_AT(i, taken[i], i < 192 ? 1 : 0);
  return verdict("warp_aggregated_atomics");
}
