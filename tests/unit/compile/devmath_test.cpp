// Accuracy of the device maths library: its sources, compiled for the host, against the C library in extended
// precision. The bounds are those that docs/guide/cuda.md states.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "basic.h"
#include "exp_log.h"
#include "hyperbolic.h"
#include "special.h"
#include "trig.h"

namespace {

// Distance of a result from the true value in units of the last place of the true value's type.
template <class T>
double ulps(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0.0 : 1e30;
  const T rounded = static_cast<T>(want);
  if (std::isinf(rounded)) return got == rounded ? 0.0 : std::isinf(got) ? 1e30 : 1.0;
  if (std::isnan(got)) return 1e30;
  int e = 0;
  std::frexp(rounded, &e);
  const int lowest = std::numeric_limits<T>::min_exponent;
  const long double unit = std::ldexp(1.0L, std::max(e, lowest) - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / unit);
}

enum class Spread { even, logarithmic };

template <class T>
struct Case {
  std::string name;
  std::function<T(T)> ours;
  std::function<long double(long double)> reference;
  double low, high;
  Spread spread;
  double bound;
};

template <class T>
T sample(std::mt19937_64& random, const Case<T>& c) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  if (c.spread == Spread::even) return static_cast<T>(c.low + (c.high - c.low) * unit(random));
  const double magnitude = std::exp(std::log(c.low) + (std::log(c.high) - std::log(c.low)) * unit(random));
  return static_cast<T>(magnitude);
}

template <class T>
void check(const std::vector<Case<T>>& cases) {
  for (const Case<T>& c : cases) {
    std::mt19937_64 random(7);
    double worst = 0;
    T at = 0;
    for (int i = 0; i < 40000; ++i) {
      const T x = sample(random, c);
      const double e = ulps(c.ours(x), c.reference(static_cast<long double>(x)));
      if (e > worst) worst = e, at = x;
    }
    EXPECT_LE(worst, c.bound) << c.name << " is off by " << worst << " ulp at " << at;
  }
}

#define ONE(T, name, low, high, spread, bound)                                                             \
  Case<T> {                                                                                                \
#name, [](T x) { return dm::name(x); }, [](long double x) { return std::name(x); }, low, high,         \
                                                                                     Spread::spread, bound \
  }

template <class T>
std::vector<Case<T>> elementary(double s, double most) {
  return {
      ONE(T, exp, -80, 80, even, 2 * s),
      ONE(T, exp, -1, 1, even, 2 * s),
      ONE(T, exp2, -120, 120, even, 2 * s),
      ONE(T, expm1, -20, 80, even, 1 * s),
      ONE(T, expm1, -1, 1, even, 1 * s),
      ONE(T, expm1, 1e-10, 1, logarithmic, 1 * s),
      ONE(T, log, 1e-37, 1e37, logarithmic, 2 * s),
      ONE(T, log, 0.5, 2, even, 2 * s),
      ONE(T, log2, 1e-37, 1e37, logarithmic, 2 * s),
      ONE(T, log2, 0.5, 2, even, 2 * s),
      ONE(T, log10, 1e-37, 1e37, logarithmic, 2 * s),
      ONE(T, log10, 0.5, 2, even, 2 * s),
      ONE(T, log1p, -0.99, 10, even, 2 * s),
      ONE(T, log1p, 1e-12, 1e30, logarithmic, 2 * s),
      ONE(T, cbrt, 1e-37, 1e37, logarithmic, 2 * s),
      ONE(T, sin, -10, 10, even, 2 * s),
      ONE(T, sin, 1, most, logarithmic, 2 * s),
      ONE(T, cos, -10, 10, even, 2 * s),
      ONE(T, cos, 1, most, logarithmic, 2 * s),
      ONE(T, tan, -10, 10, even, 4 * s),
      ONE(T, tan, 1, most, logarithmic, 4 * s),
      ONE(T, sin, 1e-30, 1, logarithmic, 2 * s),
      ONE(T, asin, -1, 1, even, 4 * s),
      ONE(T, asin, 1e-20, 1, logarithmic, 4 * s),
      ONE(T, acos, -1, 1, even, 4 * s),
      ONE(T, atan, -20, 20, even, 2 * s),
      ONE(T, atan, 1e-20, 1e20, logarithmic, 2 * s),
      ONE(T, sinh, -80, 80, even, 4 * s),
      ONE(T, sinh, -1.5, 1.5, even, 4 * s),
      ONE(T, cosh, -80, 80, even, 4 * s),
      ONE(T, tanh, -10, 10, even, 4 * s),
      ONE(T, tanh, 1e-20, 10, logarithmic, 4 * s),
      ONE(T, asinh, -100, 100, even, 4 * s),
      ONE(T, asinh, 1e-20, 1e30, logarithmic, 4 * s),
      ONE(T, acosh, 1, 100, even, 4 * s),
      ONE(T, acosh, 1, 1e30, logarithmic, 4 * s),
      ONE(T, atanh, -0.999, 0.999, even, 4 * s),
      ONE(T, erf, -6, 6, even, 4 * s),
      ONE(T, erf, 1e-20, 1, logarithmic, 4 * s),
      ONE(T, erfc, -5, 9, even, 6 * s),
  };
}

