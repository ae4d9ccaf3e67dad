// Values of types by the definition of their formats, and rounding into small formats by search: the
// reference side.
#pragma once

#include <cmath>

#include "arith_support.h"

namespace arith {

using ptx::Rounding;

inline bool signed_type(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
inline bool is_half(Type t) { return t == Type::f16 || t == Type::bf16; }
// A small format by definition: value of its bits.
struct Small {
  int exponent_bits, fraction_bits;
  bool has_infinity;
};
inline Small small_format(Type t) {
  return t == Type::f16      ? Small{5, 10, true}
         : t == Type::bf16   ? Small{8, 7, true}
         : t == Type::e4m3x2 ? Small{4, 3, false}
                             : Small{5, 2, true};
}
inline long double small_value(Small f, u64 v) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
  const int e = static_cast<int>(v >> f.fraction_bits) & top;
  const u64 m = v & ((u64{1} << f.fraction_bits) - 1);
  const long double s = (v >> (f.exponent_bits + f.fraction_bits) & 1) != 0 ? -1.0L : 1.0L;
  if (f.has_infinity && e == top) return m != 0 ? std::nanl("") : s * INFINITY;
  if (!f.has_infinity && e == top && m == (u64{1} << f.fraction_bits) - 1) return std::nanl("");
  const long double one = std::ldexp(1.0L, f.fraction_bits);
  return s * std::ldexp(static_cast<long double>(m) + (e == 0 ? 0 : one),
                        (e == 0 ? 1 : e) - bias - f.fraction_bits);
}

inline long double value_of(Type type, u64 raw) {
  if (type == Type::f32) return f32(raw);
  if (type == Type::f64) return f64(raw);
  if (is_half(type)) return small_value(small_format(type), raw);
  const unsigned drop = 64 - 8 * bytes_of(type);
  return signed_type(type) ? static_cast<long double>(static_cast<s64>(raw << drop) >> drop)
                           : static_cast<long double>(raw << drop >> drop);
}

// Nearest of two neighbours of a grid around v >= 0, by mode. low <= v <= high, low_even: low's last bit is
// 0.
inline bool takes_high(long double v, long double low, long double high, bool low_even, bool negative,
                       Rounding mode) {
  if (v == low) return false;
  switch (mode) {
    case Rounding::rz: return false;
    case Rounding::rm: return negative;
    case Rounding::rp: return !negative;
    default: break;
  }
  const long double below = v - low, above = high - v;
  if (below != above) return below > above;
  return mode == Rounding::rna || !low_even;
}
inline u64 to_small(Type type, long double v, Rounding mode, bool finite) {
  const Small f = small_format(type);
  const unsigned n = static_cast<unsigned>(f.exponent_bits + f.fraction_bits);
  const u64 nan = (u64{1} << n) - 1,
            infinity = f.has_infinity ? nan ^ ((u64{1} << f.fraction_bits) - 1) : nan;
  if (std::isnan(v)) return nan;
  const bool negative = std::signbit(v);
  const u64 sign = negative ? u64{1} << n : 0;
  v = std::fabs(v);
  if (std::isinf(v)) return sign | (finite ? infinity - 1 : infinity);
  u64 low = 0, high = infinity - 1;  // the largest finite code not above v
  while (low < high) {
    const u64 middle = (low + high + 1) / 2;
    if (small_value(f, middle) <= v)
      low = middle;
    else
      high = middle - 1;
  }
  // Beyond the largest value the grid goes on with the same spacing.
  const long double next =
      low + 1 < infinity ? small_value(f, low + 1) : 2 * small_value(f, low) - small_value(f, low - 1);
  u64 code = low;
  if (v >= next) code = infinity;  // far beyond: rounding toward zero still stays finite
  if (code == infinity) {
    const bool away = mode == Rounding::rn || mode == Rounding::rna || (mode == Rounding::rp && !negative) ||
                      (mode == Rounding::rm && negative);
    return sign | (finite || !away ? infinity - 1 : infinity);
  }
  if (takes_high(v, small_value(f, low), next, (low & 1) == 0, negative, mode)) code = low + 1;
  return sign | (finite && code == infinity ? infinity - 1 : code);
}

}  // namespace arith
