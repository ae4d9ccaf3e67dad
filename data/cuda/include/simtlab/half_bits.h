// Conversions between float and the 16-bit formats by their bits: what the host runs, and the device where it has no instruction.
#pragma once

#include <string.h>

#include "../host_defines.h"

#define SIMTLAB_HD static inline __host__ __device__

SIMTLAB_HD unsigned int simtlab_float_bits(float f) {
  unsigned int u;
  memcpy(&u, &f, 4);
  return u;
}
SIMTLAB_HD float simtlab_bits_float(unsigned int u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

// mode: 0 nearest even, 1 towards zero, 2 up, 3 down.
SIMTLAB_HD unsigned short simtlab_round_16(unsigned int kept, unsigned int rest, unsigned int half, bool negative, int mode) {
  bool up = false;
  if (mode == 0) up = rest > half || (rest == half && (kept & 1u));
  if (mode == 2) up = rest != 0 && !negative;
  if (mode == 3) up = rest != 0 && negative;
  return (unsigned short)(kept + (up ? 1u : 0u));
}

SIMTLAB_HD unsigned short simtlab_float_to_half(float f, int mode) {
  const unsigned int u = simtlab_float_bits(f);
  const unsigned short sign = (unsigned short)((u >> 16) & 0x8000u);
  const unsigned int a = u & 0x7fffffffu;
  const bool negative = sign != 0;
  if (a > 0x7f800000u) return 0x7fff;
  if (a == 0x7f800000u) return (unsigned short)(sign | 0x7c00u);
  if (a >= 0x47800000u) {   // 65536 and more
    const bool infinite = mode == 0 || (mode == 2 && !negative) || (mode == 3 && negative);
    return (unsigned short)(sign | (infinite ? 0x7c00u : 0x7bffu));
  }
  const int exponent = (int)(a >> 23) - 127;
  const unsigned int m = (a & 0x007fffffu) | (a >= 0x00800000u ? 0x00800000u : 0u);
  if (exponent >= -14) {
    const unsigned int kept = ((unsigned int)(exponent + 15) << 10) + ((m & 0x007fffffu) >> 13);
    return (unsigned short)(sign | simtlab_round_16(kept, m & 0x1fffu, 0x1000u, negative, mode));
  }
  int shift = -14 - exponent + 13;
  if (shift > 31) shift = 31;   // only the fact that it is not zero counts
  const unsigned int kept = shift > 24 ? 0 : m >> shift;
  const unsigned int rest = shift > 24 ? m : m & ((1u << shift) - 1u);
  const unsigned int half = shift > 24 ? 0x01000000u : 1u << (shift - 1);
  return (unsigned short)(sign | simtlab_round_16(kept, rest, half, negative, mode));
}

SIMTLAB_HD float simtlab_half_to_float(unsigned short h) {
  const unsigned int sign = (unsigned int)(h & 0x8000u) << 16;
  const unsigned int e = (h >> 10) & 0x1fu, m = h & 0x3ffu;
  if (e == 31) return simtlab_bits_float(sign | 0x7f800000u | (m << 13) | (m ? 0x00400000u : 0u));
  if (e != 0) return simtlab_bits_float(sign | ((e + 112u) << 23) | (m << 13));
  const float v = (float)m * 5.9604644775390625e-8f;   // 2^-24
  return sign ? -v : v;
}

SIMTLAB_HD unsigned short simtlab_float_to_bfloat16(float f, int mode) {
  const unsigned int u = simtlab_float_bits(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  const unsigned short r = simtlab_round_16((u >> 16) & 0x7fffu, u & 0xffffu, 0x8000u, (u >> 31) != 0, mode);
  return (unsigned short)(r | ((u >> 16) & 0x8000u));
}
SIMTLAB_HD float simtlab_bfloat16_to_float(unsigned short b) { return simtlab_bits_float((unsigned int)b << 16); }

// Numbers as floats whose last bit says that something was cut off, so that narrowing them further rounds only once.
SIMTLAB_HD float simtlab_odd_float(double d) {
  const float f = (float)d;
  unsigned int u = simtlab_float_bits(f);
  if (d != d || (double)f == d) return f;
  if ((f < 0 ? -(double)f : (double)f) > (d < 0 ? -d : d)) --u;
  return simtlab_bits_float(u | 1u);
}
SIMTLAB_HD float simtlab_odd_float(unsigned long long i) {
  unsigned int shift = 0;
  while ((i >> shift) >> 24) ++shift;
  const unsigned int cut = (i & ((1ull << shift) - 1)) != 0;
  return (float)((unsigned int)(i >> shift) | cut) * simtlab_bits_float((127u + shift) << 23);
}
SIMTLAB_HD float simtlab_odd_float(long long i) {
  return i < 0 ? -simtlab_odd_float(0ull - (unsigned long long)i) : simtlab_odd_float((unsigned long long)i);
}
SIMTLAB_HD float simtlab_odd_float(int i) { return simtlab_odd_float((double)i); }
SIMTLAB_HD float simtlab_odd_float(unsigned int i) { return simtlab_odd_float((double)i); }
SIMTLAB_HD float simtlab_odd_float(long i) { return simtlab_odd_float((long long)i); }
SIMTLAB_HD float simtlab_odd_float(unsigned long i) { return simtlab_odd_float((unsigned long long)i); }
// a b + c, cut off in the same way. The product of two 16-bit numbers is exact in double; the sum's error is known exactly.
SIMTLAB_HD float simtlab_odd_fma(float a, float b, float c) {
  const double p = (double)a * (double)b, q = (double)c;
  double s = p + q;
  const double q_part = s - p;
  const double error = (p - (s - q_part)) + (q - q_part);
  if (error == error && error != 0) {
    unsigned long long u;
    memcpy(&u, &s, 8);
    if ((u & 1) == 0) u += (error > 0) == (s > 0) ? 1ull : ~0ull;
    memcpy(&s, &u, 8);
  }
  return simtlab_odd_float(s);
}

#ifdef __cplusplus
// The nearest number of an integer type; NaN gives 0, or the sign bit alone in 64 bits.
template <class T>
SIMTLAB_HD T simtlab_saturated(float f) {
  const bool is_signed = (T)-1 < (T)0;
  const float limit = (float)(1ull << (sizeof(T) * 8 - 1)) * (is_signed ? 1.0f : 2.0f);
  const T least = is_signed ? (T)(1ull << (sizeof(T) * 8 - 1)) : (T)0;
  if (f != f) return sizeof(T) == 8 ? (T)(1ull << 63) : (T)0;
  if (f >= limit) return (T)~least;
  if (f <= (is_signed ? -limit : 0.0f)) return least;
  return (T)f;
}
#endif

#undef SIMTLAB_HD