TEST(DeviceMaths, SinglePrecisionElementaryFunctionsAreWithinTheirBounds) {
  check<float>(elementary<float>(1, 3e38));
}
TEST(DeviceMaths, DoublePrecisionElementaryFunctionsAreWithinTheirBounds) {
  check<double>(elementary<double>(1, 1e300));
}

// Into the subnormal results, and to where the next argument overflows.
TEST(DeviceMaths, SinglePrecisionExponentialCoversItsWholeRange) {
  check<float>({ONE(float, exp, -103, -80, even, 2), ONE(float, exp, 80, 88.7F, even, 2)});
}

TEST(DeviceMaths, DoublePrecisionCoversItsWholeRange) {
  check<double>({ONE(double, exp, -700, 709, even, 2), ONE(double, exp2, -1020, 1023, even, 2),
                 ONE(double, log, 1e-300, 1e300, logarithmic, 2),
                 ONE(double, cbrt, 1e-300, 1e300, logarithmic, 2), ONE(double, sinh, -700, 709, even, 4),
                 ONE(double, erfc, 0, 26, even, 6), ONE(double, exp, -744, -708, even, 2),
                 ONE(double, log1p, 1e-300, 1, logarithmic, 2)});
}

// exp(x^2) erfc(x), the square taken exactly; x is below the point where erfc has no more normal results.
long double scaled_erfc(long double x) {
  const long double h = x * x, l = std::fma(x, x, -h), e = std::exp(h);
  return std::fma(e, l, e) * std::erfc(x);
}
template <class T>
void check_functions_that_c_lacks(double rcbrt_low, double rcbrt_high) {
  const auto rcbrt = [](T x) { return dm::rcbrt(x); };
  const auto erfcx = [](T x) { return dm::erfcx(x); };
  const auto right = [](long double x) { return 1 / std::cbrt(x); };
  check<T>({{"rcbrt", rcbrt, right, 1, 8, Spread::even, 1},
            {"rcbrt", rcbrt, right, rcbrt_low, rcbrt_high, Spread::logarithmic, 1},
            {"erfcx", erfcx, scaled_erfc, -9, 9, Spread::even, 4},
            {"erfcx", erfcx, scaled_erfc, 1e-10, 25, Spread::logarithmic, 4}});
}
TEST(DeviceMaths, FunctionsThatTheCLibraryLacksAreWithinTheirBounds) {
  check_functions_that_c_lacks<float>(1e-44, 3e38);
  check_functions_that_c_lacks<double>(1e-323, 1e308);
  const auto root = [](long double x) { return 1 / std::sqrt(x); };
  const auto rsqrt = [](double x) { return dm::rsqrt(x); };
  check<double>({{"rsqrt", rsqrt, root, 1, 4, Spread::even, 1},
                 {"rsqrt", rsqrt, root, 1e-323, 1e308, Spread::logarithmic, 1}});
  EXPECT_EQ(dm::rsqrt(0.0), INFINITY);
  EXPECT_EQ(dm::rsqrt(INFINITY), 0.0);
  EXPECT_TRUE(std::isnan(dm::rsqrt(-1.0)));
  EXPECT_EQ(dm::rcbrt(-8.0), -0.5);
  EXPECT_EQ(dm::rcbrt(-0.0f), -INFINITY);
  EXPECT_EQ(dm::rcbrt(INFINITY), 0.0f);
  EXPECT_EQ(dm::normcdfinv(0.5), 0.0);
  EXPECT_FALSE(std::signbit(dm::normcdfinv(0.5)));
}

