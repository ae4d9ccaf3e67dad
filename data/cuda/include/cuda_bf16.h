// bfloat16: the type, conversions, arithmetic, intrinsics.
#pragma once

#include "cuda_runtime_api.h"
#include "simtlab/half_bits.h"
#include "vector_functions.h"

#include "cuda_fp16.h"

#ifdef __cplusplus
#include <math.h>

#define SIMTLAB_HD static inline __host__ __device__
#define SIMTLAB_D static inline __device__

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __nv_bfloat162_raw {
  unsigned short x, y;
};

// The value of a float in 16 bits and back; mode as in half_bits.h.
template <int mode>
SIMTLAB_HD unsigned short simtlab_narrow_bf16(float f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned short b;
  if (mode == 0) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
    return b;
  }
  if (mode == 1) {
    asm("cvt.rz.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
    return b;
  }
  return simtlab_float_to_bfloat16(f, mode);
#else
  return simtlab_float_to_bfloat16(f, mode);
#endif
}
SIMTLAB_HD float simtlab_widen_bf16(unsigned short b) {
  return simtlab_bfloat16_to_float(b);
}

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short bits;

  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw& r) : bits(r.x) {}
  __host__ __device__ __nv_bfloat16(float f) : bits(simtlab_narrow_bf16<0>(f)) {}
  __host__ __device__ __nv_bfloat16(double d) : bits(simtlab_narrow_bf16<0>(simtlab_odd_float(d))) {}
  __host__ __device__ __nv_bfloat16(int i) : bits(simtlab_narrow_bf16<0>(simtlab_odd_float(i))) {}
  __host__ __device__ __nv_bfloat16(unsigned int i) : bits(simtlab_narrow_bf16<0>(simtlab_odd_float(i))) {}
  __host__ __device__ __nv_bfloat16(long long i) : bits(simtlab_narrow_bf16<0>(simtlab_odd_float(i))) {}
  __host__ __device__ __nv_bfloat16(unsigned long long i) : bits(simtlab_narrow_bf16<0>(simtlab_odd_float(i))) {}
  __host__ __device__ __nv_bfloat16(long i) : bits(simtlab_narrow_bf16<0>(simtlab_odd_float(i))) {}
  __host__ __device__ __nv_bfloat16(unsigned long i) : bits(simtlab_narrow_bf16<0>(simtlab_odd_float(i))) {}
  __host__ __device__ operator float() const { return simtlab_widen_bf16(bits); }
  __host__ __device__ operator __nv_bfloat16_raw() const {
    __nv_bfloat16_raw r;
    r.x = bits;
    return r;
  }
  __host__ __device__ __nv_bfloat16& operator=(float f) {
    bits = simtlab_narrow_bf16<0>(f);
    return *this;
  }
};
struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  __host__ __device__ __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
  __host__ __device__ __nv_bfloat162(const __nv_bfloat162_raw& r);
};

SIMTLAB_HD __nv_bfloat16 simtlab_from_bits_bf16(unsigned short b) {
  __nv_bfloat16 v;
  v.bits = b;
  return v;
}
__host__ __device__ inline __nv_bfloat162::__nv_bfloat162(const __nv_bfloat162_raw& r) : x(simtlab_from_bits_bf16(r.x)), y(simtlab_from_bits_bf16(r.y)) {}
SIMTLAB_HD __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
SIMTLAB_HD __nv_bfloat16 __float2bfloat16_rn(float f) { return simtlab_from_bits_bf16(simtlab_narrow_bf16<0>(f)); }
SIMTLAB_HD __nv_bfloat16 __float2bfloat16_rz(float f) { return simtlab_from_bits_bf16(simtlab_narrow_bf16<1>(f)); }
SIMTLAB_HD __nv_bfloat16 __float2bfloat16_ru(float f) { return simtlab_from_bits_bf16(simtlab_narrow_bf16<2>(f)); }
SIMTLAB_HD __nv_bfloat16 __float2bfloat16_rd(float f) { return simtlab_from_bits_bf16(simtlab_narrow_bf16<3>(f)); }
SIMTLAB_HD float __bfloat162float(__nv_bfloat16 h) { return simtlab_widen_bf16(h.bits); }
SIMTLAB_HD __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
SIMTLAB_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIMTLAB_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIMTLAB_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
SIMTLAB_HD __nv_bfloat162 __float2bfloat162_rn(float f) { return __nv_bfloat162(__nv_bfloat16(f), __nv_bfloat16(f)); }
SIMTLAB_HD __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b)); }
SIMTLAB_HD __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __nv_bfloat162(__nv_bfloat16(v.x), __nv_bfloat16(v.y)); }
SIMTLAB_HD float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2((float)v.x, (float)v.y); }
SIMTLAB_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
SIMTLAB_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
SIMTLAB_HD float __low2float(__nv_bfloat162 v) { return (float)v.x; }
SIMTLAB_HD float __high2float(__nv_bfloat162 v) { return (float)v.y; }
SIMTLAB_HD __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.x, v.x); }
SIMTLAB_HD __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.y); }
SIMTLAB_HD __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 v) { return __nv_bfloat162(v.y, v.x); }
SIMTLAB_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.bits; }
SIMTLAB_HD short __bfloat16_as_short(__nv_bfloat16 v) { return (short)v.bits; }
SIMTLAB_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short b) { return simtlab_from_bits_bf16(b); }
SIMTLAB_HD __nv_bfloat16 __short_as_bfloat16(short b) { return simtlab_from_bits_bf16((unsigned short)b); }

