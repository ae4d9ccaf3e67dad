// f64: quotients, reciprocals, square roots.
//
// The hardware gives 20 bits of a reciprocal or of a reciprocal root, from the high word. Steps of Newton
// make it good to the last place, and a fused multiply-add with the remainder rounds the result once. What
// could be flushed or overflow on the way goes behind the kernel's end, where numbers are scaled.
#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::Rounding;
using ptx::Type;

constexpr std::uint32_t sign_word = 0x80000000u, exponent_word = 0x7ff00000u, one_word = 0x3ff00000u;
constexpr std::uint64_t no_number = 0xfff8000000000000ull;  // the NaN of operations on numbers

Rounding direction(const Inst& inst) {
  return inst.mods.rounding == Rounding::none ? Rounding::rn : inst.mods.rounding;
}

Operand fused(Expansion& b, const Operand& x, const Operand& y, const Operand& z,
              Rounding rounding = Rounding::rn) {
  return b.fma(Type::f64, x, y, z, rounding);
}
// z - x * y
Operand rest(Expansion& b, const Operand& x, const Operand& y, const Operand& z) {
  return fused(b, b.minus(Type::f64, x), y, z);
}
Operand product(Expansion& b, const Operand& x, const Operand& y, Rounding rounding = Rounding::rn) {
  ptx::Mods m;
  m.rounding = rounding;
  return b.op(Op::mul, Type::f64, {x, y}, m);
}
Operand choose(Expansion& b, const Operand& yes, const Operand& no, const Operand& predicate) {
  return b.select(Type::f64, yes, no, predicate);
}
Operand plus_word(Expansion& b, const Operand& word, std::uint32_t what) {
  return b.add(Type::u32, word, b.number(what));
}
Operand masked(Expansion& b, const Operand& word, std::uint32_t mask) {
  return b.logic(Op::and_, word, b.number(mask));
}

// A word as an f32: its exponent and more are compared by it.
Operand word_beyond(Expansion& b, Compare compare, const Operand& word, std::uint32_t limit) {
  return b.compare(compare, Type::f32, b.magnitude(Type::f32, word), b.number(limit));
}

// The rare case is the one of lanes for which `slow` holds.
template <class F>
void otherwise(Expansion& b, const Operand& slow, const Operand& out, const F& rare_case) {
  const auto rare = b.label(), joined = b.label();
  b.branch_where(slow, rare);
  b.bind(joined);
  b.finish(out);
  b.aside();
  b.bind(rare);
  rare_case();
  b.branch(joined);
  b.back();
}

// ---- quotients and reciprocals ----

Operand better_reciprocal(Expansion& b, const Operand& y, const Operand& start) {
  const Operand one = b.real(1);
  const Operand error = rest(b, y, start, one);
  const Operand near = fused(b, start, fused(b, error, error, error), start);
  return fused(b, near, rest(b, y, near, one), near);
}

// Rounded once. remainder: that of the result, for rounding to nearest.
void quotient(Expansion& b, const Operand& result, const Operand& x, const Operand& y, Rounding rounding) {
  const Operand reciprocal = better_reciprocal(b, y, b.approximate(Op::rcp, Type::f64, y));
  Operand q = product(b, x, reciprocal);
  if (rounding != Rounding::rn) q = fused(b, reciprocal, rest(b, y, q, x), q);
  b.to(result, Op::fma, Type::f64, {reciprocal, rest(b, y, q, x), q}).mods.rounding = rounding;
}

// A number as mantissa, from 1 to 2, and exponent.
struct Parts {
  Operand low, high;  // words of the mantissa, with the number's sign
  Operand exponent;
  Operand special;  // zero, infinity or NaN
};
Parts parts_of(Expansion& b, const Operand& x) {
  const Operand small = b.compare(Compare::lt, Type::f64, b.magnitude(Type::f64, x), b.real(0x1p-1022));
  const Operand normal = choose(b, product(b, x, b.real(0x1p54)), x, small);
  const Operand high = b.high(normal);
  const Operand field = masked(b, b.shift_right(Type::u32, high, b.number(20)), 0x7ff);
  const Operand special =
      b.compare(Compare::hi, Type::u32, plus_word(b, field, 0xffffffffu), b.number(0x7fd));
  const Operand exponent =
      b.add(Type::u32, field, b.select(Type::b32, b.number(0u - 54), b.number(0), small));
  const Operand mantissa = b.logic(Op::or_, masked(b, high, 0x800fffffu), b.number(one_word));
  return {b.low(normal), mantissa, exponent, special};
}

// 2^e for |e| below 1023.
Operand power(Expansion& b, const Operand& e, bool inverse) {
  const Operand field = inverse ? b.sub(Type::u32, b.number(1023), e) : plus_word(b, e, 1023);
  return b.pair(b.number(0), b.shift_left(field, b.number(20)));
}

