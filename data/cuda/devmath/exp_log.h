// Exponentials, logarithms, powers and roots.
#pragma once

#include "primitives.h"

namespace dm {

// exp(r + lo) - 1 - (r + lo) for |r| <= ln(2)/2 is r^2 P(r).
DM_FN float expm1_tail(float r) { return horner(r, DM_EXPM1_F32) * (r * r); }
DM_FN double expm1_tail(double r) { return horner(r, DM_EXPM1_F64) * (r * r); }

// exp(x) 2^s: the argument is split as k ln 2 + r. Float: 2^r by the special function unit.
DM_FN float exp_scaled(float x, int s) {
  if (x > 100.0f) return x * infinity<float>();
  if (x < -150.0f) return 0.0f;
  const float k = rint_(x * DM_LOG2E_F32_1);
  const float r = fma_(k, -DM_LN2X_F32_2, fma_(k, -DM_LN2X_F32_1, x));
  return scale(ex2_approx(r * DM_LOG2E_F32_1), static_cast<int>(k) + s);
}
DM_FN double exp_scaled(double x, int s) {
  if (x > 800.0) return x * infinity<double>();
  if (x < -800.0) return 0.0;
  const double k = rint_(x * DM_LOG2E_F64_1);
  const double r = fma_(k, -DM_LN2_F64_2, fma_(k, -DM_LN2_F64_1, x));
  return scale(1.0 + (r + expm1_tail(r)), static_cast<int>(k) + s);
}
DM_FN double exp(double x) { return is_nan(x) ? x + x : exp_scaled(x, 0); }
// As short as in GPU libraries, without a branch and with one use of the special function unit: kernels call it in inner loops. k is the nearest
// integer to x / ln 2, held in [-126, 126]; the sum with 2^23 + 2^22 + 127 rounds it and has its exponent in the low bits. Beyond that range r grows, so that 2^r
// overflows, or makes the product subnormal, in the last multiplication. A NaN comes through r.
DM_FN float exp(float x) {
  constexpr float magic = 12582912.0f + 127.0f;
  const float t = fma_(unit_(fma_(x, DM_LOG2E_F32_1 / 252.0f, 0.5f)), 252.0f, magic - 126.0f);
  const float k = t - magic;
  const float r = fma_(x, DM_LOG2E_F32_2, fma_(x, DM_LOG2E_F32_1, -k));
  return ex2_near(r) * from_bits(bits(t) << 23);
}

DM_FN float exp2(float x) {
  if (is_nan(x)) return x + x;
  const float c = min_(max_(x, -160.0f), 140.0f);
  const float k = rint_(c);
  return scale(ex2_approx(c - k), static_cast<int>(k));
}
// 2^(r + lo) for |r| <= 1/2.
DM_FN double exp2_reduced(double r, double lo) {
  const double y = r * DM_LN2X_F64_1;
  const double yl = fma_(r, DM_LN2X_F64_1, -y) + fma_(r, DM_LN2X_F64_2, lo * DM_LN2X_F64_1);
  const double tail = expm1_tail(y);
  return 1.0 + (y + (tail + fma_(yl, y + tail, yl)));
}
DM_FN float exp2_reduced(float r, float lo) { return ex2_approx(r + lo); }
DM_FN double exp2(double x) {
  if (is_nan(x)) return x + x;
  const double c = min_(max_(x, -1100.0), 1030.0);
  const double k = rint_(c);
  return scale(exp2_reduced(c - k, 0.0), static_cast<int>(k));
}
DM_FN float exp10(float x) {
  if (is_nan(x)) return x + x;
  const float c = min_(max_(x, -50.0f), 42.0f);
  const float k = rint_(c * DM_LOG2_10_F32_1);
  const float r = fma_(k, -DM_LOG10_2_F32_2, fma_(k, -DM_LOG10_2_F32_1, c));
  return scale(ex2_approx(fma_(r, DM_LOG2_10_F32_1, r * DM_LOG2_10_F32_2)), static_cast<int>(k));
}
DM_FN double exp10(double x) {
  if (is_nan(x)) return x + x;
  const double c = min_(max_(x, -330.0), 310.0);
  const double k = rint_(c * DM_LOG2_10_F64_1);
  const double r = fma_(k, -DM_LOG10_2_F64_2, fma_(k, -DM_LOG10_2_F64_1, c)) * DM_LN10_F64_1;
  return scale(1.0 + (r + expm1_tail(r)), static_cast<int>(k));
}

template <class T> DM_FN T expm1_any(T x, T log2e, T ln2_1, T ln2_2, T high, T low) {
  if (is_nan(x)) return x + x;
  if (x > high) return infinity<T>();
  if (x < low) return T(-1);
  const T k = rint_(x * log2e);
  const T near = fma_(k, -ln2_1, x);
  const T r = fma_(k, -ln2_2, near);
  if (k == T(0)) return r == T(0) ? x : r + expm1_tail(r);
  const T cut = fma_(k, -ln2_2, near - r);   // what r lost
  // 2^k - 1 + 2^k r, its rounding errors kept, then the small terms; by halves, for 2^k may overflow although the result does not.
  const T half = pow2<T>(static_cast<int>(k) - 1);
  const T a = half - T(0.5), b = half * r;
  const T sum = a + b;
  const T lost = (abs_(a) >= abs_(b) ? (a - sum) + b : (b - sum) + a) + ((half - a) - T(0.5));
  return T(2) * (sum + fma_(half, expm1_tail(r) + fma_(cut, r, cut), lost));
}
DM_FN float expm1(float x) { return expm1_any(x, DM_LOG2E_F32_1, DM_LN2X_F32_1, DM_LN2X_F32_2, 88.8f, -20.0f); }
DM_FN double expm1(double x) { return expm1_any(x, DM_LOG2E_F64_1, DM_LN2_F64_1, DM_LN2_F64_2, 709.9, -40.0); }

// Results of a logarithm for arguments that have none: x <= 0, infinity, NaN.
template <class T> DM_FN bool log_special(T x, T* result) {
  if (x > T(0) && x < infinity<T>()) return false;
  *result = x == T(0) ? -infinity<T>() : x < T(0) ? quiet_nan<T>() : x + x;
  return true;
}

// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)), plus k ln 2.
DM_FN double log_sum(double f, double k) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double r = z * horner(z, DM_ATANH_F64);
  const double h = 0.5 * f * f;
  return fma_(k, DM_LN2_F64_1, -((h - fma_(s, h + r, k * DM_LN2_F64_2)) - f));
}
DM_FN float log1p_poly(float f) { return fma_(f * f, fma_(f, horner(f, DM_LOG1P_F32), -0.5f), f); }
// Float: m in [2/3, 4/3), where one polynomial serves.
DM_FN float log_split(float x, float* k) {
  int e = 0;
  if (bits(x) < 0x00800000u) {
    x *= 33554432.0f;
    e = -25;
  }
  const int n = static_cast<int>(bits(x) - 0x3f2aaaabu) >> 23;
  *k = static_cast<float>(e + n);
  return from_bits(bits(x) - (static_cast<u32>(n) << 23)) - 1.0f;
}
DM_FN float log(float x) {
  float special;
  if (log_special(x, &special)) return special;
  float k;
  const float f = log_split(x, &k);
  return fma_(k, DM_LN2X_F32_1, log1p_poly(f));
}
DM_FN double log(double x) {
  double special;
  if (log_special(x, &special)) return special;
  int k;
  const double m = split_exponent(x, &k);
  return log_sum(m - 1.0, static_cast<double>(k));
}
DM_FN float log1p(float x) {
  float special;
  if (log_special(x + 1.0f, &special)) return is_nan(x) || x > 0.0f ? x + x : special;
  if (x > -0.3333f && x < 0.3333f) return x == 0.0f ? x : log1p_poly(x);
  const float u = 1.0f + x;
  const float c = x >= 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  float k;
  const float f = log_split(u, &k);
  return fma_(k, DM_LN2X_F32_1, log1p_poly(f) + c / u);
}
DM_FN double log1p(double x) {
  double special;
  if (log_special(x + 1.0, &special)) return is_nan(x) || x > 0.0 ? x + x : special;
  if (x > -0.2928 && x < 0.4142) return x == 0.0 ? x : log_sum(x, 0.0);
  const double u = 1.0 + x;
  const double c = x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  int k;
  const double m = split_exponent(u, &k);
  return log_sum(m - 1.0, static_cast<double>(k)) + c / u;
}

