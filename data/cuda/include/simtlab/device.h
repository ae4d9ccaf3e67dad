// Device side of CUDA C++ for clang: built-in variables, intrinsics, mathematical functions, atomics, textures, printf.
#pragma once

typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;

// clang's wrappers choose by toolkit version. Below 9.2 they send the SIMD-in-a-word functions to the device library, which
// then compute with plain integer operations instead of the video instructions that GPUs since Maxwell only emulate.
#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 9010
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#define __log2f __simtlab_log2f
#define __powf __simtlab_powf
#include <__clang_cuda_device_functions.h>
#undef __log2f
#undef __powf
#include <__clang_cuda_math.h>

// Of powers of two both are exact. As constants they let the compiler unroll loops that count by them, as nvcc's does.
static __device__ __forceinline__ bool __simtlab_power_of_two(float a) {
  const unsigned bits = __builtin_bit_cast(unsigned, a);
  return (bits & 0x807fffffu) == 0 && bits >= 0x00800000u && bits <= 0x7f000000u;
}
static __device__ __forceinline__ float __log2f(float a) {
  if (__builtin_constant_p(a) && __simtlab_power_of_two(a))
    return (float)((int)(__builtin_bit_cast(unsigned, a) >> 23) - 127);
  return __simtlab_log2f(a);
}
static __device__ __forceinline__ float __powf(float a, float b) {
  if (__builtin_constant_p(a) && __builtin_constant_p(b) && __simtlab_power_of_two(a)) {
    const float exponent = b * (float)((int)(__builtin_bit_cast(unsigned, a) >> 23) - 127);
    if (exponent >= -126.0f && exponent <= 127.0f && exponent == (float)(int)exponent)
      return __builtin_bit_cast(float, (unsigned)((int)exponent + 127) << 23);
  }
  return __simtlab_powf(a, b);
}
#undef CUDA_VERSION
#define CUDA_VERSION 12000

extern "C" {
// System calls of the device, which the simulator executes.
__device__ int vprintf(const char*, const char*);
__device__ void free(void*) __attribute__((nothrow));
__device__ void* malloc(size_t) __attribute__((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t char_size);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line, const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char*, ...);
}
namespace std {
__device__ static inline void free(void* p) { ::free(p); }
__device__ static inline void* malloc(size_t size) { return ::malloc(size); }
}  // namespace std
#include <new>  // clang's wrapper: its device operators call the two functions above

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return make_uint3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return make_uint3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return make_uint3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return make_uint3(x, y, z); }

// Address spaces: clang's sm_90 wrappers call these.
static __device__ __forceinline__ __attribute__((const)) unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
static __device__ __forceinline__ __attribute__((const)) unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
static __device__ __forceinline__ __attribute__((const)) unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
static __device__ __forceinline__ __attribute__((const)) unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
static __device__ __forceinline__ size_t __cvta_generic_to_shared(const void* p) {
  return (size_t)(void __attribute__((address_space(3)))*)p;
}
static __device__ __forceinline__ size_t __cvta_generic_to_global(const void* p) {
  return (size_t)(void __attribute__((address_space(1)))*)p;
}
static __device__ __forceinline__ size_t __cvta_generic_to_local(const void* p) {
  return (size_t)(void __attribute__((address_space(5)))*)p;
}
static __device__ __forceinline__ size_t __cvta_generic_to_constant(const void* p) {
  return (size_t)(void __attribute__((address_space(4)))*)p;
}
static __device__ __forceinline__ void* __cvta_shared_to_generic(size_t p) {
  return (void*)(void __attribute__((address_space(3)))*)p;
}
static __device__ __forceinline__ void* __cvta_global_to_generic(size_t p) {
  return (void*)(void __attribute__((address_space(1)))*)p;
}

#include <__clang_cuda_cmath.h>
// clang 19's warp reductions swap value and mask: they get other names, device_intrinsics.h has the right ones.
#define __reduce_add_sync simtlab_swapped_reduce_add
#define __reduce_min_sync simtlab_swapped_reduce_min
#define __reduce_max_sync simtlab_swapped_reduce_max
#define __reduce_and_sync simtlab_swapped_reduce_and
#define __reduce_or_sync simtlab_swapped_reduce_or
#define __reduce_xor_sync simtlab_swapped_reduce_xor
#include <__clang_cuda_intrinsics.h>
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync
#include <__clang_cuda_complex_builtins.h>
#pragma pop_macro("CUDA_VERSION")

#include "math_overloads.h"
#include "atomics.h"
#include "device_intrinsics.h"
#if __cplusplus >= 201103L
#include "absent_textures.h"
#endif
#include "texture_functions.h"
