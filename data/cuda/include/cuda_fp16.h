// Half precision: the type, conversions, arithmetic, intrinsics.
#pragma once

#include "cuda_runtime_api.h"
#include "simtlab/half_bits.h"
#include "vector_functions.h"

#ifdef __cplusplus
#include <math.h>

#define SIMTLAB_HD static inline __host__ __device__
#define SIMTLAB_D static inline __device__

struct __half_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __half2_raw {
  unsigned short x, y;
};

// The value of a float in 16 bits and back; mode as in half_bits.h.
template <int mode>
SIMTLAB_HD unsigned short simtlab_narrow_f16(float f) {
#if defined(__CUDA_ARCH__)
  unsigned short b;
  if (mode == 0) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
  if (mode == 1) asm("cvt.rz.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
  if (mode == 2) asm("cvt.rp.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
  if (mode == 3) asm("cvt.rm.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
  return b;
#else
  return simtlab_float_to_half(f, mode);
#endif
}
SIMTLAB_HD float simtlab_widen_f16(unsigned short b) {
#if defined(__CUDA_ARCH__)
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(b));
  return f;
#else
  return simtlab_half_to_float(b);
#endif
}

struct __attribute__((aligned(2))) __half {
  unsigned short bits;

  __half() = default;
  __host__ __device__ __half(const __half_raw& r) : bits(r.x) {}
  __host__ __device__ __half(float f) : bits(simtlab_narrow_f16<0>(f)) {}
  __host__ __device__ __half(double d) : bits(simtlab_narrow_f16<0>(simtlab_odd_float(d))) {}
  __host__ __device__ __half(int i) : bits(simtlab_narrow_f16<0>((float)i)) {}
  __host__ __device__ __half(unsigned int i) : bits(simtlab_narrow_f16<0>((float)i)) {}
  __host__ __device__ __half(long long i) : bits(simtlab_narrow_f16<0>((float)i)) {}
  __host__ __device__ __half(unsigned long long i) : bits(simtlab_narrow_f16<0>((float)i)) {}
  __host__ __device__ __half(long i) : bits(simtlab_narrow_f16<0>((float)i)) {}
  __host__ __device__ __half(unsigned long i) : bits(simtlab_narrow_f16<0>((float)i)) {}
  __host__ __device__ operator float() const { return simtlab_widen_f16(bits); }
  __host__ __device__ operator __half_raw() const {
    __half_raw r;
    r.x = bits;
    return r;
  }
  __host__ __device__ __half& operator=(float f) {
    bits = simtlab_narrow_f16<0>(f);
    return *this;
  }
};
struct __attribute__((aligned(4))) __half2 {
  __half x, y;

  __half2() = default;
  __host__ __device__ __half2(const __half& a, const __half& b) : x(a), y(b) {}
  __host__ __device__ __half2(const __half2_raw& r);
};

SIMTLAB_HD __half simtlab_from_bits_f16(unsigned short b) {
  __half v;
  v.bits = b;
  return v;
}
__host__ __device__ inline __half2::__half2(const __half2_raw& r) : x(simtlab_from_bits_f16(r.x)), y(simtlab_from_bits_f16(r.y)) {}
SIMTLAB_HD __half __float2half(float f) { return __half(f); }
SIMTLAB_HD __half __float2half_rn(float f) { return simtlab_from_bits_f16(simtlab_narrow_f16<0>(f)); }
SIMTLAB_HD __half __float2half_rz(float f) { return simtlab_from_bits_f16(simtlab_narrow_f16<1>(f)); }
SIMTLAB_HD __half __float2half_ru(float f) { return simtlab_from_bits_f16(simtlab_narrow_f16<2>(f)); }
SIMTLAB_HD __half __float2half_rd(float f) { return simtlab_from_bits_f16(simtlab_narrow_f16<3>(f)); }
SIMTLAB_HD float __half2float(__half h) { return simtlab_widen_f16(h.bits); }
SIMTLAB_HD __half __double2half(double d) { return __half(d); }
SIMTLAB_HD __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
SIMTLAB_HD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
SIMTLAB_HD __half2 __half2half2(__half a) { return __half2(a, a); }
SIMTLAB_HD __half2 __float2half2_rn(float f) { return __half2(__half(f), __half(f)); }
SIMTLAB_HD __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
SIMTLAB_HD __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
SIMTLAB_HD float2 __half22float2(__half2 v) { return make_float2((float)v.x, (float)v.y); }
SIMTLAB_HD __half __low2half(__half2 v) { return v.x; }
SIMTLAB_HD __half __high2half(__half2 v) { return v.y; }
SIMTLAB_HD float __low2float(__half2 v) { return (float)v.x; }
SIMTLAB_HD float __high2float(__half2 v) { return (float)v.y; }
SIMTLAB_HD __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
SIMTLAB_HD __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
SIMTLAB_HD __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
SIMTLAB_HD unsigned short __half_as_ushort(__half v) { return v.bits; }
SIMTLAB_HD short __half_as_short(__half v) { return (short)v.bits; }
SIMTLAB_HD __half __ushort_as_half(unsigned short b) { return simtlab_from_bits_f16(b); }
SIMTLAB_HD __half __short_as_half(short b) { return simtlab_from_bits_f16((unsigned short)b); }

// Arithmetic: the device's 16-bit instructions where the architecture has them, else in float with one rounding at the end.
SIMTLAB_HD __half __hadd(__half a, __half b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  __half v;
  asm("add.f16 %0, %1, %2;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits));
  return v;
#else
  return __half((float)a + (float)b);
#endif
}
SIMTLAB_HD __half2 __hadd2(__half2 a, __half2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int u, x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  asm("add.f16x2 %0, %1, %2;" : "=r"(u) : "r"(x), "r"(y));
  __half2 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __half2(__hadd(a.x, b.x), __hadd(a.y, b.y));
#endif
}
SIMTLAB_HD __half __hsub(__half a, __half b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  __half v;
  asm("sub.f16 %0, %1, %2;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits));
  return v;
#else
  return __half((float)a - (float)b);
#endif
}
SIMTLAB_HD __half2 __hsub2(__half2 a, __half2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int u, x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  asm("sub.f16x2 %0, %1, %2;" : "=r"(u) : "r"(x), "r"(y));
  __half2 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __half2(__hsub(a.x, b.x), __hsub(a.y, b.y));
#endif
}
SIMTLAB_HD __half __hmul(__half a, __half b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  __half v;
  asm("mul.f16 %0, %1, %2;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits));
  return v;
#else
  return __half((float)a * (float)b);
#endif
}
SIMTLAB_HD __half2 __hmul2(__half2 a, __half2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int u, x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  asm("mul.f16x2 %0, %1, %2;" : "=r"(u) : "r"(x), "r"(y));
  __half2 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __half2(__hmul(a.x, b.x), __hmul(a.y, b.y));
#endif
}
SIMTLAB_HD __half __hdiv(__half a, __half b) { return __half((float)a / (float)b); }
SIMTLAB_HD __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
SIMTLAB_HD __half __hneg(__half a) { return simtlab_from_bits_f16((unsigned short)(a.bits ^ 0x8000u)); }
SIMTLAB_HD __half2 __hneg2(__half2 a) { return __half2(__hneg(a.x), __hneg(a.y)); }
SIMTLAB_HD __half __habs(__half a) { return simtlab_from_bits_f16((unsigned short)(a.bits & 0x7fffu)); }
SIMTLAB_HD __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
SIMTLAB_HD __half __hfma(__half a, __half b, __half c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  __half v;
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return v;
#else
  return __half(simtlab_odd_fma((float)a, (float)b, (float)c));
#endif
}
SIMTLAB_HD __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 530
  unsigned int u, x, y, z;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  memcpy(&z, &c, 4);
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  __half2 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
SIMTLAB_HD bool __heq(__half a, __half b) { return (float)a == (float)b; }
SIMTLAB_HD __half2 __heq2(__half2 a, __half2 b) { return __half2(__half(__heq(a.x, b.x) ? 1.0f : 0.0f), __half(__heq(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hne(__half a, __half b) { return (float)a != (float)b && (float)a == (float)a && (float)b == (float)b; }
SIMTLAB_HD __half2 __hne2(__half2 a, __half2 b) { return __half2(__half(__hne(a.x, b.x) ? 1.0f : 0.0f), __half(__hne(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hlt(__half a, __half b) { return (float)a < (float)b; }
SIMTLAB_HD __half2 __hlt2(__half2 a, __half2 b) { return __half2(__half(__hlt(a.x, b.x) ? 1.0f : 0.0f), __half(__hlt(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hle(__half a, __half b) { return (float)a <= (float)b; }
SIMTLAB_HD __half2 __hle2(__half2 a, __half2 b) { return __half2(__half(__hle(a.x, b.x) ? 1.0f : 0.0f), __half(__hle(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hgt(__half a, __half b) { return (float)a > (float)b; }
SIMTLAB_HD __half2 __hgt2(__half2 a, __half2 b) { return __half2(__half(__hgt(a.x, b.x) ? 1.0f : 0.0f), __half(__hgt(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hge(__half a, __half b) { return (float)a >= (float)b; }
SIMTLAB_HD __half2 __hge2(__half2 a, __half2 b) { return __half2(__half(__hge(a.x, b.x) ? 1.0f : 0.0f), __half(__hge(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hisnan(__half a) { return (float)a != (float)a; }
SIMTLAB_HD __half __hmax(__half a, __half b) { return __half(fmaxf((float)a, (float)b)); }
SIMTLAB_HD __half __hmin(__half a, __half b) { return __half(fminf((float)a, (float)b)); }
SIMTLAB_HD __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
SIMTLAB_HD __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
SIMTLAB_HD __half operator+(const __half& a, const __half& b) { return __hadd(a, b); }
SIMTLAB_HD __half& operator+=(__half& a, const __half& b) { return a = __hadd(a, b); }
SIMTLAB_HD __half2 operator+(const __half2& a, const __half2& b) { return __hadd2(a, b); }
SIMTLAB_HD __half2& operator+=(__half2& a, const __half2& b) { return a = __hadd2(a, b); }
SIMTLAB_HD __half operator-(const __half& a, const __half& b) { return __hsub(a, b); }
SIMTLAB_HD __half& operator-=(__half& a, const __half& b) { return a = __hsub(a, b); }
SIMTLAB_HD __half2 operator-(const __half2& a, const __half2& b) { return __hsub2(a, b); }
SIMTLAB_HD __half2& operator-=(__half2& a, const __half2& b) { return a = __hsub2(a, b); }
SIMTLAB_HD __half operator*(const __half& a, const __half& b) { return __hmul(a, b); }
SIMTLAB_HD __half& operator*=(__half& a, const __half& b) { return a = __hmul(a, b); }
SIMTLAB_HD __half2 operator*(const __half2& a, const __half2& b) { return __hmul2(a, b); }
SIMTLAB_HD __half2& operator*=(__half2& a, const __half2& b) { return a = __hmul2(a, b); }
SIMTLAB_HD __half operator/(const __half& a, const __half& b) { return __hdiv(a, b); }
SIMTLAB_HD __half& operator/=(__half& a, const __half& b) { return a = __hdiv(a, b); }
SIMTLAB_HD __half2 operator/(const __half2& a, const __half2& b) { return __h2div(a, b); }
SIMTLAB_HD __half2& operator/=(__half2& a, const __half2& b) { return a = __h2div(a, b); }
SIMTLAB_HD __half operator-(const __half& a) { return __hneg(a); }
SIMTLAB_HD __half operator+(const __half& a) { return a; }
SIMTLAB_HD __half2 operator-(const __half2& a) { return __hneg2(a); }
SIMTLAB_HD bool operator==(const __half& a, const __half& b) { return (float)a == (float)b; }
SIMTLAB_HD bool operator!=(const __half& a, const __half& b) { return (float)a != (float)b; }
SIMTLAB_HD bool operator<(const __half& a, const __half& b) { return (float)a < (float)b; }
SIMTLAB_HD bool operator<=(const __half& a, const __half& b) { return (float)a <= (float)b; }
SIMTLAB_HD bool operator>(const __half& a, const __half& b) { return (float)a > (float)b; }
SIMTLAB_HD bool operator>=(const __half& a, const __half& b) { return (float)a >= (float)b; }

#define SIMTLAB_H __half
#define SIMTLAB_H2 __half2
#define SIMTLAB_NAME half
#define SIMTLAB_FROM_BITS simtlab_from_bits_f16
#define SIMTLAB_NARROW simtlab_narrow_f16
#define SIMTLAB_EXACT(i) ((float)(i))  // past 2^24, where this rounds, the result is infinite anyway
#include "simtlab/half_functions.h"

#if defined(__CUDA__) && defined(__clang__)
// Functions through float.
SIMTLAB_D __half hsqrt(__half a) { return __half(sqrtf((float)a)); }
SIMTLAB_D __half2 h2sqrt(__half2 a) { return __half2(hsqrt(a.x), hsqrt(a.y)); }
SIMTLAB_D __half hrsqrt(__half a) { return __half(rsqrtf((float)a)); }
SIMTLAB_D __half2 h2rsqrt(__half2 a) { return __half2(hrsqrt(a.x), hrsqrt(a.y)); }
SIMTLAB_D __half hrcp(__half a) { return __half(1.0f / (float)a); }
SIMTLAB_D __half2 h2rcp(__half2 a) { return __half2(hrcp(a.x), hrcp(a.y)); }
SIMTLAB_D __half hexp(__half a) { return __half(expf((float)a)); }
SIMTLAB_D __half2 h2exp(__half2 a) { return __half2(hexp(a.x), hexp(a.y)); }
SIMTLAB_D __half hexp2(__half a) { return __half(exp2f((float)a)); }
SIMTLAB_D __half2 h2exp2(__half2 a) { return __half2(hexp2(a.x), hexp2(a.y)); }
SIMTLAB_D __half hexp10(__half a) { return __half(exp10f((float)a)); }
SIMTLAB_D __half2 h2exp10(__half2 a) { return __half2(hexp10(a.x), hexp10(a.y)); }
SIMTLAB_D __half hlog(__half a) { return __half(logf((float)a)); }
SIMTLAB_D __half2 h2log(__half2 a) { return __half2(hlog(a.x), hlog(a.y)); }
SIMTLAB_D __half hlog2(__half a) { return __half(log2f((float)a)); }
SIMTLAB_D __half2 h2log2(__half2 a) { return __half2(hlog2(a.x), hlog2(a.y)); }
SIMTLAB_D __half hlog10(__half a) { return __half(log10f((float)a)); }
SIMTLAB_D __half2 h2log10(__half2 a) { return __half2(hlog10(a.x), hlog10(a.y)); }
SIMTLAB_D __half hsin(__half a) { return __half(sinf((float)a)); }
SIMTLAB_D __half2 h2sin(__half2 a) { return __half2(hsin(a.x), hsin(a.y)); }
SIMTLAB_D __half hcos(__half a) { return __half(cosf((float)a)); }
SIMTLAB_D __half2 h2cos(__half2 a) { return __half2(hcos(a.x), hcos(a.y)); }
SIMTLAB_D __half hfloor(__half a) { return __half(floorf((float)a)); }
SIMTLAB_D __half2 h2floor(__half2 a) { return __half2(hfloor(a.x), hfloor(a.y)); }
SIMTLAB_D __half hceil(__half a) { return __half(ceilf((float)a)); }
SIMTLAB_D __half2 h2ceil(__half2 a) { return __half2(hceil(a.x), hceil(a.y)); }
SIMTLAB_D __half htrunc(__half a) { return __half(truncf((float)a)); }
SIMTLAB_D __half2 h2trunc(__half2 a) { return __half2(htrunc(a.x), htrunc(a.y)); }
SIMTLAB_D __half hrint(__half a) { return __half(rintf((float)a)); }
SIMTLAB_D __half2 h2rint(__half2 a) { return __half2(hrint(a.x), hrint(a.y)); }

// Shuffles and cache-hinted loads move the bits.
SIMTLAB_D __half __shfl_sync(unsigned int mask, __half v, int lane, int width = 32) {
  return simtlab_from_bits_f16((unsigned short)__shfl_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __half2 __shfl_sync(unsigned int mask, __half2 v, int lane, int width = 32) {
  return __builtin_bit_cast(__half2, __shfl_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __half __shfl_up_sync(unsigned int mask, __half v, unsigned int lane, int width = 32) {
  return simtlab_from_bits_f16((unsigned short)__shfl_up_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __half2 __shfl_up_sync(unsigned int mask, __half2 v, unsigned int lane, int width = 32) {
  return __builtin_bit_cast(__half2, __shfl_up_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __half __shfl_down_sync(unsigned int mask, __half v, unsigned int lane, int width = 32) {
  return simtlab_from_bits_f16((unsigned short)__shfl_down_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __half2 __shfl_down_sync(unsigned int mask, __half2 v, unsigned int lane, int width = 32) {
  return __builtin_bit_cast(__half2, __shfl_down_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __half __shfl_xor_sync(unsigned int mask, __half v, int lane, int width = 32) {
  return simtlab_from_bits_f16((unsigned short)__shfl_xor_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __half2 __shfl_xor_sync(unsigned int mask, __half2 v, int lane, int width = 32) {
  return __builtin_bit_cast(__half2, __shfl_xor_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __half __ldg(const __half* p) { return simtlab_from_bits_f16(__ldg((const unsigned short*)p)); }
SIMTLAB_D __half2 __ldg(const __half2* p) { return __builtin_bit_cast(__half2, __ldg((const unsigned int*)p)); }

// Atomic addition: compare-and-swap on the word that holds the value, which every architecture can do.
SIMTLAB_D __half atomicAdd(__half* p, __half v) {
  unsigned int* word = (unsigned int*)((size_t)p & ~(size_t)2);
  const unsigned int shift = ((size_t)p & 2) ? 16 : 0;
  unsigned int old = *(volatile unsigned int*)word, seen;
  do {
    seen = old;
    const __half now = simtlab_from_bits_f16((unsigned short)(seen >> shift));
    const unsigned int next = (seen & ~(0xffffu << shift)) | ((unsigned int)__hadd(now, v).bits << shift);
    old = atomicCAS(word, seen, next);
  } while (old != seen);
  return simtlab_from_bits_f16((unsigned short)(old >> shift));
}
SIMTLAB_D __half2 atomicAdd(__half2* p, __half2 v) {
  unsigned int* word = (unsigned int*)p;
  unsigned int old = *(volatile unsigned int*)word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __builtin_bit_cast(unsigned int, __hadd2(__builtin_bit_cast(__half2, seen), v)));
  } while (old != seen);
  return __builtin_bit_cast(__half2, old);
}
#endif

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;

#undef SIMTLAB_HD
#undef SIMTLAB_D
#endif