// ln m / 2 = atanh((m - 1)/(m + 1)) as a sum hi + lo of about twice the precision.
template <class T> struct Pair {
  T hi, lo;
};
DM_FN float pow_log_poly(float z) { return horner(z, DM_POWLOG_F32); }
DM_FN double pow_log_poly(double z) { return horner(z, DM_POWLOG_F64); }
template <class T> DM_FN Pair<T> half_log(T m, T third_1, T third_2) {
  const T f = m - T(1);
  const T t = m + T(1);
  const T b = t - T(1);
  const T t_lo = (T(1) - (t - b)) + (m - b);
  const T s = f / t;
  const T s_lo = fma_(-s, t_lo, fma_(-s, t, f)) / t;
  const T q = s * s;
  const T q_lo = fma_(s, s, -q) + T(2) * s * s_lo;
  const T a = q * pow_log_poly(q);
  const T w = third_1 + a;
  const T w_lo = ((third_1 - w) + a) + third_2;
  const T p = q * w;
  const T p_lo = fma_(q, w, -p) + fma_(q, w_lo, q_lo * w);
  const T u = s * p;
  const T u_lo = fma_(s, p, -u) + fma_(s, p_lo, s_lo * p);
  Pair<T> v;
  const T sum = s + u;
  const T rest = ((s - sum) + u) + (u_lo + s_lo);
  v.hi = sum + rest;
  v.lo = (sum - v.hi) + rest;
  return v;
}
// (value of half_log) times the constant c = c1 + c2, plus k.
template <class T> DM_FN Pair<T> times_plus(Pair<T> v, T c1, T c2, T k) {
  const T y = v.hi * c1;
  const T y_lo = fma_(v.hi, c1, -y) + fma_(v.hi, c2, v.lo * c1);
  Pair<T> r;
  const T sum = k + y;
  const T rest = ((k - sum) + y) + y_lo;
  r.hi = sum + rest;
  r.lo = (sum - r.hi) + rest;
  return r;
}
DM_FN Pair<float> log2_pair(float x) {
  int k;
  const float m = split_exponent(x, &k);
  return times_plus(half_log(m, DM_THIRD_F32_1, DM_THIRD_F32_2), DM_TWO_LOG2E_F32_1, DM_TWO_LOG2E_F32_2, static_cast<float>(k));
}
DM_FN Pair<double> log2_pair(double x) {
  int k;
  const double m = split_exponent(x, &k);
  return times_plus(half_log(m, DM_THIRD_F64_1, DM_THIRD_F64_2), DM_TWO_LOG2E_F64_1, DM_TWO_LOG2E_F64_2, static_cast<double>(k));
}
DM_FN float log2(float x) {
  float special;
  if (log_special(x, &special)) return special;
  float k;
  const float l = log1p_poly(log_split(x, &k));
  return k + fma_(l, DM_LOG2E_F32_1, l * DM_LOG2E_F32_2);
}
DM_FN double log2(double x) {
  double special;
  if (log_special(x, &special)) return special;
  return log2_pair(x).hi;
}
DM_FN float log10(float x) {
  float special;
  if (log_special(x, &special)) return special;
  float k;
  const float l = log1p_poly(log_split(x, &k));
  return fma_(k, DM_LOG10_2_F32_1, fma_(l, DM_LOG10E_F32_1, fma_(l, DM_LOG10E_F32_2, k * DM_LOG10_2_F32_2)));
}
DM_FN double log10(double x) {
  double special;
  if (log_special(x, &special)) return special;
  const Pair<double> l = log2_pair(x);
  const double y = l.hi * DM_LOG10_2_F64_1;
  return y + (fma_(l.hi, DM_LOG10_2_F64_1, -y) + fma_(l.hi, DM_LOG10_2_F64_2, l.lo * DM_LOG10_2_F64_1));
}

