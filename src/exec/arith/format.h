// Binary floating-point formats and exact rounding into them, one value at a time: the general path of cvt.
#pragma once

#include "exec/arith/half.h"
#include "exec/arith/select.h"

namespace simtlab::exec::SIMTLAB_ISA {

// precision counts the implicit bit; quantum is the exponent of the smallest subnormal.
struct Format {
  int precision, quantum;
  u64 infinity;  // bits of the first value beyond the largest finite one
  u64 nan, sign;
  int shift;  // zero bits below (tf32)
};
SIMTLAB_INLINE Format format_of(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::f16:
    case Type::f16x2: return {11, -24, 0x7c00, 0x7fff, 0x8000, 0};
    case Type::bf16:
    case Type::bf16x2: return {8, -133, 0x7f80, 0x7fff, 0x8000, 0};
    case Type::tf32: return {11, -136, 0x7f800000, 0x7fffffff, 0x80000000, 13};
    case Type::f32: return {24, -149, 0x7f800000, 0x7fffffff, 0x80000000, 0};
    case Type::e4m3x2: return {4, -9, 0x7f, 0x7f, 0x80, 0};  // no infinity; 0x7f is NaN
    case Type::e5m2x2: return {3, -16, 0x7c, 0x7f, 0x80, 0};
    default: return {53, -1074, 0x7ff0000000000000ull, 0x7ff8000000000000ull, 0x8000000000000000ull, 0};
  }
}

// m * 2^exponent, negative or not.
struct Magnitude {
  u64 m;
  int exponent;
  bool negative;
};
SIMTLAB_INLINE Magnitude magnitude_of(double v) {
  u64 bits;
  __builtin_memcpy(&bits, &v, 8);
  const int field = (int)(bits >> 52 & 0x7ff);
  const u64 fraction = bits & 0xfffffffffffffull;
  return {field == 0 ? fraction : fraction | 0x10000000000000ull, field == 0 ? -1074 : field - 1075,
          (bits >> 63) != 0};
}

// Whether dropping `rest` (of which `half` is one half unit) below `kept` rounds the magnitude up.
SIMTLAB_INLINE bool rounds_up(ptx::Rounding mode, bool negative, u64 kept, u64 rest, u64 half) {
  using ptx::Rounding;
  switch (mode) {
    case Rounding::rz:
    case Rounding::rzi: return false;
    case Rounding::rm:
    case Rounding::rmi: return negative && rest != 0;
    case Rounding::rp:
    case Rounding::rpi: return !negative && rest != 0;
    case Rounding::rna: return rest >= half;
    default: return rest > half || (rest == half && (kept & 1) != 0);
  }
}

// Magnitude to bits of the format without sign; saturate: the largest finite value instead of infinity.
SIMTLAB_INLINE u64 encode_magnitude(const Format& f, Magnitude v, ptx::Rounding mode, bool saturate) {
  using ptx::Rounding;
  if (v.m == 0) return 0;
  const int lead = __builtin_clzll(v.m);
  v.m <<= lead;
  v.exponent -= lead;
  int quantum = v.exponent + 64 - f.precision;
  if (quantum < f.quantum) quantum = f.quantum;
  const int drop = quantum - v.exponent;  // at least 11, as no format has more than 53 bits
  u64 kept = drop > 63 ? 0 : v.m >> drop;
  // Above 64 dropped bits everything is less than half a unit; at 64 half a unit is the top bit.
  const u64 rest = drop > 64 ? 1 : drop == 64 ? v.m : v.m & ((u64{1} << drop) - 1);
  const u64 half = drop > 64 ? 2 : u64{1} << (drop - 1);
  if (rounds_up(mode, v.negative, kept, rest, half)) ++kept;
  const u64 bits = ((u64)(quantum - f.quantum) << (f.precision - 1)) + kept;
  if (quantum - f.quantum < 4096 && bits < f.infinity >> f.shift) return bits << f.shift;
  const bool away = mode == Rounding::rn || mode == Rounding::none || mode == Rounding::rna ||
                    (mode == Rounding::rp && !v.negative) || (mode == Rounding::rm && v.negative);
  return saturate || !away ? ((f.infinity >> f.shift) - 1) << f.shift : f.infinity;
}
SIMTLAB_INLINE u64 encode(const Format& f, double v, ptx::Rounding mode, bool saturate) {
  if (v != v) return f.nan;
  const Magnitude m = magnitude_of(v);
  const u64 sign = m.negative ? f.sign : 0;
  if (v - v != 0) return sign | (saturate ? (f.infinity - (u64{1} << f.shift)) : f.infinity);
  return sign | encode_magnitude(f, m, mode, saturate);
}

// Bits of any floating type up to 64 bits, exactly.
SIMTLAB_INLINE double decode(ptx::Type type, u64 bits) {
  using ptx::Type;
  if (type == Type::f64) {
    double v;
    __builtin_memcpy(&v, &bits, 8);
    return v;
  }
  if (type == Type::f32) {
    const u32 word = (u32)bits;
    float v;
    __builtin_memcpy(&v, &word, 4);
    return v;
  }
  const Format f = format_of(type);
  const u64 magnitude = bits & (f.sign - 1), field = magnitude >> (f.precision - 1);
  const bool negative = (bits & f.sign) != 0;
  const bool has_infinity = type != Type::e4m3x2;
  if (has_infinity ? magnitude > f.infinity : magnitude == f.nan)
    return negative ? -__builtin_nan("") : __builtin_nan("");
  if (has_infinity && magnitude == f.infinity) return negative ? -__builtin_inf() : __builtin_inf();
  const u64 fraction = magnitude & ((u64{1} << (f.precision - 1)) - 1);
  const u64 m = field == 0 ? fraction : fraction | (u64{1} << (f.precision - 1));
  const int exponent = f.quantum + (field == 0 ? 0 : (int)field - 1);
  // m has at most 11 bits and the exponent fits a double: both factors are exact.
  const u64 power = (u64)(exponent + 1023) << 52;
  double scale;
  __builtin_memcpy(&scale, &power, 8);
  return (negative ? -(double)m : (double)m) * scale;
}

}  // namespace simtlab::exec::SIMTLAB_ISA
