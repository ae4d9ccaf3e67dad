// Prefix sums over a tile or a coalesced group, in the order of thread ranks.
#pragma once

#include "../cooperative_groups.h"
#include "../simtlab/group_operations.h"

#if defined(__CUDA__) && defined(__clang__) && __cplusplus >= 201103L
namespace cooperative_groups {

template <class Group, class T, class Operation>
static __inline__ __device__ T inclusive_scan(const Group& g, T v, Operation f) {
  for (unsigned int distance = 1; distance < g.size(); distance *= 2) {
    const T other = g.shfl_up(v, distance);
    if (g.thread_rank() >= distance) v = f(other, v);
  }
  return v;
}
template <class Group, class T>
static __inline__ __device__ T inclusive_scan(const Group& g, T v) {
  return inclusive_scan(g, v, plus<T>());
}
// The first thread has nothing before it: it gets T().
template <class Group, class T, class Operation>
static __inline__ __device__ T exclusive_scan(const Group& g, T v, Operation f) {
  const T before = g.shfl_up(inclusive_scan(g, v, f), 1);
  return g.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
static __inline__ __device__ T exclusive_scan(const Group& g, T v) {
  return exclusive_scan(g, v, plus<T>());
}

}  // namespace cooperative_groups
#endif