TEST(DeviceMaths, GammaFunctionsAreWithinTheirBounds) {
  check<double>({ONE(double, tgamma, 1e-5, 20, even, 2), ONE(double, tgamma, 20, 171, even, 8),
                 ONE(double, tgamma, -20, 0, even, 8), ONE(double, lgamma, 1e-8, 3, even, 10),
                 ONE(double, lgamma, 3, 1e10, logarithmic, 6)});
}

TEST(DeviceMaths, InversesOfTheErrorFunctionGiveTheArgumentBack) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> even(-0.999, 0.999), exponent(-300, -0.5);
  for (int i = 0; i < 20000; ++i) {
    const double x = even(random);
    const double y = dm::erfinv(x);
    // The slope turns an error of y into an error of x.
    const long double slope = 1.1283791670955126L * std::exp(-static_cast<long double>(y) * y);
    EXPECT_LE(std::fabs((std::erf(static_cast<long double>(y)) - x) / slope),
              8 * 2.3e-16 * std::fabs(y) + 1e-17)
        << x;
    const double p = std::pow(10.0, exponent(random));
    const double z = dm::erfcinv(p);
    EXPECT_LE(std::fabs(std::erfc(static_cast<long double>(z)) / p - 1), 4 * z * z * 2.3e-16 + 1e-14) << p;
  }
}

template <class T>
void check_two(const std::string& name, const std::function<T(T, T)>& ours,
               const std::function<long double(long double, long double)>& reference,
               const std::function<T(std::mt19937_64&)>& first,
               const std::function<T(std::mt19937_64&)>& second, double bound) {
  std::mt19937_64 random(11);
  double worst = 0;
  T wx = 0, wy = 0;
  for (int i = 0; i < 60000; ++i) {
    const T x = first(random), y = second(random);
    const double e = ulps(ours(x, y), reference(x, y));
    if (e > worst) worst = e, wx = x, wy = y;
  }
  EXPECT_LE(worst, bound) << name << " is off by " << worst << " ulp at " << wx << ", " << wy;
}

template <class T>
void two_arguments(double range) {
  const auto anything = [range](std::mt19937_64& r) {
    std::uniform_real_distribution<double> e(-range, range), sign(-1, 1);
    return static_cast<T>(std::copysign(std::pow(10.0, e(r)), sign(r)));
  };
  const auto positive = [anything](std::mt19937_64& r) { return std::fabs(anything(r)); };
  const auto near_one = [](std::mt19937_64& r) {
    return static_cast<T>(std::uniform_real_distribution<double>(0.5, 2)(r));
  };
  const auto small = [](std::mt19937_64& r) {
    return static_cast<T>(std::uniform_real_distribution<double>(-10, 10)(r));
  };
  const auto large = [](std::mt19937_64& r) {
    return static_cast<T>(std::uniform_real_distribution<double>(-120, 120)(r));
  };
  using L = long double;
  check_two<T>(
      "pow", [](T a, T b) { return dm::pow(a, b); }, [](L a, L b) { return std::pow(a, b); }, positive, small,
      4);
  check_two<T>(
      "pow", [](T a, T b) { return dm::pow(a, b); }, [](L a, L b) { return std::pow(a, b); }, near_one, large,
      4);
  check_two<T>(
      "atan2", [](T a, T b) { return dm::atan2(a, b); }, [](L a, L b) { return std::atan2(a, b); }, anything,
      anything, 3);
  check_two<T>(
      "atan2", [](T a, T b) { return dm::atan2(a, b); }, [](L a, L b) { return std::atan2(a, b); }, small,
      small, 3);
  check_two<T>(
      "hypot", [](T a, T b) { return dm::hypot(a, b); }, [](L a, L b) { return std::hypot(a, b); }, anything,
      anything, 2);
  check_two<T>(
      "hypot", [](T a, T b) { return dm::hypot(a, b); }, [](L a, L b) { return std::hypot(a, b); }, small,
      small, 2);
  check_two<T>(
      "fmod", [](T a, T b) { return dm::fmod(a, b); }, [](L a, L b) { return std::fmod(a, b); }, anything,
      anything, 0);
  check_two<T>(
      "remainder", [](T a, T b) { return dm::remainder(a, b); },
      [](L a, L b) { return std::remainder(a, b); }, anything, anything, 0);
  check_two<T>(
      "fdim", [](T a, T b) { return dm::fdim(a, b); }, [](L a, L b) { return std::fdim(a, b); }, small, small,
      0.5);
}
TEST(DeviceMaths, FunctionsOfTwoSinglePrecisionArgumentsAreWithinTheirBounds) { two_arguments<float>(37); }
TEST(DeviceMaths, FunctionsOfTwoDoublePrecisionArgumentsAreWithinTheirBounds) { two_arguments<double>(300); }

