// Intrinsics that clang's headers lack: warp match and reduce helpers, cache-hinted loads and stores, dot products, timers.
#pragma once

#define SIMTLAB_D static __inline__ __device__

SIMTLAB_D void __nanosleep(unsigned int ns) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
  asm volatile("nanosleep.u32 %0;" : : "r"(ns));
#endif
}
SIMTLAB_D unsigned long long globaltimer(void) {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
#define SIMTLAB_MATCH(T, U, bits)                                                                     \
  SIMTLAB_D unsigned int __match_any_sync(unsigned int mask, T v) {                                   \
    return __match##bits##_any_sync(mask, __builtin_bit_cast(U, v));                                  \
  }                                                                                                   \
  SIMTLAB_D unsigned int __match_all_sync(unsigned int mask, T v, int* predicate) {                   \
    return __match##bits##_all_sync(mask, __builtin_bit_cast(U, v), predicate);                       \
  }
SIMTLAB_MATCH(int, unsigned int, 32)
SIMTLAB_MATCH(unsigned int, unsigned int, 32)
SIMTLAB_MATCH(float, unsigned int, 32)
SIMTLAB_MATCH(long, unsigned long long, 64)
SIMTLAB_MATCH(unsigned long, unsigned long long, 64)
SIMTLAB_MATCH(long long, unsigned long long, 64)
SIMTLAB_MATCH(unsigned long long, unsigned long long, 64)
SIMTLAB_MATCH(double, unsigned long long, 64)
#undef SIMTLAB_MATCH
#endif

// Reductions over a warp: one instruction since sm_80.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
SIMTLAB_D unsigned int __reduce_add_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_add(v, mask); }
SIMTLAB_D unsigned int __reduce_min_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umin(v, mask); }
SIMTLAB_D unsigned int __reduce_max_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_umax(v, mask); }
SIMTLAB_D int __reduce_add_sync(unsigned int mask, int v) { return __nvvm_redux_sync_add(v, mask); }
SIMTLAB_D int __reduce_min_sync(unsigned int mask, int v) { return __nvvm_redux_sync_min(v, mask); }
SIMTLAB_D int __reduce_max_sync(unsigned int mask, int v) { return __nvvm_redux_sync_max(v, mask); }
SIMTLAB_D unsigned int __reduce_and_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_and(v, mask); }
SIMTLAB_D unsigned int __reduce_or_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_or(v, mask); }
SIMTLAB_D unsigned int __reduce_xor_sync(unsigned int mask, unsigned int v) { return __nvvm_redux_sync_xor(v, mask); }
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
SIMTLAB_D int __dp4a(int a, int b, int c) {
  int d;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
SIMTLAB_D unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  unsigned int d;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
SIMTLAB_D int __dp4a(char4 a, char4 b, int c) { return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
SIMTLAB_D unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return __dp4a(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
#define SIMTLAB_DP2A(name, mode)                                                                      \
  SIMTLAB_D int name(int a, int b, int c) {                                                           \
    int d;                                                                                            \
    asm("dp2a." mode ".s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                  \
    return d;                                                                                         \
  }                                                                                                   \
  SIMTLAB_D unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                       \
    unsigned int d;                                                                                   \
    asm("dp2a." mode ".u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                  \
    return d;                                                                                         \
  }
SIMTLAB_DP2A(__dp2a_lo, "lo")
SIMTLAB_DP2A(__dp2a_hi, "hi")
#undef SIMTLAB_DP2A
#endif

// Loads and stores with a cache operator, by element size; aggregates of 8 and 16 bytes as vectors.
namespace simtlab_detail {
template <int bytes>
struct Hinted;
template <>
struct Hinted<1> {
  typedef unsigned short Raw;
  static __device__ Raw load_ca(const void* p) { Raw v; asm volatile("ld.global.ca.u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cg(const void* p) { Raw v; asm volatile("ld.global.cg.u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cs(const void* p) { Raw v; asm volatile("ld.global.cs.u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_lu(const void* p) { Raw v; asm volatile("ld.global.lu.u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cv(const void* p) { Raw v; asm volatile("ld.global.cv.u8 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ void store_wb(void* p, Raw v) { asm volatile("st.global.wb.u8 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
  static __device__ void store_cg(void* p, Raw v) { asm volatile("st.global.cg.u8 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
  static __device__ void store_cs(void* p, Raw v) { asm volatile("st.global.cs.u8 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
  static __device__ void store_wt(void* p, Raw v) { asm volatile("st.global.wt.u8 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
};
template <>
struct Hinted<2> {
  typedef unsigned short Raw;
  static __device__ Raw load_ca(const void* p) { Raw v; asm volatile("ld.global.ca.u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cg(const void* p) { Raw v; asm volatile("ld.global.cg.u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cs(const void* p) { Raw v; asm volatile("ld.global.cs.u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_lu(const void* p) { Raw v; asm volatile("ld.global.lu.u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cv(const void* p) { Raw v; asm volatile("ld.global.cv.u16 %0, [%1];" : "=h"(v) : "l"(p) : "memory"); return v; }
  static __device__ void store_wb(void* p, Raw v) { asm volatile("st.global.wb.u16 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
  static __device__ void store_cg(void* p, Raw v) { asm volatile("st.global.cg.u16 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
  static __device__ void store_cs(void* p, Raw v) { asm volatile("st.global.cs.u16 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
  static __device__ void store_wt(void* p, Raw v) { asm volatile("st.global.wt.u16 [%0], %1;" : : "l"(p), "h"(v) : "memory"); }
};
template <>
struct Hinted<4> {
  typedef unsigned int Raw;
  static __device__ Raw load_ca(const void* p) { Raw v; asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cg(const void* p) { Raw v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cs(const void* p) { Raw v; asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_lu(const void* p) { Raw v; asm volatile("ld.global.lu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cv(const void* p) { Raw v; asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
  static __device__ void store_wb(void* p, Raw v) { asm volatile("st.global.wb.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory"); }
  static __device__ void store_cg(void* p, Raw v) { asm volatile("st.global.cg.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory"); }
  static __device__ void store_cs(void* p, Raw v) { asm volatile("st.global.cs.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory"); }
  static __device__ void store_wt(void* p, Raw v) { asm volatile("st.global.wt.u32 [%0], %1;" : : "l"(p), "r"(v) : "memory"); }
};
template <>
struct Hinted<8> {
  typedef unsigned long long Raw;
  static __device__ Raw load_ca(const void* p) { Raw v; asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cg(const void* p) { Raw v; asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cs(const void* p) { Raw v; asm volatile("ld.global.cs.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_lu(const void* p) { Raw v; asm volatile("ld.global.lu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cv(const void* p) { Raw v; asm volatile("ld.global.cv.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
  static __device__ void store_wb(void* p, Raw v) { asm volatile("st.global.wb.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory"); }
  static __device__ void store_cg(void* p, Raw v) { asm volatile("st.global.cg.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory"); }
  static __device__ void store_cs(void* p, Raw v) { asm volatile("st.global.cs.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory"); }
  static __device__ void store_wt(void* p, Raw v) { asm volatile("st.global.wt.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory"); }
};
template <>
struct Hinted<16> {
  typedef uint4 Raw;
  static __device__ Raw load_ca(const void* p) { Raw v; asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cg(const void* p) { Raw v; asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cs(const void* p) { Raw v; asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_lu(const void* p) { Raw v; asm volatile("ld.global.lu.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
  static __device__ Raw load_cv(const void* p) { Raw v; asm volatile("ld.global.cv.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory"); return v; }
  static __device__ void store_wb(void* p, Raw v) { asm volatile("st.global.wb.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
  static __device__ void store_cg(void* p, Raw v) { asm volatile("st.global.cg.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
  static __device__ void store_cs(void* p, Raw v) { asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
  static __device__ void store_wt(void* p, Raw v) { asm volatile("st.global.wt.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
};
}  // namespace simtlab_detail

#define SIMTLAB_LOAD(name, op)                                                                        \
  template <class T>                                                                                  \
  SIMTLAB_D T name(const T* p) {                                                                      \
    typename simtlab_detail::Hinted<sizeof(T)>::Raw raw = simtlab_detail::Hinted<sizeof(T)>::op(p);   \
    T v;                                                                                              \
    __builtin_memcpy(&v, &raw, sizeof(T));                                                            \
    return v;                                                                                         \
  }
#define SIMTLAB_STORE(name, op)                                                                       \
  template <class T>                                                                                  \
  SIMTLAB_D void name(T* p, T v) {                                                                    \
    typename simtlab_detail::Hinted<sizeof(T)>::Raw raw = {};                                         \
    __builtin_memcpy(&raw, &v, sizeof(T));                                                            \
    simtlab_detail::Hinted<sizeof(T)>::op(p, raw);                                                    \
  }
SIMTLAB_LOAD(__ldca, load_ca)
SIMTLAB_LOAD(__ldcg, load_cg)
SIMTLAB_LOAD(__ldcs, load_cs)
SIMTLAB_LOAD(__ldlu, load_lu)
SIMTLAB_LOAD(__ldcv, load_cv)
SIMTLAB_STORE(__stwb, store_wb)
SIMTLAB_STORE(__stcg, store_cg)
SIMTLAB_STORE(__stcs, store_cs)
SIMTLAB_STORE(__stwt, store_wt)
#undef SIMTLAB_LOAD
#undef SIMTLAB_STORE

#ifndef __assume
#define __assume(condition) __builtin_assume(condition)
#endif

#undef SIMTLAB_D