// q * 2^(k1 + k2), where q was rounded to nearest: a subnormal result is rounded again, which goes wrong only
// where the number stands half way between two. Then it is known on which side the exact one stood: that of
// its remainder.
Operand rescaled_to_nearest(Expansion& b, const Operand& q, const Operand& remainder, const Operand& k1,
                            const Operand& k2) {
  const Operand scaled = product(b, q, power(b, k1, false)), back = power(b, k2, true);
  const Operand rounded = product(b, scaled, power(b, k2, false));
  const Operand error = rest(b, rounded, back, scaled);
  const Operand half = product(b, product(b, back, b.real(0x1p-537)), b.real(0x1p-538));
  const Operand half_way = b.compare(Compare::eq, Type::f64, b.magnitude(Type::f64, error), half);
  const Operand wrong =
      b.compare(Compare::gt, Type::f64, product(b, error, remainder), b.real(0), BoolOp::and_, half_way);
  const Operand least = b.pair(b.number(1), masked(b, b.high(error), sign_word));
  return choose(b, b.op(Op::add, Type::f64, {rounded, least}), rounded, wrong);
}

// Of zeros, infinities and NaN.
Operand special_quotient(Expansion& b, const Operand& x, const Operand& y, const Parts& of_y) {
  const Operand high = b.high(y);
  // 1 / y of zeros and infinities; else its sign matters alone.
  const Operand inverted = b.logic(Op::xor_, high, b.number(exponent_word));
  const Operand unit = b.logic(Op::or_, masked(b, high, sign_word), b.number(one_word));
  const Operand factor = b.pair(b.number(0), b.select(Type::b32, inverted, unit, of_y.special));
  const Operand any_nan = b.compare(Compare::nan, Type::f64, x, y);
  return choose(b, b.op(Op::add, Type::f64, {x, y}), product(b, x, factor), any_nan);
}

// Any x / y.
void divide_slowly(Expansion& b, const Operand& result, const Operand& x, const Operand& y,
                   Rounding rounding) {
  const Parts px = parts_of(b, x), py = parts_of(b, y);
  const Operand sign = masked(b, py.high, sign_word);
  const Operand dividend = b.pair(px.low, b.logic(Op::xor_, px.high, sign));
  const Operand divisor = b.pair(py.low, b.logic(Op::xor_, py.high, sign));
  const Operand q = b.make(Type::f64);
  quotient(b, q, dividend, divisor, rounding);
  // Beyond 1100 all results are alike.
  const Operand difference = b.sub(Type::u32, px.exponent, py.exponent);
  const Operand k =
      b.op(Op::max, Type::s32, {b.op(Op::min, Type::s32, {difference, b.number(1100)}), b.number(0u - 1100)});
  const Operand k1 = b.shift_right(Type::s32, k, b.number(1)), k2 = b.sub(Type::u32, k, k1);
  Operand out;
  if (rounding == Rounding::rn)
    out = rescaled_to_nearest(b, q, rest(b, divisor, q, dividend), k1, k2);
  else
    out = product(b, product(b, q, power(b, k1, false)), power(b, k2, false), rounding);
  const Operand special = b.op(Op::or_, Type::pred, {px.special, py.special});
  b.to(result, Op::selp, Type::f64, {special_quotient(b, x, y, py), out, special});
}

void divide(Expansion& b) {
  const Inst& inst = b.at();
  const Operand x = b.in_register(inst.src[0]), y = b.in_register(inst.src[1]);
  const Rounding rounding = direction(inst);
  const Operand out = b.result();
  // The remainder must not be subnormal.
  const Operand large = word_beyond(b, Compare::geu, b.high(x), 0x03600000u);
  quotient(b, out, x, y, rounding);
  // The quotient is normal; the sum is NaN where a word, as an f32, is an infinity or NaN.
  const Operand both = b.fma(Type::f32, b.single(0), b.high(y), b.high(out));
  const Operand plain = b.compare(Compare::gt, Type::f32, b.magnitude(Type::f32, both), b.number(0x00100000u),
                                  BoolOp::and_, large);
  otherwise(b, Expansion::inverse(plain), out, [&] { divide_slowly(b, out, x, y, rounding); });
}

void reciprocal(Expansion& b, const Operand& of) {
  const Inst& inst = b.at();
  const Operand y = b.in_register(of), one = b.real(1);
  const Rounding rounding = direction(inst);
  const Operand out = b.result();
  // From 2^-1022 to 2^1021; what is moved beyond that stands at a zero.
  const Operand plain = word_beyond(b, Compare::geu, plus_word(b, b.high(y), 0x300402u), 0x00400402u);
  const Operand start = b.approximate(Op::rcp, Type::f64, y);
  if (rounding == Rounding::rn) {
    const Operand error = rest(b, y, start, one);
    const Operand near = fused(b, start, fused(b, error, error, error), start);
    b.to(out, Op::fma, Type::f64, {near, rest(b, y, near, one), near}).mods.rounding = rounding;
  } else {
    const Operand near = better_reciprocal(b, y, start);
    b.to(out, Op::fma, Type::f64, {near, rest(b, y, near, one), near}).mods.rounding = rounding;
  }
  otherwise(b, Expansion::inverse(plain), out, [&] { divide_slowly(b, out, one, y, rounding); });
}