// Arithmetic: the device's 16-bit instructions where the architecture has them, else in float with one rounding at the end.
SIMTLAB_HD __nv_bfloat16 __hadd(__nv_bfloat16 a, __nv_bfloat16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __nv_bfloat16 v;
  asm("add.bf16 %0, %1, %2;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits));
  return v;
#else
  return __nv_bfloat16((float)a + (float)b);
#endif
}
SIMTLAB_HD __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int u, x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  asm("add.bf16x2 %0, %1, %2;" : "=r"(u) : "r"(x), "r"(y));
  __nv_bfloat162 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __nv_bfloat162(__hadd(a.x, b.x), __hadd(a.y, b.y));
#endif
}
SIMTLAB_HD __nv_bfloat16 __hsub(__nv_bfloat16 a, __nv_bfloat16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __nv_bfloat16 v;
  asm("sub.bf16 %0, %1, %2;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits));
  return v;
#else
  return __nv_bfloat16((float)a - (float)b);
#endif
}
SIMTLAB_HD __nv_bfloat162 __hsub2(__nv_bfloat162 a, __nv_bfloat162 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int u, x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  asm("sub.bf16x2 %0, %1, %2;" : "=r"(u) : "r"(x), "r"(y));
  __nv_bfloat162 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __nv_bfloat162(__hsub(a.x, b.x), __hsub(a.y, b.y));
#endif
}
SIMTLAB_HD __nv_bfloat16 __hmul(__nv_bfloat16 a, __nv_bfloat16 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __nv_bfloat16 v;
  asm("mul.bf16 %0, %1, %2;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits));
  return v;
#else
  return __nv_bfloat16((float)a * (float)b);
#endif
}
SIMTLAB_HD __nv_bfloat162 __hmul2(__nv_bfloat162 a, __nv_bfloat162 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int u, x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  asm("mul.bf16x2 %0, %1, %2;" : "=r"(u) : "r"(x), "r"(y));
  __nv_bfloat162 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __nv_bfloat162(__hmul(a.x, b.x), __hmul(a.y, b.y));
#endif
}
SIMTLAB_HD __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a / (float)b); }
SIMTLAB_HD __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }
SIMTLAB_HD __nv_bfloat16 __hneg(__nv_bfloat16 a) { return simtlab_from_bits_bf16((unsigned short)(a.bits ^ 0x8000u)); }
SIMTLAB_HD __nv_bfloat162 __hneg2(__nv_bfloat162 a) { return __nv_bfloat162(__hneg(a.x), __hneg(a.y)); }
SIMTLAB_HD __nv_bfloat16 __habs(__nv_bfloat16 a) { return simtlab_from_bits_bf16((unsigned short)(a.bits & 0x7fffu)); }
SIMTLAB_HD __nv_bfloat162 __habs2(__nv_bfloat162 a) { return __nv_bfloat162(__habs(a.x), __habs(a.y)); }
SIMTLAB_HD __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __nv_bfloat16 v;
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(v.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return v;
#else
  return __nv_bfloat16(simtlab_odd_fma((float)a, (float)b, (float)c));
#endif
}
SIMTLAB_HD __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned int u, x, y, z;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  memcpy(&z, &c, 4);
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(u) : "r"(x), "r"(y), "r"(z));
  __nv_bfloat162 v;
  memcpy(&v, &u, 4);
  return v;
