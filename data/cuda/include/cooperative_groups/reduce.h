// Reductions over a tile.
#pragma once

#include "../cooperative_groups.h"

#if defined(__CUDA__) && defined(__clang__) && __cplusplus >= 201103L
namespace cooperative_groups {

template <class T> struct plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
  __device__ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
  __device__ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
  __device__ T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned int N, class Parent, class T, class Operation>
static __inline__ __device__ T reduce(const thread_block_tile<N, Parent>& tile, T v, Operation f) {
  for (int distance = (int)N / 2; distance > 0; distance /= 2) v = f(v, tile.shfl_xor(v, distance));
  return v;
}

}  // namespace cooperative_groups
#endif
