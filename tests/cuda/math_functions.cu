// Mathematical functions of the device in both precisions against the C library in long double, within the bounds that
// docs/guide/cuda.md states.
#include <cmath>
#include <limits>

#include "check.h"

typedef long double real;
static const real pi = 3.14159265358979323846264338327950288L;

#define KERNELS(name)                                                                       \
  __global__ void f32_##name(const float* x, float* y, int n) {                             \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                    \
    if (i < n) y[i] = name##f(x[i]);                                                        \
  }                                                                                         \
  __global__ void f64_##name(const double* x, double* y, int n) {                           \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                                    \
    if (i < n) y[i] = name(x[i]);                                                           \
  }

// name, bound in float, bound in double, arguments from, to
#define FUNCTIONS(F)                                                                                             \
  F(sin, 2, 2, -50, 50) F(cos, 2, 2, -50, 50) F(tan, 4, 4, -50, 50) F(exp, 4, 2, -80, 80) F(exp2, 4, 2, -120, 120) \
  F(exp10, 4, 2, -35, 35) F(expm1, 4, 1, -10, 80) F(log, 2, 2, 1e-3, 100) F(log2, 2, 2, 1e-3, 100)               \
  F(log10, 2, 2, 1e-3, 100) F(log1p, 2, 2, -0.9, 10) F(sqrt, 0.5, 0.5, 0, 1e6) F(rsqrt, 2, 1, 1e-6, 1e6)             \
  F(cbrt, 2, 2, -1e6, 1e6) F(rcbrt, 1, 1, 1e-3, 1e6) F(sinh, 4, 4, -20, 20) F(cosh, 4, 4, -20, 20)               \
  F(tanh, 4, 4, -5, 5) F(asin, 4, 4, -1, 1) F(acos, 4, 4, -1, 1) F(atan, 2, 2, -20, 20) F(asinh, 4, 4, -50, 50)  \
  F(acosh, 4, 4, 1, 100) F(atanh, 4, 4, -0.99, 0.99) F(erf, 4, 4, -4, 4) F(erfc, 6, 6, -4, 8)                    \
  F(erfcx, 4, 4, -4, 9) F(lgamma, 6, 10, 3, 100) F(tgamma, 5, 8, 0.5, 30) F(normcdf, 5, 5, -5, 5)                \
  F(sinpi, 2, 2, -10, 10) F(cospi, 2, 2, -10, 10) F(floor, 0, 0, -9, 9) F(ceil, 0, 0, -9, 9)                     \
  F(trunc, 0, 0, -9, 9) F(round, 0, 0, -9, 9) F(rint, 0, 0, -9, 9) F(nearbyint, 0, 0, -9, 9)                     \
  F(logb, 0, 0, 1e-3, 1e6) F(fabs, 0, 0, -9, 9)
#define MAKE(name, single_bound, double_bound, low, high) KERNELS(name)
FUNCTIONS(MAKE)
#undef MAKE
KERNELS(erfinv)
KERNELS(erfcinv)
KERNELS(normcdfinv)

namespace right {
using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atanh, std::cbrt, std::ceil, std::cos, std::cosh, std::erf,
    std::erfc, std::exp, std::exp2, std::expm1, std::fabs, std::floor, std::lgamma, std::log, std::log10, std::log1p, std::log2,
    std::logb, std::nearbyint, std::rint, std::round, std::sin, std::sinh, std::sqrt, std::tan, std::tanh, std::tgamma, std::trunc;
static real exp10(real x) { return std::pow(10.0L, x); }
static real rsqrt(real x) { return 1 / std::sqrt(x); }
static real rcbrt(real x) { return 1 / std::cbrt(x); }
static real sinpi(real x) { return std::sin(pi * std::fmod(x, 2.0L)); }
static real cospi(real x) { return std::sin(pi * (0.5L - std::fabs(std::fmod(x, 2.0L)))); }
static real normcdf(real x) { return 0.5L * std::erfc(-x / std::sqrt(2.0L)); }
static real erfcx(real x) { return std::exp(x * x) * std::erfc(x); }
}  // namespace right