// |x|^y for finite positive |x| not 1 and finite y not 0.
template <class T> DM_FN T pow_positive(T a, T y) {
  const Pair<T> l = log2_pair(a);
  const T p = y * l.hi;
  const T most = T(2 * Type<T>::bias - 4);   // beyond it the result is 0 or infinity
  if (!(abs_(p) < most)) return p > T(0) ? infinity<T>() : T(0);
  const T p_lo = fma_(y, l.hi, -p) + y * l.lo;
  const T k = rint_(p);
  return scale(exp2_reduced(p - k, p_lo), static_cast<int>(k));
}
template <class T> DM_FN T pow(T x, T y) {
  if (x == T(1) || y == T(0)) return T(1);
  if (is_nan(x) || is_nan(y)) return x + y;
  const T a = abs_(x);
  const bool y_integer = trunc_(y) == y;
  const bool y_odd = y_integer && abs_(y) < pow2<T>(Type<T>::mantissa + 1) && T(2) * trunc_(y * T(0.5)) != y;
  if (is_inf(y)) {
    if (a == T(1)) return T(1);
    return (a > T(1)) == (y > T(0)) ? infinity<T>() : T(0);
  }
  T r;
  if (a == T(0)) {
    r = y > T(0) ? T(0) : infinity<T>();
  } else if (is_inf(a)) {
    r = y > T(0) ? infinity<T>() : T(0);
  } else {
    if (is_negative(x) && !y_integer) return quiet_nan<T>();
    r = a == T(1) ? T(1) : pow_positive(a, y);
  }
  return is_negative(x) && y_odd ? -r : r;
}
template <class T> DM_FN T powi(T x, int n) { return pow(x, static_cast<T>(n)); }