#else
  return __nv_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
#endif
}
SIMTLAB_HD bool __heq(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a == (float)b; }
SIMTLAB_HD __nv_bfloat162 __heq2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__heq(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__heq(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hne(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a != (float)b && (float)a == (float)a && (float)b == (float)b; }
SIMTLAB_HD __nv_bfloat162 __hne2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hne(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hne(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hlt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a < (float)b; }
SIMTLAB_HD __nv_bfloat162 __hlt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hlt(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hlt(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hle(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a <= (float)b; }
SIMTLAB_HD __nv_bfloat162 __hle2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hle(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hle(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hgt(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a > (float)b; }
SIMTLAB_HD __nv_bfloat162 __hgt2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hgt(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hgt(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hge(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a >= (float)b; }
SIMTLAB_HD __nv_bfloat162 __hge2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__nv_bfloat16(__hge(a.x, b.x) ? 1.0f : 0.0f), __nv_bfloat16(__hge(a.y, b.y) ? 1.0f : 0.0f)); }
SIMTLAB_HD bool __hisnan(__nv_bfloat16 a) { return (float)a != (float)a; }
SIMTLAB_HD __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(fmaxf((float)a, (float)b)); }
SIMTLAB_HD __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16(fminf((float)a, (float)b)); }
SIMTLAB_HD __nv_bfloat162 __hmax2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
SIMTLAB_HD __nv_bfloat162 __hmin2(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
SIMTLAB_HD __nv_bfloat16 operator+(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hadd(a, b); }
SIMTLAB_HD __nv_bfloat16& operator+=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = __hadd(a, b); }
SIMTLAB_HD __nv_bfloat162 operator+(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __hadd2(a, b); }
SIMTLAB_HD __nv_bfloat162& operator+=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = __hadd2(a, b); }
SIMTLAB_HD __nv_bfloat16 operator-(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hsub(a, b); }
SIMTLAB_HD __nv_bfloat16& operator-=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = __hsub(a, b); }
SIMTLAB_HD __nv_bfloat162 operator-(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __hsub2(a, b); }
SIMTLAB_HD __nv_bfloat162& operator-=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = __hsub2(a, b); }
SIMTLAB_HD __nv_bfloat16 operator*(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hmul(a, b); }
SIMTLAB_HD __nv_bfloat16& operator*=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = __hmul(a, b); }
SIMTLAB_HD __nv_bfloat162 operator*(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __hmul2(a, b); }
SIMTLAB_HD __nv_bfloat162& operator*=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = __hmul2(a, b); }
SIMTLAB_HD __nv_bfloat16 operator/(const __nv_bfloat16& a, const __nv_bfloat16& b) { return __hdiv(a, b); }
SIMTLAB_HD __nv_bfloat16& operator/=(__nv_bfloat16& a, const __nv_bfloat16& b) { return a = __hdiv(a, b); }
SIMTLAB_HD __nv_bfloat162 operator/(const __nv_bfloat162& a, const __nv_bfloat162& b) { return __h2div(a, b); }
SIMTLAB_HD __nv_bfloat162& operator/=(__nv_bfloat162& a, const __nv_bfloat162& b) { return a = __h2div(a, b); }
SIMTLAB_HD __nv_bfloat16 operator-(const __nv_bfloat16& a) { return __hneg(a); }
SIMTLAB_HD __nv_bfloat16 operator+(const __nv_bfloat16& a) { return a; }
SIMTLAB_HD __nv_bfloat162 operator-(const __nv_bfloat162& a) { return __hneg2(a); }
SIMTLAB_HD bool operator==(const __nv_bfloat16& a, const __nv_bfloat16& b) { return (float)a == (float)b; }
SIMTLAB_HD bool operator!=(const __nv_bfloat16& a, const __nv_bfloat16& b) { return (float)a != (float)b; }
SIMTLAB_HD bool operator<(const __nv_bfloat16& a, const __nv_bfloat16& b) { return (float)a < (float)b; }
SIMTLAB_HD bool operator<=(const __nv_bfloat16& a, const __nv_bfloat16& b) { return (float)a <= (float)b; }
SIMTLAB_HD bool operator>(const __nv_bfloat16& a, const __nv_bfloat16& b) { return (float)a > (float)b; }
SIMTLAB_HD bool operator>=(const __nv_bfloat16& a, const __nv_bfloat16& b) { return (float)a >= (float)b; }