template <class T>
static double ulps(T got, real wanted) {
  if (std::isnan(wanted) || std::isnan(got)) return std::isnan(wanted) && std::isnan(got) ? 0 : 1e30;
  if (std::isinf((T)wanted) || std::isinf(got)) return (T)wanted == got ? 0 : 1e30;
  const int lowest = std::numeric_limits<T>::min_exponent, digits = std::numeric_limits<T>::digits;
  int e;
  std::frexp((T)wanted, &e);
  const real unit = std::ldexp(1.0L, (e < lowest ? lowest : e) - digits);
  return (double)(std::fabs((real)got - wanted) / unit);
}
template <class T>
static void check(const char* name, void (*kernel)(const T*, T*, int), real (*reference)(real), double bound, double low,
                  double high) {
  const int n = 512;
  static Shared<T> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = (T)(low + (high - low) * (i + 0.37) / n);
  kernel<<<n / 128, 128>>>(x.p, y.p, n);
  CUDA(cudaDeviceSynchronize());
  double worst = 0;
  int at = 0;
  for (int i = 0; i < n; ++i) {
    const double e = ulps(y[i], reference((real)x[i]));
    if (e > worst) worst = e, at = i;
  }
  if (worst > bound + 0.001) {
    char text[160];
    snprintf(text, sizeof text, "%s of %s at %.17g: %.17g is off by %.2f ulp", name, sizeof(T) == 4 ? "float" : "double",
             (double)x[at], (double)y[at], worst);
    report(__FILE__, __LINE__, text);
  }
}
// An inverse is as right as the slope allows: the function of it gives the argument back.
template <class T>
static void check_inverse(const char* name, void (*kernel)(const T*, T*, int), real (*function)(real), double low, double high,
                          double tolerance) {
  const int n = 256;
  static Shared<T> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = (T)(low + (high - low) * (i + 0.5) / n);
  x[0] = (T)((low + high) / 2);
  kernel<<<2, 128>>>(x.p, y.p, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i)
    if (!(std::fabs(function(y[i]) - x[i]) <= tolerance)) report(__FILE__, __LINE__, std::string(name) + " at " + std::to_string(x[i]));
  EXPECT(y[0] == (x[0] == 1 || x[0] == 0 || x[0] == (T)0.5 ? 0 : y[0]) && !std::signbit(y[0]));
}

// Functions of two arguments and those with several results.
const int results = 20;
__global__ void pairs(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = in[2 * i], y = in[2 * i + 1];
  const float fx = (float)x, fy = (float)y;
  double* o = out + i * results;
  int e, q, k = 0;
  double whole;
  float single;
  o[k++] = fmod(x * 1e5, y);
  o[k++] = remainder(x * 1e5, y);
  o[k++] = fmodf(fx * 1000, fy);
  o[k++] = fdim(x, y);
  o[k++] = fmax(x, y);
  o[k++] = copysign(x, y);
  o[k++] = nextafter(x, y);
  o[k++] = nextafterf(fx, fy);
  o[k++] = frexp(x, &e);
  o[k++] = e;
  o[k++] = ldexp(x, (int)y);
  o[k++] = modf(x, &whole);
  o[k++] = whole;
  o[k++] = modff(fx, &single);
  o[k++] = remquo(x, y, &q);
  o[k++] = q & 7;
  o[k++] = fma(x, y, x);
  o[k++] = pow(fabs(x), y);
  o[k++] = atan2(x, y);
  o[k++] = hypot(x, y);
}
static void check_pairs() {
  const int n = 512;
  Shared<double> in(2 * n), out(n * results);
  unsigned int seed = 777;
  for (int i = 0; i < 2 * n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    in[i] = (seed >> 8) / 838860.8 - 10;
  }
  in[0] = 0;
  in[3] = 1;
  pairs<<<n / 128, 128>>>(in.p, out.p, n);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    const double x = in[2 * i], y = in[2 * i + 1];
    const float fx = (float)x, fy = (float)y;
    int e, q;
    double whole;
    float single;
    const double fraction = frexp(x, &e), part = modf(x, &whole), left = remquo(x, y, &q);
    const double wanted[] = {fmod(x * 1e5, y), remainder(x * 1e5, y), fmodf(fx * 1000, fy), fdim(x, y), fmax(x, y),
                             copysign(x, y), nextafter(x, y), nextafterf(fx, fy), fraction, (double)e, ldexp(x, (int)y), part,
                             whole, modff(fx, &single), left, (double)(q & 7), fma(x, y, x)};
    for (int k = 0; k < 17; ++k) {
      // The sign of the quotient's low bits is not defined for the least significant ones of a negative one.
      if (k != 15) EXPECT_EQ_AT(i * results + k, out[i * results + k], wanted[k]);
    }
    EXPECT(ulps(out[i * results + 17], std::pow(std::fabs((real)x), (real)y)) <= 4);
    EXPECT(ulps(out[i * results + 18], std::atan2((real)x, (real)y)) <= 3);
    EXPECT(ulps(out[i * results + 19], std::hypot((real)x, (real)y)) <= 2);
  }
}

