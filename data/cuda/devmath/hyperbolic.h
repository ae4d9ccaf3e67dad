// Hyperbolic functions and their inverses.
#pragma once

#include "exp_log.h"

namespace dm {

DM_FN float sinh_poly(float z) { return horner(z, DM_SINH_F32); }
DM_FN double sinh_poly(double z) { return horner(z, DM_SINH_F64); }
DM_FN float tanh_poly(float z) { return horner(z, DM_TANH_F32); }
DM_FN double tanh_poly(double z) { return horner(z, DM_TANH_F64); }
DM_FN float ln2(float) { return DM_LN2X_F32_1; }
DM_FN double ln2(double) { return DM_LN2X_F64_1; }

template <class T> DM_FN T sinh(T x) {
  if (!is_finite(x)) return x + x;
  const T a = abs_(x);
  if (a < T(1)) return x == T(0) ? x : fma_(x * x * x, sinh_poly(x * x), x);
  const T e = exp_scaled(a, -2);   // a quarter of it: does not overflow before the result does
  return copysign_(T(2) * e - T(0.125) / e, x);
}
template <class T> DM_FN T cosh(T x) {
  if (!is_finite(x)) return x * x;
  const T e = exp_scaled(abs_(x), -2);
  return T(2) * e + T(0.125) / e;
}
template <class T> DM_FN T tanh(T x) {
  if (is_nan(x)) return x + x;
  const T a = abs_(x);
  if (a < T(0.6)) return x == T(0) ? x : fma_(x * x * x, tanh_poly(x * x), x);
  if (a > T(20)) return copysign_(T(1), x);
  return copysign_(T(1) - T(2) / (exp_scaled(T(2) * a, 0) + T(1)), x);
}
template <class T> DM_FN T asinh(T x) {
  if (!is_finite(x) || x == T(0)) return x + x;
  const T a = abs_(x);
  if (a > pow2<T>(Type<T>::mantissa / 2 + 4)) return copysign_(log(a) + ln2(x), x);
  const T z = a * a;
  return copysign_(log1p(a + z / (T(1) + sqrt_(T(1) + z))), x);
}
template <class T> DM_FN T acosh(T x) {
  if (is_nan(x) || x < T(1)) return is_nan(x) ? x + x : quiet_nan<T>();
  if (x > pow2<T>(Type<T>::mantissa / 2 + 4)) return log(x) + ln2(x);
  const T t = x - T(1);
  return log1p(t + sqrt_(fma_(t, t, T(2) * t)));
}
template <class T> DM_FN T atanh(T x) {
  const T a = abs_(x);
  if (!(a <= T(1))) return is_nan(x) ? x + x : quiet_nan<T>();
  if (a == T(1)) return copysign_(infinity<T>(), x);
  if (a == T(0)) return x;
  return copysign_(T(0.5) * log1p(T(2) * a / (T(1) - a)), x);
}

}  // namespace dm
