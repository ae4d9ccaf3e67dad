// Complex numbers as pairs.
#pragma once

#include <math.h>

#include "host_defines.h"
#include "vector_functions.h"

#define SIMTLAB_COMPLEX(Name, Scalar, Vector, suffix, root, magnitude)                                            \
  typedef Vector Name;                                                                                            \
  static __inline__ __host__ __device__ Name make_##Name(Scalar r, Scalar i) {                                    \
    Name v;                                                                                                       \
    v.x = r;                                                                                                      \
    v.y = i;                                                                                                      \
    return v;                                                                                                     \
  }                                                                                                               \
  static __inline__ __host__ __device__ Scalar cuCreal##suffix(Name a) { return a.x; }                            \
  static __inline__ __host__ __device__ Scalar cuCimag##suffix(Name a) { return a.y; }                            \
  static __inline__ __host__ __device__ Name cuConj##suffix(Name a) { return make_##Name(a.x, -a.y); }            \
  static __inline__ __host__ __device__ Name cuCadd##suffix(Name a, Name b) {                                     \
    return make_##Name(a.x + b.x, a.y + b.y);                                                                     \
  }                                                                                                               \
  static __inline__ __host__ __device__ Name cuCsub##suffix(Name a, Name b) {                                     \
    return make_##Name(a.x - b.x, a.y - b.y);                                                                     \
  }                                                                                                               \
  static __inline__ __host__ __device__ Name cuCmul##suffix(Name a, Name b) {                                     \
    return make_##Name(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                             \
  }                                                                                                               \
  static __inline__ __host__ __device__ Name cuCfma##suffix(Name a, Name b, Name c) {                             \
    return cuCadd##suffix(cuCmul##suffix(a, b), c);                                                               \
  }                                                                                                               \
  /* Scaled by the divisor's larger part, so that its square cannot overflow. */                                  \
  static __inline__ __host__ __device__ Name cuCdiv##suffix(Name a, Name b) {                                     \
    const Scalar s = magnitude(b.x) + magnitude(b.y);                                                             \
    const Scalar ax = a.x / s, ay = a.y / s, bx = b.x / s, by = b.y / s;                                          \
    const Scalar n = bx * bx + by * by;                                                                           \
    return make_##Name((ax * bx + ay * by) / n, (ay * bx - ax * by) / n);                                         \
  }                                                                                                               \
  static __inline__ __host__ __device__ Scalar cuCabs##suffix(Name a) { return root(a.x, a.y); }

SIMTLAB_COMPLEX(cuFloatComplex, float, float2, f, hypotf, fabsf)
SIMTLAB_COMPLEX(cuDoubleComplex, double, double2, , hypot, fabs)
#undef SIMTLAB_COMPLEX

typedef cuFloatComplex cuComplex;
static __inline__ __host__ __device__ cuComplex make_cuComplex(float r, float i) { return make_cuFloatComplex(r, i); }
static __inline__ __host__ __device__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) {
  return make_cuDoubleComplex((double)a.x, (double)a.y);
}
static __inline__ __host__ __device__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return make_cuFloatComplex((float)a.x, (float)a.y);
}
