// Atomic operations of all lanes on one place, which one lane of a warp does for the others: sums of one number and of
// different ones, what they return, minima, maxima, bits, in global and shared memory, in part of a warp and in loops.
#include "check.h"

constexpr unsigned blocks = 3, threads = 200, step = 5, count = blocks * threads;

__global__ void work(unsigned* out, int* least, unsigned n, unsigned* got, unsigned* share, unsigned* in_shared, int* taken) {
  __shared__ unsigned sums[2];
  __shared__ int difference;
  const unsigned t = threadIdx.x + blockIdx.x * blockDim.x;
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  if (threadIdx.x == 0) difference = 0;
  __syncthreads();
  atomicAdd(&out[0], 1u);
  atomicAdd(&out[1], n);
  atomicAdd(&out[2], t);
  if (t % 3 == 1) atomicMax(&out[3], t * 7919u % 1009u);
  if (t % 5 == 2) atomicOr(&out[4], 1u << t % 31);
  atomicXor(&out[5], t * 31u);
  atomicMin(least, static_cast<int>(t) - 300);
  got[t] = atomicAdd(&out[6], 1u);
  share[t] = t % 7 < 3 ? atomicAdd(&out[7], n) : ~0u;
  for (unsigned i = 0; i < t % 5; ++i) {
    atomicAdd(&out[8], i);
    atomicAdd(&sums[1], 1u);
    atomicSub(&difference, static_cast<int>(i));
  }
  atomicAdd(&sums[0], 2u);
  __syncthreads();
  if (threadIdx.x > 0) return;
  in_shared[blockIdx.x] = sums[0] + 1000 * sums[1];
  taken[blockIdx.x] = difference;
}

int main() {
  Shared<unsigned> out(9), got(count), share(count), in_shared(blocks);
  Shared<int> least(1), taken(blocks);
  work<<<blocks, threads>>>(out.p, least.p, step, got.p, share.p, in_shared.p, taken.p);
  CUDA(cudaDeviceSynchronize());
  unsigned wanted[9] = {}, rounds[blocks] = {}, sharers = 0;
  int difference[blocks] = {};
  for (unsigned t = 0; t < count; ++t) {
    wanted[0] += 1, wanted[1] += step, wanted[2] += t, wanted[5] ^= t * 31u, wanted[6] += 1;
    if (t % 3 == 1) wanted[3] = std::max(wanted[3], t * 7919u % 1009u);
    if (t % 5 == 2) wanted[4] |= 1u << t % 31;
    if (t % 7 < 3) wanted[7] += step, ++sharers;
    for (unsigned i = 0; i < t % 5; ++i) wanted[8] += i, ++rounds[t / threads], difference[t / threads] -= static_cast<int>(i);
  }
  for (unsigned k = 0; k < 9; ++k) EXPECT_EQ_AT(k, out[k], wanted[k]);
  EXPECT_EQ(least[0], -300);
  for (unsigned b = 0; b < blocks; ++b) {
    EXPECT_EQ_AT(b, in_shared[b], 2 * threads + 1000 * rounds[b]);
    EXPECT_EQ_AT(b, taken[b], difference[b]);
  }
  // Each got a place of its own.
  std::vector<unsigned> places(count), shares(sharers);
  for (unsigned t = 0; t < count; ++t) {
    EXPECT(got[t] < count);
    if (got[t] < count) ++places[got[t]];
    if (t % 7 >= 3) continue;
    EXPECT(share[t] % step == 0 && share[t] / step < sharers);
    if (share[t] / step < sharers) ++shares[share[t] / step];
  }
  for (unsigned k = 0; k < count; ++k) EXPECT_EQ_AT(k, places[k], 1u);
  for (unsigned k = 0; k < sharers; ++k) EXPECT_EQ_AT(k, shares[k], 1u);
  return verdict("atomics_on_one_place");
}
