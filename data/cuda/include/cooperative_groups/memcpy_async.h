// Copies to shared memory by a whole group. From sm_80 on they are asynchronous copies (cp.async) where the alignment of
// both sides allows it; elsewhere loads and stores. wait() makes what every member copied visible to all.
#pragma once

#include "../cooperative_groups.h"

#if defined(__CUDA__) && defined(__clang__) && __cplusplus >= 201103L

namespace cuda {
// A size with a promise about the alignment of both addresses and of itself.
template <size_t alignment>
struct aligned_size_t {
  size_t value;
  __device__ explicit aligned_size_t(size_t bytes) : value(bytes) {}
  __device__ operator size_t() const { return value; }
};
}  // namespace cuda

namespace cooperative_groups {

namespace details {
template <unsigned int bytes>
struct async_word;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define SIMTLAB_ASYNC_WORD(bytes, type)                                                                        \
  template <>                                                                                                  \
  struct async_word<bytes> {                                                                                   \
    static __device__ void copy(void* to, const void* from) {                                                  \
      if (__isShared(to) && __isGlobal(from))                                                                  \
        asm volatile("cp.async.ca.shared.global [%0], [%1], " #bytes ";"                                       \
                     :                                                                                         \
                     : "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from))    \
                     : "memory");                                                                              \
      else                                                                                                     \
        *(type*)to = *(const type*)from;                                                                       \
    }                                                                                                          \
  };
#else
#define SIMTLAB_ASYNC_WORD(bytes, type)                                                                        \
  template <>                                                                                                  \
  struct async_word<bytes> {                                                                                   \
    static __device__ void copy(void* to, const void* from) { *(type*)to = *(const type*)from; }               \
  };
#endif
SIMTLAB_ASYNC_WORD(4, unsigned int)
SIMTLAB_ASYNC_WORD(8, uint2)
SIMTLAB_ASYNC_WORD(16, uint4)
#undef SIMTLAB_ASYNC_WORD

template <unsigned int word, class Group>
static __inline__ __device__ size_t copy_words(const Group& g, char* to, const char* from, size_t bytes) {
  const size_t whole = bytes / word * word;
  for (size_t at = (size_t)g.thread_rank() * word; at < whole; at += (size_t)g.size() * word)
    async_word<word>::copy(to + at, from + at);
  return whole;
}
}  // namespace details

template <class Group, class To, class From>
static __inline__ __device__ void memcpy_async(const Group& g, To* to, const From* from, size_t bytes) {
  char* const t = (char*)to;
  const char* const f = (const char*)from;
  const size_t both = (size_t)t | (size_t)f;
  size_t done = 0;
  if ((both & 15) == 0)
    done = details::copy_words<16>(g, t, f, bytes);
  else if ((both & 7) == 0)
    done = details::copy_words<8>(g, t, f, bytes);
  else if ((both & 3) == 0)
    done = details::copy_words<4>(g, t, f, bytes);
  for (size_t at = done + g.thread_rank(); at < bytes; at += g.size()) t[at] = f[at];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Elements, as many as the shorter side has.
template <class Group, class T, class ToCount, class FromCount>
static __inline__ __device__ void memcpy_async(const Group& g, T* to, ToCount to_count, const T* from, FromCount from_count) {
  const size_t a = (size_t)to_count, b = (size_t)from_count;
  memcpy_async(g, to, from, (a < b ? a : b) * sizeof(T));
}
// All copies but the last `stages` ones.
template <unsigned int stages, class Group>
static __inline__ __device__ void wait_prior(const Group& g) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(stages) : "memory");
#endif
  g.sync();
}
template <class Group>
static __inline__ __device__ void wait(const Group& g) {
  wait_prior<0>(g);
}

}  // namespace cooperative_groups
#endif