#define SIMTLAB_H __nv_bfloat16
#define SIMTLAB_H2 __nv_bfloat162
#define SIMTLAB_NAME bfloat16
#define SIMTLAB_FROM_BITS simtlab_from_bits_bf16
#define SIMTLAB_NARROW simtlab_narrow_bf16
#define SIMTLAB_EXACT(i) simtlab_odd_float(i)
#include "simtlab/half_functions.h"

#if defined(__CUDA__) && defined(__clang__)
// Functions through float.
SIMTLAB_D __nv_bfloat16 hsqrt(__nv_bfloat16 a) { return __nv_bfloat16(sqrtf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2sqrt(__nv_bfloat162 a) { return __nv_bfloat162(hsqrt(a.x), hsqrt(a.y)); }
SIMTLAB_D __nv_bfloat16 hrsqrt(__nv_bfloat16 a) { return __nv_bfloat16(rsqrtf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2rsqrt(__nv_bfloat162 a) { return __nv_bfloat162(hrsqrt(a.x), hrsqrt(a.y)); }
SIMTLAB_D __nv_bfloat16 hrcp(__nv_bfloat16 a) { return __nv_bfloat16(1.0f / (float)a); }
SIMTLAB_D __nv_bfloat162 h2rcp(__nv_bfloat162 a) { return __nv_bfloat162(hrcp(a.x), hrcp(a.y)); }
SIMTLAB_D __nv_bfloat16 hexp(__nv_bfloat16 a) { return __nv_bfloat16(expf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2exp(__nv_bfloat162 a) { return __nv_bfloat162(hexp(a.x), hexp(a.y)); }
SIMTLAB_D __nv_bfloat16 hexp2(__nv_bfloat16 a) { return __nv_bfloat16(exp2f((float)a)); }
SIMTLAB_D __nv_bfloat162 h2exp2(__nv_bfloat162 a) { return __nv_bfloat162(hexp2(a.x), hexp2(a.y)); }
SIMTLAB_D __nv_bfloat16 hexp10(__nv_bfloat16 a) { return __nv_bfloat16(exp10f((float)a)); }
SIMTLAB_D __nv_bfloat162 h2exp10(__nv_bfloat162 a) { return __nv_bfloat162(hexp10(a.x), hexp10(a.y)); }
SIMTLAB_D __nv_bfloat16 hlog(__nv_bfloat16 a) { return __nv_bfloat16(logf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2log(__nv_bfloat162 a) { return __nv_bfloat162(hlog(a.x), hlog(a.y)); }
SIMTLAB_D __nv_bfloat16 hlog2(__nv_bfloat16 a) { return __nv_bfloat16(log2f((float)a)); }
SIMTLAB_D __nv_bfloat162 h2log2(__nv_bfloat162 a) { return __nv_bfloat162(hlog2(a.x), hlog2(a.y)); }
SIMTLAB_D __nv_bfloat16 hlog10(__nv_bfloat16 a) { return __nv_bfloat16(log10f((float)a)); }
SIMTLAB_D __nv_bfloat162 h2log10(__nv_bfloat162 a) { return __nv_bfloat162(hlog10(a.x), hlog10(a.y)); }
SIMTLAB_D __nv_bfloat16 hsin(__nv_bfloat16 a) { return __nv_bfloat16(sinf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2sin(__nv_bfloat162 a) { return __nv_bfloat162(hsin(a.x), hsin(a.y)); }
SIMTLAB_D __nv_bfloat16 hcos(__nv_bfloat16 a) { return __nv_bfloat16(cosf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2cos(__nv_bfloat162 a) { return __nv_bfloat162(hcos(a.x), hcos(a.y)); }
SIMTLAB_D __nv_bfloat16 hfloor(__nv_bfloat16 a) { return __nv_bfloat16(floorf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2floor(__nv_bfloat162 a) { return __nv_bfloat162(hfloor(a.x), hfloor(a.y)); }
SIMTLAB_D __nv_bfloat16 hceil(__nv_bfloat16 a) { return __nv_bfloat16(ceilf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2ceil(__nv_bfloat162 a) { return __nv_bfloat162(hceil(a.x), hceil(a.y)); }
SIMTLAB_D __nv_bfloat16 htrunc(__nv_bfloat16 a) { return __nv_bfloat16(truncf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2trunc(__nv_bfloat162 a) { return __nv_bfloat162(htrunc(a.x), htrunc(a.y)); }
SIMTLAB_D __nv_bfloat16 hrint(__nv_bfloat16 a) { return __nv_bfloat16(rintf((float)a)); }
SIMTLAB_D __nv_bfloat162 h2rint(__nv_bfloat162 a) { return __nv_bfloat162(hrint(a.x), hrint(a.y)); }

// Shuffles and cache-hinted loads move the bits.
SIMTLAB_D __nv_bfloat16 __shfl_sync(unsigned int mask, __nv_bfloat16 v, int lane, int width = 32) {
  return simtlab_from_bits_bf16((unsigned short)__shfl_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __nv_bfloat162 __shfl_sync(unsigned int mask, __nv_bfloat162 v, int lane, int width = 32) {
  return __builtin_bit_cast(__nv_bfloat162, __shfl_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __nv_bfloat16 __shfl_up_sync(unsigned int mask, __nv_bfloat16 v, unsigned int lane, int width = 32) {
  return simtlab_from_bits_bf16((unsigned short)__shfl_up_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __nv_bfloat162 __shfl_up_sync(unsigned int mask, __nv_bfloat162 v, unsigned int lane, int width = 32) {
  return __builtin_bit_cast(__nv_bfloat162, __shfl_up_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __nv_bfloat16 __shfl_down_sync(unsigned int mask, __nv_bfloat16 v, unsigned int lane, int width = 32) {
  return simtlab_from_bits_bf16((unsigned short)__shfl_down_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __nv_bfloat162 __shfl_down_sync(unsigned int mask, __nv_bfloat162 v, unsigned int lane, int width = 32) {
  return __builtin_bit_cast(__nv_bfloat162, __shfl_down_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __nv_bfloat16 __shfl_xor_sync(unsigned int mask, __nv_bfloat16 v, int lane, int width = 32) {
  return simtlab_from_bits_bf16((unsigned short)__shfl_xor_sync(mask, (unsigned int)v.bits, lane, width));
}
SIMTLAB_D __nv_bfloat162 __shfl_xor_sync(unsigned int mask, __nv_bfloat162 v, int lane, int width = 32) {
  return __builtin_bit_cast(__nv_bfloat162, __shfl_xor_sync(mask, __builtin_bit_cast(unsigned int, v), lane, width));
}
SIMTLAB_D __nv_bfloat16 __ldg(const __nv_bfloat16* p) { return simtlab_from_bits_bf16(__ldg((const unsigned short*)p)); }
SIMTLAB_D __nv_bfloat162 __ldg(const __nv_bfloat162* p) { return __builtin_bit_cast(__nv_bfloat162, __ldg((const unsigned int*)p)); }

// Atomic addition: compare-and-swap on the word that holds the value, which every architecture can do.
SIMTLAB_D __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) {
  unsigned int* word = (unsigned int*)((size_t)p & ~(size_t)2);
  const unsigned int shift = ((size_t)p & 2) ? 16 : 0;
  unsigned int old = *(volatile unsigned int*)word, seen;
  do {
    seen = old;
    const __nv_bfloat16 now = simtlab_from_bits_bf16((unsigned short)(seen >> shift));
    const unsigned int next = (seen & ~(0xffffu << shift)) | ((unsigned int)__hadd(now, v).bits << shift);
    old = atomicCAS(word, seen, next);
  } while (old != seen);
  return simtlab_from_bits_bf16((unsigned short)(old >> shift));
}
SIMTLAB_D __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) {
  unsigned int* word = (unsigned int*)p;
  unsigned int old = *(volatile unsigned int*)word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __builtin_bit_cast(unsigned int, __hadd2(__builtin_bit_cast(__nv_bfloat162, seen), v)));
  } while (old != seen);
  return __builtin_bit_cast(__nv_bfloat162, old);
}
#endif

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#undef SIMTLAB_HD
#undef SIMTLAB_D
#endif
