// Quotients and remainders of integers by a number that is known: the product with 2^n / d, rounded up, cut.
// n is so large that what was rounded up does not reach the next whole number for any dividend.
#include <bit>

#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::Compare;
using ptx::Inst;
using ptx::MulMode;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

__extension__ using Wide = unsigned __int128;

// The division at hand, on 32 or 64 bits: those of 16 are extended before.
struct Division {
  Expansion& b;
  Operand x;
  std::uint64_t d;  // its magnitude
  unsigned bits;
  bool is_signed, negative;

  unsigned bytes() const { return bits / 8; }
  Type number_type() const {
    if (bits == 64) return is_signed ? Type::s64 : Type::u64;
    return is_signed ? Type::s32 : Type::u32;
  }
  Type unsigned_type() const { return bits == 64 ? Type::u64 : Type::u32; }
  Operand number(std::uint64_t value) const { return b.number(value, bytes()); }
  Operand high_product(const Operand& a, std::uint64_t m, bool with_signs) const {
    if (bits == 64) return high_product64(b, a, number(m), with_signs);
    return b.high_product(with_signs ? Type::s32 : Type::u32, a, number(m));
  }
  Operand right(const Operand& a, unsigned by, bool with_sign = false) const {
    if (by == 0) return a;
    const Type type = bits == 64 ? (with_sign ? Type::s64 : Type::u64) : (with_sign ? Type::s32 : Type::u32);
    return b.shift_right(type, a, b.number(by));
  }
};

// ceil(2^(bits + shift) / d) - 2^bits * (whether it needs one bit more).
struct Factor {
  std::uint64_t low = 0;
  unsigned shift = 0;
  bool one_more = false;
};

// For dividends of `width` bits, taken by `bits`-bit products.
Factor factor_for(std::uint64_t d, unsigned bits, unsigned width) {
  for (unsigned shift = 0;; ++shift) {
    // 2^(bits + shift) may not fit: it is quotient and rest of 2^(bits + shift) - 1, and one more.
    const unsigned power = bits + shift;
    const Wide last = power >= 128 ? ~Wide{0} : (Wide{1} << power) - 1;
    const Wide quotient = last / d, rest = last % d;
    const Wide up = quotient + 1, excess = d - 1 - rest;  // up * d = 2^power + excess
    if (excess > (Wide{1} << (power - width))) continue;
    if (up >> bits == 0) return {static_cast<std::uint64_t>(up), shift, false};
    if (width == bits) return {static_cast<std::uint64_t>(bits == 64 ? up : up & 0xffffffffu), shift, true};
  }
}

Operand quotient_unsigned(const Division& v) {
  if (std::has_single_bit(v.d)) return v.right(v.x, static_cast<unsigned>(std::countr_zero(v.d)));
  Factor f = factor_for(v.d, v.bits, v.bits);
  Operand x = v.x;
  if (f.one_more && v.d % 2 == 0) {
    const auto even = static_cast<unsigned>(std::countr_zero(v.d));
    x = v.right(x, even);
    f = factor_for(v.d >> even, v.bits, v.bits - even);
  }
  const Operand product = v.high_product(x, f.low, false);
  if (!f.one_more) return v.right(product, f.shift);
  // The factor's highest bit adds x, whose carry is kept by halving.
  const Operand half = v.right(v.b.sub(v.unsigned_type(), x, product), 1);
  return v.right(v.b.add(v.unsigned_type(), half, product), f.shift - 1);
}

// Added to a dividend below 0 so that cutting goes toward 0: 2^k - 1.
Operand bias(const Division& v, unsigned k) { return v.right(v.right(v.x, v.bits - 1, true), v.bits - k); }

// Of d = 2^k with a sign that is left to the caller.
Operand quotient_of_power(const Division& v) {
  const auto k = static_cast<unsigned>(std::countr_zero(v.d));
  if (k == 0) return v.x;
  return v.right(v.b.add(v.unsigned_type(), v.x, bias(v, k)), k, true);
}

Operand quotient_signed(const Division& v) {
  const auto negated = [&](const Operand& q) {
    return v.negative ? v.b.sub(v.unsigned_type(), v.number(0), q) : q;
  };
  if (std::has_single_bit(v.d)) return negated(quotient_of_power(v));
  const Factor f = factor_for(v.d, v.bits, v.bits - 1);
  Operand q = v.high_product(v.x, f.low, true);
  // The factor's highest bit was taken for a sign.
  if ((f.low >> (v.bits - 1)) != 0) q = v.b.add(v.unsigned_type(), q, v.x);
  q = v.right(q, f.shift, true);
  // Below 0 it was cut away from 0: one more.
  if (v.negative) return v.b.sub(v.unsigned_type(), v.right(v.x, v.bits - 1, true), q);
  return v.b.add(v.unsigned_type(), q, v.right(v.x, v.bits - 1));
}

Operand remainder(const Division& v) {
  Expansion& b = v.b;
  if (std::has_single_bit(v.d)) {
    if (!v.is_signed) return b.logic(Op::and_, v.x, v.number(v.d - 1), v.bytes());
    const auto k = static_cast<unsigned>(std::countr_zero(v.d));
    if (k == 0) return v.number(0);
    const Operand moved = b.add(v.unsigned_type(), v.x, bias(v, k));
    return b.sub(v.unsigned_type(), v.x, b.logic(Op::and_, moved, v.number(0 - v.d), v.bytes()));
  }
  const Operand q = v.is_signed ? quotient_signed(v) : quotient_unsigned(v);
  ptx::Mods m;
  m.mul = MulMode::lo;
  return b.op(Op::mad, v.unsigned_type(), {q, v.number(v.negative ? v.d : 0 - v.d), v.x}, m);
}

}  // namespace

void divide_by_number(Expansion& b) {
  const Inst& inst = b.at();
  const unsigned bytes = ptx::size_of(inst.type);
  const bool is_signed = ptx::is_signed(inst.type);
  const unsigned unused = 64 - 8 * bytes;
  std::uint64_t value = b.value(inst.src[1]) << unused >> unused;
  const bool negative = is_signed && (value >> (8 * bytes - 1) & 1) != 0;
  if (negative) value = (0 - value) << unused >> unused;
  const Type bits = bytes == 8 ? Type::b64 : bytes == 2 ? Type::b16 : Type::b32;
  if (value == 0) {
    b.give(Op::mov, bits, {b.number(~std::uint64_t{0}, bytes)});
    return;
  }
  const Operand x = b.in_register(inst.src[0]);
  Division v{.b = b,
             .x = bytes == 2 ? b.convert(is_signed ? Type::s32 : Type::u32, inst.type, x) : x,
             .d = value,
             .bits = bytes == 8 ? 64u : 32u,
             .is_signed = is_signed,
             .negative = negative};
  const Operand r = inst.op == Op::rem ? remainder(v) : is_signed ? quotient_signed(v) : quotient_unsigned(v);
  if (bytes == 2)
    b.give(Op::cvt, Type::u16, {r}, {}, Type::u32);
  else
    b.give(Op::mov, bits, {r});
}

}  // namespace simtlab::assembler
