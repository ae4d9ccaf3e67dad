// What the two 16-bit formats share, included once for each (so no #pragma once): conversions from and to integers,
// comparisons of pairs, saturating arithmetic, operators. The includer defines
//   SIMTLAB_H, SIMTLAB_H2      the types of one value and of a pair
//   SIMTLAB_NAME               what its conversions are called after: half, bfloat16
//   SIMTLAB_FROM_BITS, SIMTLAB_NARROW
//   SIMTLAB_EXACT(i)           an integer as float such that narrowing it rounds once
//   SIMTLAB_HD, SIMTLAB_D
#define SIMTLAB_JOIN_(a, b, c) a##b##c
#define SIMTLAB_JOIN(a, b, c) SIMTLAB_JOIN_(a, b, c)

#define SIMTLAB_CONVERT(type, name, mode, round, number)                                                              \
  SIMTLAB_HD type SIMTLAB_JOIN(__, SIMTLAB_NAME, 2##name##_##mode)(SIMTLAB_H h) {                                     \
    return simtlab_saturated<type>(round((float)h));                                                                  \
  }                                                                                                                   \
  SIMTLAB_HD SIMTLAB_H SIMTLAB_JOIN(__##name##2, SIMTLAB_NAME, _##mode)(type i) {                                     \
    return SIMTLAB_FROM_BITS(SIMTLAB_NARROW<number>(SIMTLAB_EXACT(i)));                                               \
  }
#define SIMTLAB_CONVERT_ALL(type, name)         \
  SIMTLAB_CONVERT(type, name, rn, rintf, 0)     \
  SIMTLAB_CONVERT(type, name, rz, truncf, 1)    \
  SIMTLAB_CONVERT(type, name, ru, ceilf, 2)     \
  SIMTLAB_CONVERT(type, name, rd, floorf, 3)
SIMTLAB_CONVERT_ALL(short, short)
SIMTLAB_CONVERT_ALL(unsigned short, ushort)
SIMTLAB_CONVERT_ALL(int, int)
SIMTLAB_CONVERT_ALL(unsigned int, uint)
SIMTLAB_CONVERT_ALL(long long, ll)
SIMTLAB_CONVERT_ALL(unsigned long long, ull)
#undef SIMTLAB_CONVERT
#undef SIMTLAB_CONVERT_ALL
SIMTLAB_HD signed char SIMTLAB_JOIN(__, SIMTLAB_NAME, 2char_rz)(SIMTLAB_H h) { return simtlab_saturated<signed char>(truncf((float)h)); }
SIMTLAB_HD unsigned char SIMTLAB_JOIN(__, SIMTLAB_NAME, 2uchar_rz)(SIMTLAB_H h) { return simtlab_saturated<unsigned char>(truncf((float)h)); }
SIMTLAB_HD SIMTLAB_H2 SIMTLAB_JOIN(__lows2, SIMTLAB_NAME, 2)(SIMTLAB_H2 a, SIMTLAB_H2 b) { return SIMTLAB_H2(a.x, b.x); }
SIMTLAB_HD SIMTLAB_H2 SIMTLAB_JOIN(__highs2, SIMTLAB_NAME, 2)(SIMTLAB_H2 a, SIMTLAB_H2 b) { return SIMTLAB_H2(a.y, b.y); }

// Comparisons: ordered (false with NaN) and unordered (true with NaN); of a pair as numbers, as masks, and of both at once.
SIMTLAB_HD bool simtlab_unordered(SIMTLAB_H a, SIMTLAB_H b) { return __hisnan(a) || __hisnan(b); }
#define SIMTLAB_PAIRWISE(name, bname, one)                                                                            \
  SIMTLAB_HD bool bname(SIMTLAB_H2 a, SIMTLAB_H2 b) { return one(a.x, b.x) && one(a.y, b.y); }                        \
  SIMTLAB_HD unsigned int name##_mask(SIMTLAB_H2 a, SIMTLAB_H2 b) {                                                   \
    return (one(a.x, b.x) ? 0xffffu : 0u) | (one(a.y, b.y) ? 0xffff0000u : 0u);                                       \
  }
