// Remainders, rounding, parts of numbers, lengths of vectors.
#pragma once

#include "primitives.h"

namespace dm {

// |x| mod |y| by long division of the significands, as many bits at a time as fit; also the low bits of the quotient.
template <class T> DM_SLOW T remainder_positive(T x, T y, u32* quotient) {
  typedef typename Type<T>::Bits Bits;
  *quotient = 0;
  if (x < y) return x;
  int ex = static_cast<int>(bits(x) >> Type<T>::mantissa);
  int ey = static_cast<int>(bits(y) >> Type<T>::mantissa);
  u64 mx = static_cast<u64>(bits(x) & Type<T>::fraction), my = static_cast<u64>(bits(y) & Type<T>::fraction);
  const u64 one = u64(1) << Type<T>::mantissa;
  if (ex == 0) ex = 1;
  else mx |= one;
  if (ey == 0) ey = 1;
  else my |= one;
  int n = ex - ey;
  const int step = 63 - Type<T>::mantissa - 1;
  u32 q = static_cast<u32>(mx / my);
  mx %= my;
  while (n > 0) {
    const int s = n < step ? n : step;
    mx <<= s;
    q = (s < 32 ? q << s : 0) + static_cast<u32>(mx / my);
    mx %= my;
    n -= s;
  }
  *quotient = q;
  if (mx == 0) return T(0);
  // Back to a number with the exponent of y.
  int shift = __builtin_clzll(mx) - (63 - Type<T>::mantissa);
  if (shift >= ey) shift = ey - 1;
  mx <<= shift;
  const int e = ey - shift;
  const u64 b = mx >= one ? (static_cast<u64>(e) << Type<T>::mantissa) | (mx & static_cast<u64>(Type<T>::fraction)) : mx;
  return from_bits(static_cast<Bits>(b));
}
template <class T> DM_FN T fmod(T x, T y) {
  if (is_nan(x) || is_nan(y) || is_inf(x) || y == T(0)) return quiet_nan<T>();
  if (is_inf(y)) return x;
  u32 q;
  return copysign_(remainder_positive(abs_(x), abs_(y), &q), x);
}
template <class T> DM_FN T remquo(T x, T y, int* quotient) {
  *quotient = 0;
  if (is_nan(x) || is_nan(y) || is_inf(x) || y == T(0)) return quiet_nan<T>();
  if (is_inf(y)) return x;
  const T a = abs_(y);
  u32 q;
  T r = remainder_positive(abs_(x), a, &q);
  const T rest = a - r;
  if (r > rest || (r == rest && (q & 1))) {
    r = -rest;
    ++q;
  }
  const int n = static_cast<int>(q & 0x7fffffff);
  *quotient = is_negative(x) != is_negative(y) ? -n : n;
  return is_negative(x) ? -r : r;
}
template <class T> DM_FN T remainder(T x, T y) {
  int q;
  return remquo(x, y, &q);
}

template <class T> DM_FN T round(T x) {
  const T t = trunc_(x);
  return abs_(x - t) >= T(0.5) ? t + copysign_(T(1), x) : copysign_(t, x);
}
template <class T> DM_FN T fdim(T x, T y) { return is_nan(x) || is_nan(y) ? x + y : x > y ? x - y : T(0); }
template <class T> DM_FN T modf(T x, T* whole) {
  *whole = trunc_(x);
  return copysign_(is_inf(x) ? T(0) : x - *whole, x);
}
template <class T> DM_FN T frexp(T x, int* e) {
  *e = 0;
  if (x == T(0) || !is_finite(x)) return x + x;
  int lift = 0;
  if (abs_(x) < pow2<T>(1 - Type<T>::bias)) {
    x *= pow2<T>(Type<T>::mantissa + 2);
    lift = Type<T>::mantissa + 2;
  }
  *e = static_cast<int>((bits(x) & Type<T>::abs_mask) >> Type<T>::mantissa) - (Type<T>::bias - 1) - lift;
  return from_bits((bits(x) & ~Type<T>::inf) | bits(T(0.5)));
}
template <class T> DM_FN int ilogb(T x) {
  if (x == T(0) || is_nan(x)) return -2147483647 - 1;
  if (is_inf(x)) return 2147483647;
  int e;
  frexp(x, &e);
  return e - 1;
}
template <class T> DM_FN T logb(T x) {
  if (x == T(0)) return -infinity<T>();
  if (!is_finite(x)) return x * x;
  int e;
  frexp(x, &e);
  return static_cast<T>(e - 1);
}
template <class T> DM_FN T nextafter(T x, T y) {
  typedef typename Type<T>::Bits Bits;
  if (is_nan(x) || is_nan(y)) return x + y;
  if (x == y) return y;
  if (x == T(0)) return copysign_(from_bits(Bits(1)), y);
  return from_bits((x < y) == (x > T(0)) ? bits(x) + 1 : bits(x) - 1);
}

// One Newton step from 1 / sqrt x; x is brought away from the ends of the range, where the square of the result is not normal.
DM_FN double rsqrt(double x) {
  const int k = x < pow2<double>(-900) ? 100 : x > pow2<double>(900) ? -100 : 0;
  const double v = x * pow2<double>(2 * k);
  const double y = 1.0 / sqrt_(v);
  if (!is_finite(y) || y == 0.0) return y;
  const double square = y * y;
  const double residual = fma_(-v, square, 1.0) - v * fma_(y, y, -square);
  return fma_(0.5 * y, residual, y) * pow2<double>(k);
}

// The power of two that brings the greatest of some magnitudes near 1, and its inverse.
template <class T> DM_FN int length_exponent(T greatest) {
  const int e = static_cast<int>(bits(greatest) >> Type<T>::mantissa) - Type<T>::bias;
  return e > Type<T>::bias - 2 ? Type<T>::bias - 2 : e < 2 - Type<T>::bias ? 2 - Type<T>::bias : e;
}
// Euclidean length of n components: scaled, so that squares neither overflow nor vanish.
template <class T> DM_FN T length(int n, const T* v, bool inverse) {
  T greatest = T(0);
  bool nan = false;
  for (int i = 0; i < n; ++i) {
    greatest = max_(greatest, abs_(v[i]));
    nan = nan || is_nan(v[i]);
  }
  if (is_inf(greatest)) return inverse ? T(0) : greatest;
  if (nan) return quiet_nan<T>();
  if (greatest == T(0)) return inverse ? infinity<T>() : T(0);
  const int e = length_exponent(greatest);
  const T s = pow2<T>(-e);
  T sum = T(0), rest = T(0);
  for (int i = 0; i < n; ++i) {
    const T x = v[i] * s;
    const T square = x * x;
    const T total = sum + square;
    const T larger = max_(sum, square), smaller = min_(sum, square);
    rest += fma_(x, x, -square) + ((larger - total) + smaller);
    sum = total;
  }
  const T root = sqrt_(sum + rest);
  return inverse ? scale_any(T(1) / root, -e) : scale_any(root, e);
}
template <class T> DM_FN T hypot(T x, T y) {
  const T v[2] = {x, y};
  return length(2, v, false);
}
template <class T> DM_FN T rhypot(T x, T y) {
  const T v[2] = {x, y};
  return length(2, v, true);
}
template <class T> DM_FN T norm3(T a, T b, T c, bool inverse) {
  const T v[3] = {a, b, c};
  return length(3, v, inverse);
}
template <class T> DM_FN T norm4(T a, T b, T c, T d, bool inverse) {
  const T v[4] = {a, b, c, d};
  return length(4, v, inverse);
}

}  // namespace dm
