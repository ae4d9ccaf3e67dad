// Cooperative groups: clusters, thread blocks, tiles of a warp, coalesced groups, groups of unknown kind. A grid group exists for
// its numbers; synchronising a whole grid is refused at compile time.
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
SIMTLAB_D unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
SIMTLAB_D unsigned int lanes_below(unsigned int of) { return (1u << of) - 1u; }
SIMTLAB_D unsigned int thread_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
SIMTLAB_D unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
// The aligned lanes that hold a tile of this thread; n is a power of two up to 32.
SIMTLAB_D unsigned int tile_shift(unsigned int n) { return lane() & ~(n - 1) & 31u; }
SIMTLAB_D unsigned int tile_mask(unsigned int n) { return (0xffffffffu >> (32u - n)) << tile_shift(n); }
// The lane of the member with a rank.
SIMTLAB_D unsigned int lane_of(unsigned int members, unsigned int rank) {
  for (unsigned int i = 0; i < rank; ++i) members &= members - 1;
  return (unsigned int)__ffs((int)members) - 1u;
}
// The bits of `lanes` at the members, moved together.
SIMTLAB_D unsigned int packed(unsigned int members, unsigned int lanes) {
  unsigned int result = 0;
  for (unsigned int i = 0; members != 0; ++i, members &= members - 1)
    result |= ((lanes >> (__ffs((int)members) - 1)) & 1u) << i;
  return result;
}
// The members whose rank is in the same run of n as that of this thread.
SIMTLAB_D unsigned int run_of(unsigned int members, unsigned int n) {
  const unsigned int first = (unsigned int)__popc(members & lanes_below(lane())) / n * n;
  unsigned int result = 0, rank = 0;
  for (; members != 0; members &= members - 1, ++rank)
    if (rank - first < n) result |= members & (0u - members);
  return result;
}
// A value of any size, moved between lanes by 32-bit words.
template <class T, class Move>
SIMTLAB_D T by_words(const T& v, Move move) {
  unsigned int words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &v, sizeof(T));
#pragma unroll
  for (unsigned int i = 0; i < sizeof(words) / 4; ++i) words[i] = move(words[i]);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}
}  // namespace details

// A group whose kind is known at run time only: a block, or lanes of a warp.
class thread_group {
 public:
  __device__ unsigned int size() const { return mask_ == 0 ? details::block_size() : (unsigned int)__popc(mask_); }
  __device__ unsigned int num_threads() const { return size(); }
  __device__ unsigned int thread_rank() const {
    return mask_ == 0 ? details::thread_in_block() : (unsigned int)__popc(mask_ & details::lanes_below(details::lane()));
  }
  __device__ bool is_valid() const { return true; }
  __device__ void sync() const {
    if (mask_ == 0)
      __syncthreads();
    else
      __syncwarp(mask_);
  }
  explicit __device__ thread_group(unsigned int mask) : mask_(mask) {}

 private:
  friend __device__ thread_group tiled_partition(const thread_group& g, unsigned int n);
  unsigned int mask_;  // 0: the block
};

class thread_block {
 public:
  __device__ void sync() const { __syncthreads(); }
  static __device__ unsigned int thread_rank() { return details::thread_in_block(); }
  static __device__ unsigned int size() { return details::block_size(); }
  static __device__ unsigned int num_threads() { return size(); }
  static __device__ dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static __device__ dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static __device__ dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static __device__ dim3 dim_threads() { return group_dim(); }
  __device__ bool is_valid() const { return true; }
  __device__ operator thread_group() const { return thread_group(0); }
};
SIMTLAB_D thread_block this_thread_block() { return thread_block(); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
class cluster_group {
 public:
  struct arrival_token {};
  static __device__ void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static __device__ arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return arrival_token();
  }
  static __device__ void barrier_wait(arrival_token&&) { __cluster_barrier_wait(); }
  static __device__ void barrier_wait() { __cluster_barrier_wait(); }
  static __device__ unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  static __device__ unsigned int thread_rank() { return block_rank() * details::block_size() + details::thread_in_block(); }
  static __device__ unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  static __device__ unsigned int num_threads() { return num_blocks() * details::block_size(); }
  static __device__ unsigned int size() { return num_threads(); }
  static __device__ dim3 dim_blocks() { return __clusterDim(); }
  static __device__ dim3 dim_threads() {
    const dim3 blocks = __clusterDim();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  static __device__ dim3 group_dim() { return __clusterDim(); }
  static __device__ dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static __device__ dim3 group_index() { return __clusterIdx(); }
  static __device__ dim3 thread_index() {
    const dim3 block = __clusterRelativeBlockIdx();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y, block.z * blockDim.z + threadIdx.z);
  }
  static __device__ unsigned int query_shared_rank(const void* address) { return __cluster_query_shared_rank(address); }
  template <class T>
  static __device__ T* map_shared_rank(T* address, int rank) {
    return (T*)__cluster_map_shared_rank(address, (unsigned int)rank);
  }
  __device__ bool is_valid() const { return true; }
};
SIMTLAB_D cluster_group this_cluster() { return cluster_group(); }
#endif

