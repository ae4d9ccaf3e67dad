// Asynchronous copies from global to shared memory, a thread at a time. Below sm_80 they are loads and stores.
#pragma once

#include "cooperative_groups/memcpy_async.h"

#if defined(__CUDA__) && defined(__clang__) && __cplusplus >= 201103L
static __inline__ __device__ void __pipeline_memcpy_async(void* shared, const void* global, size_t size, size_t zero_fill = 0) {
  if (zero_fill != 0) {
    for (size_t i = 0; i < size; ++i) ((char*)shared)[i] = i + zero_fill < size ? ((const char*)global)[i] : '\0';
  } else if (size == 4) {
    cooperative_groups::details::async_word<4>::copy(shared, global);
  } else if (size == 8) {
    cooperative_groups::details::async_word<8>::copy(shared, global);
  } else if (size == 16) {
    cooperative_groups::details::async_word<16>::copy(shared, global);
  } else {
    __trap();  // CUDA allows no other size
  }
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
static __inline__ __device__ void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// The instruction wants a constant. Waiting for more than asked is right too.
static __inline__ __device__ void __pipeline_wait_prior(size_t n) {
  if (n == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
  if (n == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
  if (n == 2) asm volatile("cp.async.wait_group 2;" ::: "memory");
  if (n >= 3) asm volatile("cp.async.wait_group 3;" ::: "memory");
}
#else
static __inline__ __device__ void __pipeline_commit() {}
static __inline__ __device__ void __pipeline_wait_prior(size_t) {}
#endif
#endif
