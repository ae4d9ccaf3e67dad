// min and max for every pair of types that CUDA accepts, and the float overloads and host versions of CUDA's own functions.
#pragma once

#define SIMTLAB_HD static inline __host__ __device__
#define SIMTLAB_H static inline __host__
#define SIMTLAB_D static inline __device__

SIMTLAB_H int min(int a, int b) { return b < a ? b : a; }
SIMTLAB_H int max(int a, int b) { return a < b ? b : a; }
SIMTLAB_HD unsigned int min(unsigned int a, unsigned int b) {
  const unsigned int x = (unsigned int)a, y = (unsigned int)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned int max(unsigned int a, unsigned int b) {
  const unsigned int x = (unsigned int)a, y = (unsigned int)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned int min(int a, unsigned int b) {
  const unsigned int x = (unsigned int)a, y = (unsigned int)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned int max(int a, unsigned int b) {
  const unsigned int x = (unsigned int)a, y = (unsigned int)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned int min(unsigned int a, int b) {
  const unsigned int x = (unsigned int)a, y = (unsigned int)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned int max(unsigned int a, int b) {
  const unsigned int x = (unsigned int)a, y = (unsigned int)b;
  return x < y ? y : x;
}
SIMTLAB_HD long min(long a, long b) {
  const long x = (long)a, y = (long)b;
  return y < x ? y : x;
}
SIMTLAB_HD long max(long a, long b) {
  const long x = (long)a, y = (long)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned long min(unsigned long a, unsigned long b) {
  const unsigned long x = (unsigned long)a, y = (unsigned long)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned long max(unsigned long a, unsigned long b) {
  const unsigned long x = (unsigned long)a, y = (unsigned long)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned long min(long a, unsigned long b) {
  const unsigned long x = (unsigned long)a, y = (unsigned long)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned long max(long a, unsigned long b) {
  const unsigned long x = (unsigned long)a, y = (unsigned long)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned long min(unsigned long a, long b) {
  const unsigned long x = (unsigned long)a, y = (unsigned long)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned long max(unsigned long a, long b) {
  const unsigned long x = (unsigned long)a, y = (unsigned long)b;
  return x < y ? y : x;
}
SIMTLAB_HD long long min(long long a, long long b) {
  const long long x = (long long)a, y = (long long)b;
  return y < x ? y : x;
}
SIMTLAB_HD long long max(long long a, long long b) {
  const long long x = (long long)a, y = (long long)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned long long min(unsigned long long a, unsigned long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned long long max(unsigned long long a, unsigned long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned long long min(long long a, unsigned long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned long long max(long long a, unsigned long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  return x < y ? y : x;
}
SIMTLAB_HD unsigned long long min(unsigned long long a, long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  return y < x ? y : x;
}
SIMTLAB_HD unsigned long long max(unsigned long long a, long long b) {
  const unsigned long long x = (unsigned long long)a, y = (unsigned long long)b;
  return x < y ? y : x;
}
SIMTLAB_HD float min(float a, float b) { return fminf(a, b); }
SIMTLAB_HD double min(double a, double b) { return fmin(a, b); }
SIMTLAB_HD double min(float a, double b) { return fmin((double)a, b); }
SIMTLAB_HD double min(double a, float b) { return fmin(a, (double)b); }
SIMTLAB_HD float max(float a, float b) { return fmaxf(a, b); }
SIMTLAB_HD double max(double a, double b) { return fmax(a, b); }
SIMTLAB_HD double max(float a, double b) { return fmax((double)a, b); }
SIMTLAB_HD double max(double a, float b) { return fmax(a, (double)b); }
SIMTLAB_H unsigned int umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
SIMTLAB_H unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
SIMTLAB_H long long llmin(long long a, long long b) { return b < a ? b : a; }
SIMTLAB_H long long llmax(long long a, long long b) { return a < b ? b : a; }
SIMTLAB_H unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
SIMTLAB_H unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

// Functions of CUDA that the C library lacks: host versions.
SIMTLAB_H float rsqrtf(float x) { return 1.0f / sqrtf(x); }
SIMTLAB_H double rsqrt(double x) { return 1.0 / sqrt(x); }
SIMTLAB_H float rcbrtf(float x) { return 1.0f / cbrtf(x); }
SIMTLAB_H double rcbrt(double x) { return 1.0 / cbrt(x); }
SIMTLAB_H float fdividef(float a, float b) { return a / b; }
SIMTLAB_H double fdivide(double a, double b) { return a / b; }
SIMTLAB_H float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
SIMTLAB_H double rhypot(double a, double b) { return 1.0 / hypot(a, b); }
SIMTLAB_H float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
SIMTLAB_H double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
SIMTLAB_H float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
SIMTLAB_H double norm4d(double a, double b, double c, double d) { return sqrt(a * a + b * b + c * c + d * d); }
SIMTLAB_H double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
SIMTLAB_H double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
SIMTLAB_H float sinpif(float x) { return (float)sinpi((double)x); }
SIMTLAB_H float cospif(float x) { return (float)cospi((double)x); }
SIMTLAB_H void sincospi(double x, double* s, double* c) { *s = sinpi(x); *c = cospi(x); }
SIMTLAB_H void sincospif(float x, float* s, float* c) { *s = sinpif(x); *c = cospif(x); }
SIMTLAB_H double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
SIMTLAB_H float normcdff(float x) { return (float)normcdf((double)x); }

// Overloads on float.
SIMTLAB_HD float rsqrt(float x) { return rsqrtf(x); }
SIMTLAB_HD float rcbrt(float x) { return rcbrtf(x); }
SIMTLAB_HD float sinpi(float x) { return sinpif(x); }
SIMTLAB_HD float cospi(float x) { return cospif(x); }
SIMTLAB_HD void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
SIMTLAB_HD void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
SIMTLAB_HD float normcdf(float x) { return normcdff(x); }
SIMTLAB_HD float fdivide(float a, float b) { return fdividef(a, b); }
SIMTLAB_HD float exp10(float x) { return exp10f(x); }
SIMTLAB_D float erfinv(float x) { return erfinvf(x); }
SIMTLAB_D float erfcinv(float x) { return erfcinvf(x); }
SIMTLAB_D float erfcx(float x) { return erfcxf(x); }
SIMTLAB_D float normcdfinv(float x) { return normcdfinvf(x); }
SIMTLAB_D float j0(float x) { return j0f(x); }
SIMTLAB_D float j1(float x) { return j1f(x); }
SIMTLAB_D float y0(float x) { return y0f(x); }
SIMTLAB_D float y1(float x) { return y1f(x); }

// Those of the C++ library in device code, which clang's headers declare and leave to CUDA's.
SIMTLAB_D float acosh(float x) { return acoshf(x); }
SIMTLAB_D float asinh(float x) { return asinhf(x); }
SIMTLAB_D float atanh(float x) { return atanhf(x); }
SIMTLAB_D float cbrt(float x) { return cbrtf(x); }
SIMTLAB_D float erf(float x) { return erff(x); }
SIMTLAB_D float erfc(float x) { return erfcf(x); }
SIMTLAB_D float exp2(float x) { return exp2f(x); }
SIMTLAB_D float expm1(float x) { return expm1f(x); }
SIMTLAB_D float lgamma(float x) { return lgammaf(x); }
SIMTLAB_D float log1p(float x) { return log1pf(x); }
SIMTLAB_D float log2(float x) { return log2f(x); }
SIMTLAB_D float logb(float x) { return logbf(x); }
SIMTLAB_D float nearbyint(float x) { return nearbyintf(x); }
SIMTLAB_D float rint(float x) { return rintf(x); }
SIMTLAB_D float round(float x) { return roundf(x); }
SIMTLAB_D float tgamma(float x) { return tgammaf(x); }
SIMTLAB_D float trunc(float x) { return truncf(x); }
SIMTLAB_D float copysign(float a, float b) { return copysignf(a, b); }
SIMTLAB_D float fdim(float a, float b) { return fdimf(a, b); }
SIMTLAB_D float fmax(float a, float b) { return fmaxf(a, b); }
SIMTLAB_D float fmin(float a, float b) { return fminf(a, b); }
SIMTLAB_D float hypot(float a, float b) { return hypotf(a, b); }
SIMTLAB_D float nextafter(float a, float b) { return nextafterf(a, b); }
SIMTLAB_D float remainder(float a, float b) { return remainderf(a, b); }
SIMTLAB_D float fma(float a, float b, float c) { return fmaf(a, b, c); }
SIMTLAB_D float remquo(float a, float b, int* quotient) { return remquof(a, b, quotient); }
SIMTLAB_D float scalbn(float x, int n) { return scalbnf(x, n); }
SIMTLAB_D float scalbln(float x, long n) { return scalblnf(x, n); }
SIMTLAB_D int ilogb(float x) { return ilogbf(x); }
SIMTLAB_D long lrint(float x) { return lrintf(x); }
SIMTLAB_D long long llrint(float x) { return llrintf(x); }
SIMTLAB_D long lround(float x) { return lroundf(x); }
SIMTLAB_D long long llround(float x) { return llroundf(x); }
SIMTLAB_D double nan(const char*) { return __builtin_nan(""); }
SIMTLAB_D float nanf(const char*) { return __builtin_nanf(""); }

#undef SIMTLAB_HD
#undef SIMTLAB_H
#undef SIMTLAB_D