DM_FN float cbrt(float x) {
  const float a = abs_(x);
  if (a == 0.0f || !is_finite(x)) return x + x;
  const bool tiny = bits(a) < 0x00800000u;
  const float v = tiny ? a * 16777216.0f : a;
  float t = ex2_approx(lg2_approx(v) * 0.33333334f);
  t = fma_(fma_(-t * t, t, v) * 0.33333334f, 1.0f / (t * t), t);
  return copysign_(tiny ? t * 0.00390625f : t, x);
}
DM_FN double cbrt(double x) {
  const double a = abs_(x);
  if (a == 0.0 || !is_finite(x)) return x + x;
  int k;
  const double m = split_exponent(a, &k);
  const int third = (k >= 0 ? k : k - 2) / 3;
  const double v = m * pow2<double>(k - 3 * third);   // [0.7, 5.7)
  double t = static_cast<double>(ex2_approx(lg2_approx(static_cast<float>(v)) * 0.33333334f));
  for (int i = 0; i < 2; ++i) {
    const double t3 = t * t * t;
    t = i == 0 ? t * (t3 + 2.0 * v) / (2.0 * t3 + v) : fma_(fma_(-t * t, t, v), 1.0 / (3.0 * t * t), t);
  }
  return copysign_(scale(t, third), x);
}
// One Newton step from 1 / cbrt x, its residual 1 - x y^3 to twice the precision; x is first brought away from the ends of
// the range, where parts of the cube would overflow or vanish.
template <class T> DM_FN T rcbrt(T x) {
  const T a = abs_(x);
  if (a == T(0) || !is_finite(x)) return T(1) / x;
  constexpr int third = Type<T>::bias / 6;
  const int k = a < pow2<T>(-3 * third) ? third : a > pow2<T>(3 * third) ? -third : 0;
  const T v = a * pow2<T>(3 * k);
  const T y = T(1) / cbrt(v);
  const T square = y * y, cube = square * y;
  const T cube_rest = fma_(square, y, -cube) + fma_(y, y, -square) * y;
  const T one = v * cube;
  const T residual = (T(1) - one) - (fma_(v, cube, -one) + v * cube_rest);
  return copysign_(fma_(y * T(0.33333333333333333), residual, y) * pow2<T>(k), x);
}

}  // namespace dm