#define SIMTLAB_COMPARE(op)                                                                                           \
  SIMTLAB_PAIRWISE(__h##op##2, __hb##op##2, __h##op)                                                                  \
  SIMTLAB_HD bool __h##op##u(SIMTLAB_H a, SIMTLAB_H b) { return __h##op(a, b) || simtlab_unordered(a, b); }           \
  SIMTLAB_HD SIMTLAB_H2 __h##op##u2(SIMTLAB_H2 a, SIMTLAB_H2 b) {                                                     \
    return SIMTLAB_H2(SIMTLAB_H(__h##op##u(a.x, b.x) ? 1.0f : 0.0f), SIMTLAB_H(__h##op##u(a.y, b.y) ? 1.0f : 0.0f));  \
  }                                                                                                                   \
  SIMTLAB_PAIRWISE(__h##op##u2, __hb##op##u2, __h##op##u)
SIMTLAB_COMPARE(eq)
SIMTLAB_COMPARE(ne)
SIMTLAB_COMPARE(lt)
SIMTLAB_COMPARE(le)
SIMTLAB_COMPARE(gt)
SIMTLAB_COMPARE(ge)
#undef SIMTLAB_COMPARE
#undef SIMTLAB_PAIRWISE
SIMTLAB_HD bool operator==(const SIMTLAB_H2& a, const SIMTLAB_H2& b) { return __hbeq2(a, b); }
SIMTLAB_HD bool operator!=(const SIMTLAB_H2& a, const SIMTLAB_H2& b) { return __hbneu2(a, b); }
SIMTLAB_HD bool operator<(const SIMTLAB_H2& a, const SIMTLAB_H2& b) { return __hblt2(a, b); }
SIMTLAB_HD bool operator<=(const SIMTLAB_H2& a, const SIMTLAB_H2& b) { return __hble2(a, b); }
SIMTLAB_HD bool operator>(const SIMTLAB_H2& a, const SIMTLAB_H2& b) { return __hbgt2(a, b); }
SIMTLAB_HD bool operator>=(const SIMTLAB_H2& a, const SIMTLAB_H2& b) { return __hbge2(a, b); }

SIMTLAB_HD int __hisinf(SIMTLAB_H a) {
  const float f = (float)a;
  return f - f != 0.0f || __hisnan(a) ? (__hisnan(a) ? 0 : f > 0.0f ? 1 : -1) : 0;
}
SIMTLAB_HD SIMTLAB_H2 __hisnan2(SIMTLAB_H2 a) {
  return SIMTLAB_H2(SIMTLAB_H(__hisnan(a.x) ? 1.0f : 0.0f), SIMTLAB_H(__hisnan(a.y) ? 1.0f : 0.0f));
}
// Greatest and least, NaN if either is.
SIMTLAB_HD SIMTLAB_H __hmax_nan(SIMTLAB_H a, SIMTLAB_H b) { return simtlab_unordered(a, b) ? SIMTLAB_FROM_BITS(0x7fff) : __hmax(a, b); }
SIMTLAB_HD SIMTLAB_H __hmin_nan(SIMTLAB_H a, SIMTLAB_H b) { return simtlab_unordered(a, b) ? SIMTLAB_FROM_BITS(0x7fff) : __hmin(a, b); }
SIMTLAB_HD SIMTLAB_H2 __hmax2_nan(SIMTLAB_H2 a, SIMTLAB_H2 b) { return SIMTLAB_H2(__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)); }
SIMTLAB_HD SIMTLAB_H2 __hmin2_nan(SIMTLAB_H2 a, SIMTLAB_H2 b) { return SIMTLAB_H2(__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)); }

// _sat: kept in [0, 1], NaN becomes 0. _relu: negative becomes 0, NaN stays. _rn: never joined to an fma, as here nothing is.
SIMTLAB_HD SIMTLAB_H simtlab_sat(SIMTLAB_H a) {
  const float f = (float)a;
  return f > 0.0f ? (f < 1.0f ? a : SIMTLAB_H(1.0f)) : SIMTLAB_H(0.0f);
}
SIMTLAB_HD SIMTLAB_H simtlab_relu(SIMTLAB_H a) { return __hisnan(a) ? SIMTLAB_FROM_BITS(0x7fff) : (float)a > 0.0f ? a : SIMTLAB_H(0.0f); }
#define SIMTLAB_VARIANTS(name)                                                                                        \
  SIMTLAB_HD SIMTLAB_H name##_rn(SIMTLAB_H a, SIMTLAB_H b) { return name(a, b); }                                     \
  SIMTLAB_HD SIMTLAB_H2 name##2_rn(SIMTLAB_H2 a, SIMTLAB_H2 b) { return name##2(a, b); }                              \
  SIMTLAB_HD SIMTLAB_H name##_sat(SIMTLAB_H a, SIMTLAB_H b) { return simtlab_sat(name(a, b)); }                       \
  SIMTLAB_HD SIMTLAB_H2 name##2_sat(SIMTLAB_H2 a, SIMTLAB_H2 b) { return SIMTLAB_H2(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); }
SIMTLAB_VARIANTS(__hadd)
SIMTLAB_VARIANTS(__hsub)
SIMTLAB_VARIANTS(__hmul)
#undef SIMTLAB_VARIANTS
SIMTLAB_HD SIMTLAB_H __hfma_sat(SIMTLAB_H a, SIMTLAB_H b, SIMTLAB_H c) { return simtlab_sat(__hfma(a, b, c)); }
SIMTLAB_HD SIMTLAB_H __hfma_relu(SIMTLAB_H a, SIMTLAB_H b, SIMTLAB_H c) { return simtlab_relu(__hfma(a, b, c)); }
SIMTLAB_HD SIMTLAB_H2 __hfma2_sat(SIMTLAB_H2 a, SIMTLAB_H2 b, SIMTLAB_H2 c) {
  return SIMTLAB_H2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
SIMTLAB_HD SIMTLAB_H2 __hfma2_relu(SIMTLAB_H2 a, SIMTLAB_H2 b, SIMTLAB_H2 c) {
  return SIMTLAB_H2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}
// a b + c of complex numbers.
SIMTLAB_HD SIMTLAB_H2 __hcmadd(SIMTLAB_H2 a, SIMTLAB_H2 b, SIMTLAB_H2 c) {
  return SIMTLAB_H2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}

SIMTLAB_HD SIMTLAB_H2 operator+(const SIMTLAB_H2& a) { return a; }
#define SIMTLAB_STEP(type, op, one)                        \
  SIMTLAB_HD type& operator op##op(type& a) {              \
    return a = a op one;                                   \
  }                                                        \
  SIMTLAB_HD type operator op##op(type& a, int) {          \
    const type old = a;                                    \
    a = a op one;                                          \
    return old;                                            \
  }
