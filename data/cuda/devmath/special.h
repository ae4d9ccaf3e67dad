// Error functions, normal distribution, gamma functions.
#pragma once

#include "hyperbolic.h"
#include "trig.h"

namespace dm {

DM_FN float erf_poly(float z) { return horner(z, DM_ERF_F32); }
DM_FN double erf_poly(double z) { return horner(z, DM_ERF_F64); }
DM_FN float erfc_poly(float s) { return horner(s, DM_ERFC_F32); }
DM_FN double erfc_poly(double s) { return horner(s, DM_ERFC_F64); }

// exp(a^2) erfc(a) for a >= 0.
template <class T> DM_FN T erfcx_positive(T a) {
  const T d = a + T(4);
  const T s = (a - T(4)) / d;
  return erfc_poly(s) / fma_(T(2), a, T(1));
}
// exp(-a^2), the square taken exactly.
template <class T> DM_FN T exp_minus_square(T a) {
  const T h = a * a;
  const T l = fma_(a, a, -h);
  const T e = exp_scaled(-h, 0);
  return fma_(-l, e, e);
}
template <class T> DM_FN T erfc_tail(T a) {
  return a > T(30) ? T(0) : exp_minus_square(a) * erfcx_positive(a);
}
template <class T> DM_FN T erf(T x) {
  if (is_nan(x)) return x + x;
  const T a = abs_(x);
  if (a < T(1)) return x * erf_poly(x * x);
  return copysign_(T(1) - erfc_tail(a), x);
}
template <class T> DM_FN T erfc(T x) {
  if (is_nan(x)) return x + x;
  if (abs_(x) < T(0.25)) return T(1) - x * erf_poly(x * x);
  const T t = erfc_tail(abs_(x));
  return x < T(0) ? T(2) - t : t;
}
template <class T> DM_FN T erfcx(T x) {
  if (is_nan(x)) return x + x;
  if (abs_(x) < T(0.25)) return exp_scaled(x * x, 0) * (T(1) - x * erf_poly(x * x));
  if (x >= T(0)) return is_inf(x) ? T(0) : erfcx_positive(x);
  if (x < T(-30)) return infinity<T>();
  const T h = x * x;
  const T e = exp_scaled(h, 0);
  if (is_inf(e)) return e;
  return T(2) * fma_(fma_(x, x, -h), e, e) - erfcx_positive(-x);
}

// y with erfc(y) = p for p <= 1/2: Newton's method on the logarithm, from a start good to some per mille.
DM_FN double erfc_inverse_tail(double p) {
  const double l = log(p * (2.0 - p));
  const double b = 4.330746750799873 + 0.5 * l;   // 2/(0.147 pi)
  double y = sqrt_(sqrt_(b * b - l * 6.802721088435374) - b);
  const double target = log(p);
  for (int i = 0; i < 4; ++i) {
    const double x = erfcx_positive(y);
    y += (log(x) - y * y - target) * x * 0.88622692545275801;   // sqrt(pi)/2
  }
  return y;
}
DM_SLOW double erfinv(double x) {
  const double a = abs_(x);
  if (!(a < 1.0)) return a == 1.0 ? copysign_(infinity<double>(), x) : quiet_nan<double>();
  if (a > 0.5) return copysign_(erfc_inverse_tail(1.0 - a), x);
  const double l = log1p(-a * a);
  const double b = 4.330746750799873 + 0.5 * l;
  double y = a * 0.88622692545275801;
  if (a > 0.01) y = sqrt_(sqrt_(b * b - l * 6.802721088435374) - b);
  for (int i = 0; i < 3; ++i) {
    const double u = (y * erf_poly(y * y) - a) * 0.88622692545275801 * exp_scaled(y * y, 0);
    y -= u / fma_(y, u, 1.0);
  }
  return x == 0.0 ? x : copysign_(y, x);
}
DM_SLOW double erfcinv(double p) {
  if (!(p > 0.0 && p < 2.0))
    return p == 0.0 ? infinity<double>() : p == 2.0 ? -infinity<double>() : quiet_nan<double>();
  if (p < 0.5) return erfc_inverse_tail(p);
  if (p > 1.5) return -erfc_inverse_tail(2.0 - p);
  return erfinv(1.0 - p);
}
DM_FN double normcdf(double x) {
  if (is_nan(x)) return x + x;
  if (x < -40.0) return 0.0;
  if (x > 40.0) return 1.0;
  const double y = x * -0.70710678118654752;
  const double l = fma_(x, -0.70710678118654752, -y) + x * 4.8336466567264567e-17;
  const double t = 0.5 * erfc(y);
  return y > 1.0 ? fma_(t, -2.0 * y * l, t) : t;
}
DM_FN double normcdfinv(double p) { return p == 0.5 ? 0.0 : -1.4142135623730951 * erfcinv(2.0 * p); }

// log gamma for x >= 1/2 or so: near 1 and 2 by a polynomial with the root factored out, far out by Stirling's series,
// between by the recurrence.
DM_FN double lgamma_positive(double x) {
  if (x >= 10.0) {
    const double z = 1.0 / (x * x);
    const double series = horner(z, DM_STIRLING_F64) / x;
    const double l = log(x);
    if (is_inf(l) || x > 1e305) return is_inf(x) ? x : x * (l - 1.0);
    const double a = x - 0.5;
    const double h = a * (l - 1.0);
    return h + (fma_(a, l - 1.0, -h) + (DM_HALF_LN_2PI_F64_1 - 0.5 + series));
  }
  if (abs_(x - 1.0) <= 0.3) return (x - 1.0) * horner(x - 1.0, DM_LGAMMA1_F64);
  double product = 1.0;
  while (x > 2.7) {
    x -= 1.0;
    product *= x;
  }
  double below = 1.0;
  while (x < 1.3) {
    below *= x;
    x += 1.0;
  }
  const double r = (x - 2.0) * horner(x - 2.0, DM_LGAMMA2_F64);
  return product > 1.0 ? r + log(product) : below < 1.0 || below > 1.0 ? r - log(below) : r;
}
DM_SLOW double lgamma(double x) {
  if (is_nan(x)) return x + x;
  if (is_inf(x)) return infinity<double>();
  if (x > 0.0) {
    if (x < 1e-8) return -log(x);
    return lgamma_positive(x);
  }
  if (trunc_(x) == x) return infinity<double>();
  const double a = -x;
  if (a < 1e-8) return -log(a);
  // Reflection: gamma(x) gamma(-x) = -pi / (x sin(pi x)).
  return log(3.14159265358979323846 / abs_(a * sinpi(a))) - lgamma_positive(a);
}
// gamma on [1, 171.7].
DM_FN double tgamma_positive(double x) {
  if (x < 20.0) {
    double product = 1.0, rest = 0.0;   // with the rounding errors of the factors, up to 18 of them
    while (x > 2.0) {
      x -= 1.0;
      const double next = product * x;
      rest = fma_(product, x, -next) + rest * x;
      product = next;
    }
    const double g = horner(x - 1.5, DM_GAMMA_F64);
    return fma_(product, g, rest * g);
  }
  const double z = 1.0 / (x * x);
  const double series = horner(z, DM_STIRLING_F64) / x;
  const double w = pow_positive(x, 0.5 * x);   // exact exponents: their rounding errors would be magnified
  return w * (exp_scaled(-x, 0) * exp_scaled(series, 0) * 2.5066282746310005 / sqrt_(x)) * w;
}
DM_SLOW double tgamma(double x) {
  if (is_nan(x) || x == infinity<double>()) return x;
  if (x == 0.0) return copysign_(infinity<double>(), x);
  if (x < 0.0 && (trunc_(x) == x || is_inf(x))) return quiet_nan<double>();
  if (x > 171.7) return infinity<double>();
  if (x >= 1.0) return tgamma_positive(x);
  if (x > 0.0) return tgamma_positive(x + 1.0) / x;
  if (x > -1.0) return tgamma_positive(x + 2.0) / (x * (x + 1.0));
  if (x < -184.0) return copysign_(0.0, 2.0 * trunc_(0.5 * floor_(x)) == floor_(x) ? 1.0 : -1.0);
  // gamma(x) = -pi / (sin(pi x) a gamma(a)) with a = -x; in two divisions, for the product may overflow.
  const double a = -x;
  const double g = a <= 170.0 ? tgamma_positive(a) : tgamma_positive(a - 16.0);
  double r = 3.14159265358979323846 / (a * sinpi(a)) / g;
  if (a > 170.0)
    for (int i = 1; i <= 16; ++i) r /= a - static_cast<double>(i);
  return -r;
}

}  // namespace dm
