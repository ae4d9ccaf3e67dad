// What the device maths library is built from. The same sources compile for the device, where a primitive is one
// instruction, and for the host, where tests compare the functions with the C library.
#pragma once

#include "coefficients.h"

#if defined(__CUDA__)
#define DM_FN static inline __attribute__((device)) __attribute__((always_inline))
#define DM_SLOW static __attribute__((device)) __attribute__((noinline))   // rare paths stay out of line
#define DM_TABLE static __attribute__((constant)) const
#else
#include <cmath>
#define DM_FN static inline
#define DM_SLOW static inline
#define DM_TABLE static const
#endif

namespace dm {

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

template <class T> struct Type;
template <> struct Type<float> {
  typedef u32 Bits;
  typedef int Int;
  static constexpr int mantissa = 23, bias = 127;
  static constexpr u32 abs_mask = 0x7fffffffu, inf = 0x7f800000u, fraction = 0x007fffffu;
};
template <> struct Type<double> {
  typedef u64 Bits;
  typedef i64 Int;
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr u64 abs_mask = 0x7fffffffffffffffull, inf = 0x7ff0000000000000ull, fraction = 0x000fffffffffffffull;
};

DM_FN u32 bits(float x) { return __builtin_bit_cast(u32, x); }
DM_FN u64 bits(double x) { return __builtin_bit_cast(u64, x); }
DM_FN float from_bits(u32 b) { return __builtin_bit_cast(float, b); }
DM_FN double from_bits(u64 b) { return __builtin_bit_cast(double, b); }

DM_FN float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
DM_FN double fma_(double a, double b, double c) { return __builtin_fma(a, b, c); }
DM_FN float abs_(float x) { return __builtin_fabsf(x); }
DM_FN double abs_(double x) { return __builtin_fabs(x); }
// In logic: the compiler's own compares and selects.
DM_FN float copysign_(float x, float s) { return from_bits((bits(x) & Type<float>::abs_mask) | (bits(s) & ~Type<float>::abs_mask)); }
DM_FN double copysign_(double x, double s) { return __builtin_copysign(x, s); }
DM_FN float rint_(float x) { return __builtin_rintf(x); }
DM_FN double rint_(double x) { return __builtin_rint(x); }
DM_FN float trunc_(float x) { return __builtin_truncf(x); }
DM_FN double trunc_(double x) { return __builtin_trunc(x); }
DM_FN float floor_(float x) { return __builtin_floorf(x); }
DM_FN double floor_(double x) { return __builtin_floor(x); }
DM_FN float sqrt_(float x) { return __builtin_sqrtf(x); }
DM_FN double sqrt_(double x) { return __builtin_sqrt(x); }
DM_FN float min_(float a, float b) { return __builtin_fminf(a, b); }
DM_FN double min_(double a, double b) { return __builtin_fmin(a, b); }
DM_FN float max_(float a, float b) { return __builtin_fmaxf(a, b); }
DM_FN double max_(double a, double b) { return __builtin_fmax(a, b); }

// 2^x and log2 x as the special function unit gives them (2 ulp of float).
#if defined(__CUDA__)
DM_FN float ex2_approx(float x) { return __nvvm_ex2_approx_f(x); }
DM_FN float lg2_approx(float x) { return __nvvm_lg2_approx_f(x); }
// The same where neither the argument nor the result matters once it is subnormal: one instruction, without a check of the range.
DM_FN float ex2_near(float x) { return __nvvm_ex2_approx_ftz_f(x); }
DM_FN float rcp_near(float x) { return __nvvm_rcp_approx_ftz_f(x); }
DM_FN float unit_(float x) { return __nvvm_saturate_f(x); }   // cut to [0, 1]; NaN is 0
DM_FN u64 mulhi(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }
#else
DM_FN float ex2_approx(float x) { return static_cast<float>(std::exp2(static_cast<double>(x))); }
DM_FN float lg2_approx(float x) { return static_cast<float>(std::log2(static_cast<double>(x))); }
DM_FN float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
DM_FN float ex2_near(float x) { return flushed(ex2_approx(flushed(x))); }
DM_FN float rcp_near(float x) { return flushed(1.0f / flushed(x)); }
DM_FN float unit_(float x) { return x > 1.0f ? 1.0f : x > 0.0f ? x : 0.0f; }
DM_FN u64 mulhi(u64 a, u64 b) { return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64); }
#endif