SIMTLAB_STEP(SIMTLAB_H, +, SIMTLAB_H(1.0f))
SIMTLAB_STEP(SIMTLAB_H, -, SIMTLAB_H(1.0f))
SIMTLAB_STEP(SIMTLAB_H2, +, SIMTLAB_H2(SIMTLAB_H(1.0f), SIMTLAB_H(1.0f)))
SIMTLAB_STEP(SIMTLAB_H2, -, SIMTLAB_H2(SIMTLAB_H(1.0f), SIMTLAB_H(1.0f)))
#undef SIMTLAB_STEP

#if defined(__CUDA__) && defined(__clang__)
SIMTLAB_D SIMTLAB_H htanh(SIMTLAB_H a) { return SIMTLAB_H(tanhf((float)a)); }
SIMTLAB_D SIMTLAB_H2 h2tanh(SIMTLAB_H2 a) { return SIMTLAB_H2(htanh(a.x), htanh(a.y)); }
SIMTLAB_D SIMTLAB_H htanh_approx(SIMTLAB_H a) { return htanh(a); }
SIMTLAB_D SIMTLAB_H2 h2tanh_approx(SIMTLAB_H2 a) { return h2tanh(a); }
#endif

#undef SIMTLAB_JOIN
#undef SIMTLAB_JOIN_
#undef SIMTLAB_H
#undef SIMTLAB_H2
#undef SIMTLAB_NAME
#undef SIMTLAB_FROM_BITS
#undef SIMTLAB_NARROW
#undef SIMTLAB_EXACT