// What C++ calls by one name for float and double is the function of float for a float.
#define ONE_FLOAT(of) \
  of(acosh) of(asinh) of(atanh) of(cbrt) of(erf) of(erfc) of(exp2) of(expm1) of(lgamma) of(log1p) of(log2) of(logb) of(nearbyint) of(rint) of(round) of(tgamma) of(trunc)
#define TWO_FLOATS(of) of(copysign) of(fdim) of(fmax) of(fmin) of(hypot) of(nextafter) of(remainder)
static __device__ bool same(float a, float b) { return __float_as_int(a) == __float_as_int(b); }
__global__ void overloads(float x, float y, int* wrong) {
  int bad = 0, q = 0, r = 0;
#define SAME(name) bad += !same(name(x), name##f(x)) + (sizeof(name(x)) != sizeof(float));
  ONE_FLOAT(SAME)
#undef SAME
#define SAME(name) bad += !same(name(x, y), name##f(x, y)) + (sizeof(name(x, y)) != sizeof(float));
  TWO_FLOATS(SAME)
#undef SAME
  bad += !same(fma(x, y, 1.0f), fmaf(x, y, 1.0f)) + !same(std::fma(x, y, 1.0f), fmaf(x, y, 1.0f));
  bad += !same(remquo(x, y, &q), remquof(x, y, &r)) + (q != r) + !same(scalbn(x, 3), scalbnf(x, 3));
  bad += !same(scalbln(x, 3L), scalblnf(x, 3L)) + (ilogb(x) != ilogbf(x)) + (lrint(x) != lrintf(x));
  bad += (llrint(x) != llrintf(x)) + (lround(x) != lroundf(x)) + (llround(x) != llroundf(x));
  bad += !isnan(nan("")) + !isnan(nanf("1"));
  wrong[threadIdx.x] = bad;
}
static void check_overloads() {
  Shared<int> wrong(1);
  for (const float x : {0.25f, -0.5f, 1.75f, 20.5f, -3.0f}) {
    overloads<<<1, 1>>>(x, 1.5f, wrong.p);
    CUDA(cudaDeviceSynchronize());
    EXPECT_EQ_AT(0, wrong[0], 0);
  }
}

int main() {
#define CHECK(name, single_bound, double_bound, low, high)                  \
  check<float>(#name, f32_##name, right::name, single_bound, low, high);    \
  check<double>(#name, f64_##name, right::name, double_bound, low, high);
  FUNCTIONS(CHECK)
#undef CHECK
  check_inverse<float>("erfinv", f32_erfinv, right::erf, -0.99, 0.99, 1e-7);
  check_inverse<double>("erfinv", f64_erfinv, right::erf, -0.99, 0.99, 4e-16);
  check_inverse<float>("erfcinv", f32_erfcinv, right::erfc, 0.01, 1.99, 2e-7);
  check_inverse<double>("erfcinv", f64_erfcinv, right::erfc, 0.01, 1.99, 8e-16);
  check_inverse<float>("normcdfinv", f32_normcdfinv, right::normcdf, 0.01, 0.99, 1e-7);
  check_inverse<double>("normcdfinv", f64_normcdfinv, right::normcdf, 0.01, 0.99, 4e-16);
  check_pairs();
  check_overloads();
  return verdict("math_functions");
}