template <class T> DM_FN bool is_nan(T x) { return (bits(x) & Type<T>::abs_mask) > Type<T>::inf; }
template <class T> DM_FN bool is_inf(T x) { return (bits(x) & Type<T>::abs_mask) == Type<T>::inf; }
template <class T> DM_FN bool is_finite(T x) { return (bits(x) & Type<T>::abs_mask) < Type<T>::inf; }
template <class T> DM_FN bool is_negative(T x) { return static_cast<typename Type<T>::Int>(bits(x)) < 0; }
template <class T> DM_FN T infinity() { return from_bits(Type<T>::inf); }
template <class T> DM_FN T quiet_nan() { return from_bits(Type<T>::inf | (typename Type<T>::Bits(1) << (Type<T>::mantissa - 1))); }

// c0 + x (c1 + x (c2 + ...)).
template <class T> DM_FN T horner(T, T c0) { return c0; }
template <class T, class... C> DM_FN T horner(T x, T c0, T c1, C... c) { return fma_(x, horner(x, c1, c...), c0); }

// 2^k for a normal result.
template <class T> DM_FN T pow2(int k) {
  return from_bits(static_cast<typename Type<T>::Bits>(k + Type<T>::bias) << Type<T>::mantissa);
}
// x 2^k with one rounding for |k| up to twice the exponent range.
template <class T> DM_FN T scale(T x, int k) {
  const int half = k >> 1;
  return x * pow2<T>(half) * pow2<T>(k - half);
}
// x 2^k for any x and k, rounded once.
template <class T> DM_FN T scale_any(T x, int k) {
  typedef typename Type<T>::Bits Bits;
  if (!is_finite(x) || x == T(0)) return x + x;
  int e = static_cast<int>((bits(x) & Type<T>::abs_mask) >> Type<T>::mantissa);
  if (e == 0) {
    x *= pow2<T>(Type<T>::mantissa + 2);
    e = static_cast<int>((bits(x) & Type<T>::abs_mask) >> Type<T>::mantissa) - (Type<T>::mantissa + 2);
  }
  if (k > 5000) k = 5000;
  if (k < -5000) k = -5000;
  e += k;
  if (e > 2 * Type<T>::bias) return copysign_(infinity<T>(), x);
  if (e < -(Type<T>::mantissa + 2)) return copysign_(T(0), x);
  const int lift = e <= 0 ? Type<T>::mantissa + 2 : 0;
  const Bits sign_and_fraction = bits(x) & ~Type<T>::inf;
  const T y = from_bits(sign_and_fraction | (static_cast<Bits>(e + lift) << Type<T>::mantissa));
  return lift ? y * pow2<T>(-lift) : y;
}

// x = m 2^k with m in [sqrt(1/2), sqrt(2)); x is positive and finite.
template <class T> DM_FN T split_exponent(T x, int* k) {
  typedef typename Type<T>::Bits Bits;
  int e = 0;
  if (bits(x) < (Bits(1) << Type<T>::mantissa)) {   // denormal
    x *= pow2<T>(Type<T>::mantissa + 2);
    e = -(Type<T>::mantissa + 2);
  }
  Bits b = bits(x);
  const Bits half_root = sizeof(T) == 4 ? Bits(0x3f3504f3u) : Bits(0x3fe6a09e667f3bcdull);
  const int n = static_cast<int>(static_cast<typename Type<T>::Int>(b - half_root) >> Type<T>::mantissa);
  *k = e + n;
  return from_bits(b - (static_cast<Bits>(n) << Type<T>::mantissa));
}

}  // namespace dm