template <class T>
void same(const char* what, T got, T want) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << ": " << got << " instead of NaN";
    return;
  }
  EXPECT_TRUE(got == want && std::signbit(got) == std::signbit(want))
      << what << ": " << got << " instead of " << want;
}

// Every pair and every single of these goes through all functions that have exact special values.
template <class T>
void special_values() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> v = {0,
                            T(-0.0),
                            1,
                            -1,
                            2,
                            -2,
                            3,
                            -3,
                            T(0.5),
                            T(-0.5),
                            T(2.5),
                            T(-2.5),
                            T(1e30),
                            T(-1e30),
                            inf,
                            -inf,
                            nan,
                            std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::denorm_min(),
                            std::numeric_limits<T>::max()};
  for (const T x : v) {
    SCOPED_TRACE(x);
    same("round", dm::round(x), std::round(x));
    same("logb", dm::logb(x), std::logb(x));
    T whole_ours, whole;
    same("modf", dm::modf(x, &whole_ours), std::modf(x, &whole));
    same("modf's integer", whole_ours, whole);
    int e_ours, e;
    const T m = dm::frexp(x, &e_ours);
    same("frexp", m, std::frexp(x, &e));
    if (std::isfinite(x)) { EXPECT_EQ(e_ours, e); }
    for (const int k : {0, 1, -1, 30, -30, 150, -150, 1100, -1100, 100000, -100000})
      same("ldexp", dm::scale_any(x, k), std::ldexp(x, k));
    if (!std::isfinite(x) || x == 0) {
      same("exp", dm::exp(x), std::exp(x));
      same("exp2", dm::exp2(x), std::exp2(x));
      same("expm1", dm::expm1(x), std::expm1(x));
      same("sin", dm::sin(x), std::sin(x));
      same("tan", dm::tan(x), std::tan(x));
      same("sinh", dm::sinh(x), std::sinh(x));
      same("cosh", dm::cosh(x), std::cosh(x));
      same("asinh", dm::asinh(x), std::asinh(x));
      same("cbrt", dm::cbrt(x), std::cbrt(x));
      same("erf", dm::erf(x), std::erf(x));
    }
    if (!(x > 0) || std::isinf(x)) {
      same("log", dm::log(x), std::log(x));
      same("log2", dm::log2(x), std::log2(x));
      same("log10", dm::log10(x), std::log10(x));
    }
    if (!(x > -1) || x == 0 || std::isinf(x)) same("log1p", dm::log1p(x), std::log1p(x));
    if (!(x > -1 && x < 1) || x == 0) same("atanh", dm::atanh(x), std::atanh(x));
    for (const T y : v) {
      SCOPED_TRACE(y);
      const T p = std::pow(x, y);
      if (p == 0 || p == 1 || !std::isfinite(p)) same("pow", dm::pow(x, y), p);
      same("fmod", dm::fmod(x, y), std::fmod(x, y));
      same("remainder", dm::remainder(x, y), std::remainder(x, y));
      same("nextafter", dm::nextafter(x, y), std::nextafter(x, y));
      if (std::isinf(x) || std::isinf(y) || (x == 0 && y == 0))
        same("hypot", dm::hypot(x, y), std::hypot(x, y));
    }
  }
}
TEST(DeviceMaths, SpecialValuesOfSinglePrecisionAgreeWithTheCLibrary) { special_values<float>(); }
TEST(DeviceMaths, SpecialValuesOfDoublePrecisionAgreeWithTheCLibrary) { special_values<double>(); }

TEST(DeviceMaths, MultiplesOfPiAreExactWhereTheResultIs) {
  for (int i = -9; i <= 9; ++i) {
    same("sinpi", dm::sinpi(static_cast<double>(i)), std::copysign(0.0, i < 0 ? -1.0 : 1.0));
    EXPECT_EQ(dm::cospi(static_cast<double>(i)), i % 2 == 0 ? 1.0 : -1.0);
    EXPECT_EQ(dm::cospi(static_cast<float>(i) + 0.5f), 0.0f);
  }
}

}  // namespace