// ---- square roots ----

struct Root {
  Operand reciprocal, half_reciprocal, near, remainder;
};
Root root_of(Expansion& b, const Operand& x, Rounding rounding = Rounding::rn) {
  const Operand start = b.approximate(Op::rsqrt, Type::f64, x);
  const Operand error = fused(b, x, b.minus(Type::f64, product(b, start, start)), b.real(1));
  const Operand series = fused(b, error, b.real(0.375), b.real(0.5));
  Root r;
  r.reciprocal = fused(b, series, product(b, start, error), start, rounding);
  r.near = product(b, x, r.reciprocal);
  r.half_reciprocal = b.pair(b.low(r.reciprocal), plus_word(b, b.high(r.reciprocal), 0u - 0x100000u));
  r.remainder = rest(b, r.near, r.near, x);
  return r;
}

void write_root(Expansion& b, const Operand& result, const Operand& x, Rounding rounding) {
  Root r = root_of(b, x);
  if (rounding != Rounding::rn) {
    r.near = fused(b, r.remainder, r.half_reciprocal, r.near);
    r.remainder = rest(b, r.near, r.near, x);
  }
  b.to(result, Op::fma, Type::f64, {r.remainder, r.half_reciprocal, r.near}).mods.rounding = rounding;
}

// One over the rounded root. The start is rounded up, since the step from it ends below what it aims at: of
// 1 - 2^-53 a start of 1 would go nowhere.
void write_reciprocal_root(Expansion& b, const Operand& result, const Operand& x) {
  const Root r = root_of(b, x, Rounding::rp);
  const Operand root = fused(b, r.remainder, r.half_reciprocal, r.near);
  b.to(result, Op::fma, Type::f64, {r.reciprocal, rest(b, root, r.reciprocal, b.real(1)), r.reciprocal})
      .mods.rounding = Rounding::rn;
}

// What scaling by 2^106 does not reach: own: the result of zero and infinity.
void write_special_root(Expansion& b, const Operand& result, const Operand& x, const Operand& value,
                        const Operand& own) {
  const Operand is_zero = b.compare(Compare::eq, Type::f64, x, b.real(0));
  const Operand is_own = b.compare(Compare::eq, Type::f64, x, b.number(std::uint64_t{exponent_word} << 32, 8),
                                   BoolOp::or_, is_zero);
  const Operand kept = choose(b, own, value, is_own);
  const Operand nan = b.compare(Compare::nan, Type::f64, x, x);
  const Operand quiet = choose(b, b.op(Op::add, Type::f64, {x, x}), kept, nan);
  const Operand negative = b.compare(Compare::lt, Type::f64, x, b.real(0));
  b.to(result, Op::selp, Type::f64, {b.number(no_number, 8), quiet, negative});
}

// From 2^-970 on, so that remainders are normal.
Operand has_plain_root(Expansion& b, const Operand& x) {
  return b.compare(Compare::lo, Type::u32, plus_word(b, b.high(x), 0u - 0x3500000u), b.number(0x7ca00000u));
}

void square_root(Expansion& b) {
  const Operand x = b.in_register(b.at().src[0]);
  const Rounding rounding = direction(b.at());
  const Operand out = b.result();
  const Operand plain = has_plain_root(b, x);
  write_root(b, out, x, rounding);
  otherwise(b, Expansion::inverse(plain), out, [&] {
    const Operand scaled = b.make(Type::f64);
    write_root(b, scaled, product(b, x, b.real(0x1p106)), rounding);
    write_special_root(b, out, x, product(b, scaled, b.real(0x1p-53)), x);
  });
}

void reciprocal_root(Expansion& b) {
  const Operand x = b.in_register(b.at().src[0]);
  const Operand out = b.result();
  const Operand plain = has_plain_root(b, x);
  write_reciprocal_root(b, out, x);
  otherwise(b, Expansion::inverse(plain), out, [&] {
    const Operand scaled = b.make(Type::f64);
    write_reciprocal_root(b, scaled, product(b, x, b.real(0x1p106)));
    const Operand inverted = b.logic(Op::xor_, b.high(x), b.number(exponent_word));
    write_special_root(b, out, x, product(b, scaled, b.real(0x1p53)), b.pair(b.number(0), inverted));
  });
}

}  // namespace

bool expand_real(Expansion& b) {
  const Inst& inst = b.at();
  if (inst.type != Type::f64 || (inst.mods.approx && inst.mods.ftz)) return false;
  switch (inst.op) {
    case Op::div:
      if (b.known(inst.src[0]) && b.value(inst.src[0]) >> 32 == one_word &&
          (b.value(inst.src[0]) & 0xffffffffu) == 0)
        reciprocal(b, inst.src[1]);
      else
        divide(b);
      return true;
    case Op::rcp: reciprocal(b, inst.src[0]); return true;
    case Op::sqrt: square_root(b); return true;
    case Op::rsqrt: reciprocal_root(b); return true;
    default: return false;
  }
}

}  // namespace simtlab::assembler