class grid_group {
 public:
  template <class T = void>
  __device__ void sync() const {
    static_assert(details::never<T>::value, "simtlab cannot synchronise a whole grid: split the kernel into several launches");
  }
  __device__ bool is_valid() const { return false; }
  static __device__ unsigned long long size() { return num_blocks() * details::block_size(); }
  static __device__ unsigned long long num_threads() { return size(); }
  static __device__ unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static __device__ unsigned long long thread_rank() {
    return block_rank() * details::block_size() + details::thread_in_block();
  }
  static __device__ unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static __device__ dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static __device__ dim3 dim_blocks() { return group_dim(); }
  static __device__ dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
SIMTLAB_D grid_group this_grid() { return grid_group(); }

template <unsigned int N, class Parent = void>
class thread_block_tile;

namespace details {
// What the tiles of N threads share.
template <unsigned int N>
class tile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0,
                "simtlab: a tile has 1, 2, 4, 8, 16 or 32 threads; tiles of several warps are not supported");

 public:
  static __device__ unsigned int thread_rank() { return thread_in_block() & (N - 1); }
  static __device__ constexpr unsigned int size() { return N; }
  static __device__ constexpr unsigned int num_threads() { return N; }
  __device__ bool is_valid() const { return true; }
  __device__ void sync() const { __syncwarp(mask()); }
  template <class T> __device__ T shfl(T v, int rank) const {
    return by_words(v, [=](unsigned int w) { return __shfl_sync(mask(), w, rank, N); });
  }
  template <class T> __device__ T shfl_up(T v, unsigned int d) const {
    return by_words(v, [=](unsigned int w) { return __shfl_up_sync(mask(), w, d, N); });
  }
  template <class T> __device__ T shfl_down(T v, unsigned int d) const {
    return by_words(v, [=](unsigned int w) { return __shfl_down_sync(mask(), w, d, N); });
  }
  template <class T> __device__ T shfl_xor(T v, unsigned int m) const {
    return by_words(v, [=](unsigned int w) { return __shfl_xor_sync(mask(), w, (int)m, N); });
  }
  __device__ int any(int predicate) const { return ballot(predicate) != 0; }
  __device__ int all(int predicate) const { return ballot(predicate) == (mask() >> tile_shift(N)); }
  __device__ unsigned int ballot(int predicate) const { return (__ballot_sync(mask(), predicate) & mask()) >> tile_shift(N); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class T> __device__ unsigned int match_any(T v) const {
    return (__match_any_sync(mask(), v) & mask()) >> tile_shift(N);
  }
  template <class T> __device__ unsigned int match_all(T v, int& p) const {
    return (__match_all_sync(mask(), v, &p) & mask()) >> tile_shift(N);
  }
#endif
  __device__ operator thread_group() const { return thread_group(mask()); }

 protected:
  static __device__ unsigned int mask() { return tile_mask(N); }
};

// The number of threads that a parent gives to its tiles: a tile's own, else the block's.
template <class Parent>
struct parent_size {
  static __device__ unsigned int get() { return block_size(); }
};
template <unsigned int P, class Grandparent>
struct parent_size<thread_block_tile<P, Grandparent> > {
  static __device__ unsigned int get() { return P; }
};
}  // namespace details

// A power-of-two part of a warp, its size known at compile time.
template <unsigned int N, class Parent>
class thread_block_tile : public details::tile<N> {
 public:
  static __device__ unsigned int meta_group_size() { return (details::parent_size<Parent>::get() + N - 1) / N; }
  static __device__ unsigned int meta_group_rank() {
    return details::thread_in_block() % details::parent_size<Parent>::get() / N;
  }
};
// The same with its parent forgotten: what functions take as thread_block_tile<N>.
template <unsigned int N>
class thread_block_tile<N, void> : public details::tile<N> {
 public:
  template <class Parent>
  __device__ thread_block_tile(const thread_block_tile<N, Parent>& t)
      : meta_size_(t.meta_group_size()), meta_rank_(t.meta_group_rank()) {}
  __device__ unsigned int meta_group_size() const { return meta_size_; }
  __device__ unsigned int meta_group_rank() const { return meta_rank_; }

 private:
  unsigned int meta_size_, meta_rank_;
};

