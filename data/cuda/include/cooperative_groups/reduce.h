// Reductions over a tile or a coalesced group. Every member gets the result.
#pragma once

#include "../cooperative_groups.h"
#include "../simtlab/group_operations.h"

#if defined(__CUDA__) && defined(__clang__) && __cplusplus >= 201103L
namespace cooperative_groups {

template <unsigned int N, class Parent, class T, class Operation>
static __inline__ __device__ T reduce(const thread_block_tile<N, Parent>& tile, T v, Operation f) {
#pragma unroll
  for (unsigned int distance = N / 2; distance > 0; distance /= 2) v = f(v, tile.shfl_xor(v, distance));
  return v;
}
template <class T, class Operation>
static __inline__ __device__ T reduce(const coalesced_group& g, T v, Operation f) {
  for (unsigned int distance = 1; distance < g.size(); distance *= 2) {
    const T other = g.shfl_down(v, distance);
    if (g.thread_rank() + distance < g.size()) v = f(v, other);
  }
  return g.shfl(v, 0);
}

}  // namespace cooperative_groups
#endif
