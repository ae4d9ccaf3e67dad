// Circular functions and their inverses.
#pragma once

#include "primitives.h"

namespace dm {

DM_FN float half_pi_hi(float) { return DM_PIO2_F32_1; }
DM_FN double half_pi_hi(double) { return DM_PIO2_F64_1; }
DM_FN float half_pi_lo(float) { return DM_PIO2_F32_2; }
DM_FN double half_pi_lo(double) { return DM_PIO2_F64_2; }

DM_TABLE u64 two_over_pi[19] = {DM_TWO_OVER_PI};

// 64 bits of 2/pi from bit `offset` after the binary point (negative: leading zeros).
DM_FN u64 pi_bits(int offset) {
  const int word = offset >> 6;
  const int shift = offset & 63;
  const u64 a = word >= 0 ? two_over_pi[word] : 0;
  const u64 b = two_over_pi[word + 1];
  return shift == 0 ? a : (a << shift) | (b >> (64 - shift));
}

// Argument reduction for large x, after Payne and Hanek: only the bits of x * 2/pi that decide the quadrant and the fraction
// are multiplied out. Returns the quadrant and r in [-pi/4, pi/4] with the error of one rounding.
template <class T> DM_SLOW int reduce_large(T x, T* r) {
  typedef typename Type<T>::Bits Bits;
  const Bits b = bits(abs_(x));
  const int e = static_cast<int>(b >> Type<T>::mantissa) - Type<T>::bias - Type<T>::mantissa;
  const u64 m = static_cast<u64>((b & Type<T>::fraction) | (Bits(1) << Type<T>::mantissa));
  const int offset = e - 2;
  const u64 w0 = pi_bits(offset), w1 = pi_bits(offset + 64), w2 = pi_bits(offset + 128);
  const u64 r1 = mulhi(m, w2) + m * w1;
  const u64 carry = r1 < m * w1 ? 1 : 0;
  const u64 r0 = m * w0 + mulhi(m, w1) + carry;
  int q = static_cast<int>(r0 >> 62);
  u64 f0 = (r0 << 2) | (r1 >> 62), f1 = (r1 << 2) | (m * w2 >> 62);
  const bool negative = (f0 >> 63) != 0;   // nearer to the next quadrant
  if (negative) {
    ++q;
    f1 = ~f1 + 1;
    f0 = ~f0 + (f1 == 0 ? 1 : 0);
  }
  int n = 64;
  T value = T(0);
  if (f0 != 0) {
    n = __builtin_clzll(f0);
    value = static_cast<T>(n == 0 ? f0 : (f0 << n) | (f1 >> (64 - n)));
  } else {
    value = static_cast<T>(f1);
  }
  const T turns = value * pow2<T>(-64) * pow2<T>(-n);
  const T angle = fma_(turns, half_pi_hi(x), turns * half_pi_lo(x));
  *r = negative != is_negative(x) ? -angle : angle;
  return is_negative(x) ? -q : q;
}

DM_FN int reduce(float x, float* r) {
  if (abs_(x) > 48000.0f) return reduce_large(x, r);
  const float k = rint_(x * static_cast<float>(1.0 / DM_PIO2_F64_1));
  *r = fma_(k, -DM_PIO2_F32_3, fma_(k, -DM_PIO2_F32_2, fma_(k, -DM_PIO2_F32_1, x)));
  return static_cast<int>(k);
}
DM_FN int reduce(double x, double* r) {
  if (abs_(x) > 1.0e6) return reduce_large(x, r);
  const double k = rint_(x * (1.0 / DM_PIO2_F64_1));
  *r = fma_(k, -DM_PIO2_F64_3, fma_(k, -DM_PIO2_F64_2, fma_(k, -DM_PIO2_F64_1, x)));
  return static_cast<int>(k);
}

DM_FN float sin_poly(float z) { return horner(z, DM_SIN_F32); }
DM_FN double sin_poly(double z) { return horner(z, DM_SIN_F64); }
DM_FN float cos_poly(float z) { return horner(z, DM_COS_F32); }
DM_FN double cos_poly(double z) { return horner(z, DM_COS_F64); }
DM_FN float tan_poly(float z) { return horner(z, DM_TAN_F32); }
DM_FN double tan_poly(double z) { return horner(z, DM_TAN_F64); }

template <class T> DM_FN T sin_reduced(T r) {
  const T z = r * r;
  return fma_(r * z, sin_poly(z), r);
}
template <class T> DM_FN T cos_reduced(T r) {
  const T z = r * r;
  const T h = T(0.5) * z;
  const T w = T(1) - h;
  return w + (((T(1) - w) - h) + z * z * cos_poly(z));
}
template <class T> DM_FN T sin_quadrant(T r, int q) {
  const T v = (q & 1) ? cos_reduced(r) : sin_reduced(r);
  return (q & 2) ? -v : v;
}
template <class T> DM_FN T sin(T x) {
  if (!is_finite(x)) return x - x;
  T r;
  const int q = reduce(x, &r);
  return x == T(0) ? x : sin_quadrant(r, q);
}
template <class T> DM_FN T cos(T x) {
  if (!is_finite(x)) return x - x;
  T r;
  const int q = reduce(x, &r);
  return sin_quadrant(r, q + 1);
}
template <class T> DM_FN void sincos(T x, T* s, T* c) {
  if (!is_finite(x)) {
    *s = *c = x - x;
    return;
  }
  T r;
  const int q = reduce(x, &r);
  *s = x == T(0) ? x : sin_quadrant(r, q);
  *c = sin_quadrant(r, q + 1);
}
template <class T> DM_FN T tan(T x) {
  if (!is_finite(x)) return x - x;
  T r;
  const int q = reduce(x, &r);
  const T z = r * r;
  const T t = fma_(r * z, tan_poly(z), r);
  if (x == T(0)) return x;
  return (q & 1) ? T(-1) / t : t;
}

// x pi: the reduction is exact.
template <class T> DM_FN int reduce_pi(T x, T pi_1, T pi_2, T* r) {
  const T y = x - T(2) * trunc_(x * T(0.5));   // (-2, 2), exact
  const T k = rint_(T(2) * y);
  const T f = fma_(k, T(-0.5), y);
  *r = fma_(f, pi_1, f * pi_2);
  return static_cast<int>(k);
}
DM_FN int reduce_pi(float x, float* r) { return reduce_pi(x, DM_PI_F32_1, DM_PI_F32_2, r); }
DM_FN int reduce_pi(double x, double* r) { return reduce_pi(x, DM_PI_F64_1, DM_PI_F64_2, r); }
template <class T> DM_FN T sinpi(T x) {
  if (!is_finite(x)) return x - x;
  T r;
  const int q = reduce_pi(x, &r);
  if (trunc_(x) == x) return copysign_(T(0), x);
  return sin_quadrant(r, q);
}
template <class T> DM_FN T cospi(T x) {
  if (!is_finite(x)) return x - x;
  T r;
  const int q = reduce_pi(x, &r);
  return sin_quadrant(r, q + 1) + T(0);
}

DM_FN float asin_poly(float z) { return horner(z, DM_ASIN_F32); }
DM_FN double asin_poly(double z) { return horner(z, DM_ASIN_F64); }
DM_FN float atan_poly(float z) { return horner(z, DM_ATAN_F32); }
DM_FN double atan_poly(double z) { return horner(z, DM_ATAN_F64); }

template <class T> DM_FN T asin_small(T x) {
  const T z = x * x;
  return fma_(x * z, asin_poly(z), x);
}
template <class T> DM_FN T asin(T x) {
  const T a = abs_(x);
  if (!(a <= T(1))) return is_nan(x) ? x + x : quiet_nan<T>();
  if (a <= T(0.5)) return x == T(0) ? x : asin_small(x);
  const T t = asin_small(sqrt_(fma_(a, T(-0.5), T(0.5))));
  return copysign_(fma_(T(-2), t, half_pi_hi(x)) + half_pi_lo(x), x);
}
template <class T> DM_FN T acos(T x) {
  const T a = abs_(x);
  if (!(a <= T(1))) return is_nan(x) ? x + x : quiet_nan<T>();
  if (a <= T(0.5)) return half_pi_hi(x) - (asin_small(x) - half_pi_lo(x));
  const T t = T(2) * asin_small(sqrt_(fma_(a, T(-0.5), T(0.5))));
  return x > T(0) ? t : T(2) * half_pi_hi(x) - (t - T(2) * half_pi_lo(x));
}
// atan of y/x for 0 <= y <= x or the like.
template <class T> DM_FN T atan_unit(T t) {
  const T z = t * t;
  return fma_(t * z, atan_poly(z), t);
}
// 1/a where `inverse`, else a. Of float in any case, which is shorter than a branch; what the fast reciprocal loses is far below the half pi that the
// result is taken from.
DM_FN double inverse_if(bool inverse, double a) { return inverse ? 1.0 / a : a; }
DM_FN float inverse_if(bool inverse, float a) {
  const float b = rcp_near(a);
  return inverse ? b : a;
}
template <class T> DM_FN T atan(T x) {
  const T a = abs_(x);
  const bool inverse = a > T(1);
  const T v = atan_unit(inverse_if(inverse, a));
  return copysign_(inverse ? half_pi_hi(x) - (v - half_pi_lo(x)) : v, x);
}
template <class T> DM_FN T atan2(T y, T x) {
  if (is_nan(x) || is_nan(y)) return x + y;
  const T ax = abs_(x), ay = abs_(y);
  const T big = max_(ax, ay), small = min_(ax, ay);
  T t = big == T(0) ? T(0) : is_inf(small) ? T(1) : is_inf(big) ? T(0) : small / big;
  // What the quotient lost by rounding, where it still matters.
  const T c = is_finite(big) && big > T(0) && t > pow2<T>(-60) && big > pow2<T>(2 - Type<T>::bias + Type<T>::mantissa)
                  ? fma_(-t, big, small) / big
                  : T(0);
  T v = atan_unit(t) + c / fma_(t, t, T(1));
  if (ay > ax) v = half_pi_hi(x) - (v - half_pi_lo(x));
  if (is_negative(x)) v = T(2) * half_pi_hi(x) - (v - T(2) * half_pi_lo(x));
  return copysign_(v, y);
}

}  // namespace dm