// Lanes of a warp: those active where the group is made, or a part of another group.
class coalesced_group {
 public:
  explicit __device__ coalesced_group(unsigned int mask, unsigned int meta_size = 1, unsigned int meta_rank = 0)
      : mask_(mask), meta_size_(meta_size), meta_rank_(meta_rank) {}
  __device__ unsigned int size() const { return (unsigned int)__popc(mask_); }
  __device__ unsigned int num_threads() const { return size(); }
  __device__ unsigned int thread_rank() const { return (unsigned int)__popc(mask_ & details::lanes_below(details::lane())); }
  __device__ unsigned int meta_group_size() const { return meta_size_; }
  __device__ unsigned int meta_group_rank() const { return meta_rank_; }
  __device__ bool is_valid() const { return true; }
  __device__ void sync() const { __syncwarp(mask_); }
  template <class T> __device__ T shfl(T v, unsigned int rank) const { return from_lane(v, details::lane_of(mask_, rank)); }
  template <class T> __device__ T shfl_down(T v, unsigned int d) const {
    const unsigned int me = thread_rank();
    return from_lane(v, details::lane_of(mask_, me + d < size() ? me + d : me));
  }
  template <class T> __device__ T shfl_up(T v, unsigned int d) const {
    const unsigned int me = thread_rank();
    return from_lane(v, details::lane_of(mask_, me >= d ? me - d : me));
  }
  __device__ int any(int predicate) const { return __ballot_sync(mask_, predicate) != 0; }
  __device__ int all(int predicate) const { return __ballot_sync(mask_, predicate) == mask_; }
  __device__ unsigned int ballot(int predicate) const { return details::packed(mask_, __ballot_sync(mask_, predicate)); }
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  template <class T> __device__ unsigned int match_any(T v) const {
    return details::packed(mask_, __match_any_sync(mask_, v));
  }
  template <class T> __device__ unsigned int match_all(T v, int& p) const {
    return details::packed(mask_, __match_all_sync(mask_, v, &p));
  }
#endif
  __device__ operator thread_group() const { return thread_group(mask_); }
  // The part of this group with these lanes, one of several that every member takes part in making.
  __device__ coalesced_group part(unsigned int lanes) const {
    const unsigned int first = lanes & (0u - lanes);
    const unsigned int firsts = __ballot_sync(mask_, first == 1u << details::lane());
    return coalesced_group(lanes, (unsigned int)__popc(firsts), (unsigned int)__popc(firsts & (first - 1)));
  }
  __device__ unsigned int simtlab_mask() const { return mask_; }

 private:
  template <class T> __device__ T from_lane(const T& v, unsigned int lane) const {
    const unsigned int mask = mask_;
    return details::by_words(v, [=](unsigned int w) { return __shfl_sync(mask, w, (int)lane); });
  }
  unsigned int mask_, meta_size_, meta_rank_;
};
SIMTLAB_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// Partitions: into tiles of a size known to the compiler, of a size known at run time, by a value.
template <unsigned int N, class Parent>
SIMTLAB_D thread_block_tile<N, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<N, Parent>();
}
inline __device__ thread_group tiled_partition(const thread_group& g, unsigned int n) {
  return thread_group(g.mask_ == 0 ? details::tile_mask(n) : details::run_of(g.mask_, n));
}
SIMTLAB_D thread_group tiled_partition(const thread_block&, unsigned int n) { return thread_group(details::tile_mask(n)); }
SIMTLAB_D coalesced_group tiled_partition(const coalesced_group& g, unsigned int n) {
  return coalesced_group(details::run_of(g.simtlab_mask(), n), (g.size() + n - 1) / n, g.thread_rank() / n);
}

namespace details {
template <unsigned int N, class Parent>
SIMTLAB_D coalesced_group members(const thread_block_tile<N, Parent>&) {
  return coalesced_group(tile_mask(N));
}
SIMTLAB_D coalesced_group members(const coalesced_group& g) { return g; }
}  // namespace details
template <class Group>
SIMTLAB_D coalesced_group binary_partition(const Group& g, bool predicate) {
  const coalesced_group all = details::members(g);
  const unsigned int with = __ballot_sync(all.simtlab_mask(), predicate);
  return all.part(predicate ? with : all.simtlab_mask() & ~with);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
template <class Group, class Label>
SIMTLAB_D coalesced_group labeled_partition(const Group& g, Label label) {
  const coalesced_group all = details::members(g);
  return all.part(__match_any_sync(all.simtlab_mask(), label));
}
#endif

template <class Group>
SIMTLAB_D void sync(const Group& g) {
  g.sync();
}
template <class Group>
SIMTLAB_D auto thread_rank(const Group& g) -> decltype(g.thread_rank()) {
  return g.thread_rank();
}
template <class Group>
SIMTLAB_D auto group_size(const Group& g) -> decltype(g.size()) {
  return g.size();
}

#undef SIMTLAB_D

}  // namespace cooperative_groups
#endif
