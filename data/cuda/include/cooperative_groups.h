// Cooperative groups: thread blocks, tiles of a warp, coalesced groups. A grid group exists for its numbers; synchronising a
// whole grid is refused at compile time.
#pragma once

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__clang__) && __cplusplus >= 201103L

namespace cooperative_groups {

#define SIMTLAB_D static __inline__ __device__

namespace details {
template <class T>
struct never {
  static constexpr bool value = false;
};
static __inline__ __device__ unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
static __inline__ __device__ unsigned int lanes_below() { return (1u << lane()) - 1u; }
static __inline__ __device__ unsigned int thread_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
}  // namespace details

class thread_block {
 public:
  __device__ void sync() const { __syncthreads(); }
  static __device__ unsigned int thread_rank() { return details::thread_in_block(); }
  static __device__ unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
  static __device__ unsigned int num_threads() { return size(); }
  static __device__ dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __device__ dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __device__ dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __device__ dim3 dim_threads() { return group_dim(); }
};
SIMTLAB_D thread_block this_thread_block() { return thread_block(); }

class grid_group {
 public:
  template <class T = void>
  __device__ void sync() const {
    static_assert(details::never<T>::value, "simtlab cannot synchronise a whole grid: split the kernel into several launches");
  }
  __device__ bool is_valid() const { return false; }
  static __device__ unsigned long long size() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
  }
  static __device__ unsigned long long num_threads() { return size(); }
  static __device__ unsigned long long thread_rank() {
    const unsigned long long block = ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block * thread_block::size() + details::thread_in_block();
  }
  static __device__ dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
};
SIMTLAB_D grid_group this_grid() { return grid_group(); }

// A power-of-two part of a warp, its size known at compile time.
template <unsigned int N, class Parent = void>
class thread_block_tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  static __device__ unsigned int thread_rank() { return details::thread_in_block() & (N - 1); }
  static __device__ constexpr unsigned int size() { return N; }
  static __device__ constexpr unsigned int num_threads() { return N; }
  static __device__ unsigned int meta_group_size() { return (thread_block::size() + N - 1) / N; }
  static __device__ unsigned int meta_group_rank() { return details::thread_in_block() / N; }
  __device__ void sync() const { __syncwarp(mask()); }
  template <class T> __device__ T shfl(T v, int rank) const { return __shfl_sync(mask(), v, rank, N); }
  template <class T> __device__ T shfl_up(T v, unsigned int d) const { return __shfl_up_sync(mask(), v, d, N); }
  template <class T> __device__ T shfl_down(T v, unsigned int d) const { return __shfl_down_sync(mask(), v, d, N); }
  template <class T> __device__ T shfl_xor(T v, int m) const { return __shfl_xor_sync(mask(), v, m, N); }
  __device__ int any(int predicate) const { return ballot(predicate) != 0; }
  __device__ int all(int predicate) const { return ballot(predicate) == (mask() >> shift()); }
  __device__ unsigned int ballot(int predicate) const { return (__ballot_sync(mask(), predicate) & mask()) >> shift(); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class T> __device__ unsigned int match_any(T v) const { return (__match_any_sync(mask(), v) & mask()) >> shift(); }
  template <class T> __device__ unsigned int match_all(T v, int& p) const {
    return (__match_all_sync(mask(), v, &p) & mask()) >> shift();
  }
#endif

 private:
  static __device__ unsigned int shift() { return details::lane() & ~(N - 1) & 31u; }
  static __device__ unsigned int mask() { return (N == 32 ? 0xffffffffu : (1u << (N & 31)) - 1u) << shift(); }
};

// The threads of a warp that are active where the group is made.
class coalesced_group {
 public:
  explicit __device__ coalesced_group(unsigned int mask) : mask_(mask) {}
  __device__ unsigned int size() const { return (unsigned int)__popc(mask_); }
  __device__ unsigned int num_threads() const { return size(); }
  __device__ unsigned int thread_rank() const { return (unsigned int)__popc(mask_ & details::lanes_below()); }
  __device__ void sync() const { __syncwarp(mask_); }
  template <class T> __device__ T shfl(T v, unsigned int rank) const { return __shfl_sync(mask_, v, (int)lane_of(rank)); }
  template <class T> __device__ T shfl_down(T v, unsigned int d) const {
    const unsigned int to = thread_rank() + d;
    return __shfl_sync(mask_, v, (int)lane_of(to < size() ? to : thread_rank()));
  }
  template <class T> __device__ T shfl_up(T v, unsigned int d) const {
    const unsigned int me = thread_rank();
    return __shfl_sync(mask_, v, (int)lane_of(me >= d ? me - d : me));
  }
  __device__ int any(int predicate) const { return __ballot_sync(mask_, predicate) != 0; }
  __device__ int all(int predicate) const { return __ballot_sync(mask_, predicate) == mask_; }
  __device__ unsigned int ballot(int predicate) const {
    const unsigned int lanes = __ballot_sync(mask_, predicate);
    unsigned int packed = 0;
    for (unsigned int i = 0; i < size(); ++i) packed |= ((lanes >> lane_of(i)) & 1u) << i;
    return packed;
  }

 private:
  __device__ unsigned int lane_of(unsigned int rank) const {
    unsigned int rest = mask_;
    for (unsigned int i = 0; i < rank; ++i) rest &= rest - 1;
    return (unsigned int)__ffs((int)rest) - 1u;
  }
  unsigned int mask_;
};
SIMTLAB_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int N, class Parent>
static __inline__ __device__ thread_block_tile<N, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<N, Parent>();
}

template <class Group>
static __inline__ __device__ void sync(const Group& g) {
  g.sync();
}
template <class Group>
static __inline__ __device__ auto thread_rank(const Group& g) -> decltype(g.thread_rank()) {
  return g.thread_rank();
}
template <class Group>
static __inline__ __device__ auto group_size(const Group& g) -> decltype(g.size()) {
  return g.size();
}

#undef SIMTLAB_D

}  // namespace cooperative_groups
#endif
