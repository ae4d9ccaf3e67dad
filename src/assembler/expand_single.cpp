// f32: quotients, reciprocals, square roots, and approximations where PTX asks for more than the hardware's
// unit gives: it flushes subnormal numbers, and takes angles in turns.
//
// A quotient is rounded once, by a fused multiply-add whose addend is nearly the quotient and whose product
// is the remainder times the reciprocal. That is right while nothing is flushed or overflows on the way. What
// is out of that range goes behind the kernel's end, through f64: 53 bits are more than twice 24, so that
// rounding twice does no harm.
#include <bit>
#include <cmath>
#include <utility>

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

constexpr std::uint32_t one_bits = 0x3f800000u;
constexpr float least_normal = 0x1p-126f;
constexpr float reciprocal_is_normal = 0x1p126f;  // of numbers up to this one

Rounding direction(const Inst& inst) {
  return inst.mods.rounding == Rounding::none ? Rounding::rn : inst.mods.rounding;
}
bool is_directed(Rounding r) { return r != Rounding::rn; }

Operand product(Expansion& b, const Operand& x, const Operand& y, bool ftz = false,
                Rounding rounding = Rounding::rn) {
  ptx::Mods m;
  m.ftz = ftz;
  m.rounding = rounding;
  return b.op(Op::mul, Type::f32, {x, y}, m);
}

Operand compare_flushed(Expansion& b, Compare compare, const Operand& x, const Operand& y, bool ftz) {
  ptx::Mods m;
  m.compare = compare;
  m.ftz = ftz;
  return b.op(Op::setp, Type::f32, {x, y}, m);
}

Operand fused(Expansion& b, const Operand& x, const Operand& y, const Operand& z,
              Rounding rounding = Rounding::rn) {
  return b.fma(Type::f32, x, y, z, rounding);
}

// ---- the quotient ----

// The f64 number, rounded to f32. flushes: it is rounded to 24 bits whatever its exponent, and is 0 if it is
// below 2^-126 then.
void round_real(Expansion& b, const Operand& result, const Operand& wide, Rounding rounding, bool flushes) {
  ptx::Mods m;
  m.rounding = rounding;
  m.ftz = flushes;
  // The other roundings to the steps of subnormal numbers never reach 2^-126 from below.
  const bool reaches = rounding != Rounding::rz;
  if (!flushes || !reaches) {
    b.to(result, Op::cvt, Type::f32, {wide}, m, Type::f64);
    return;
  }
  const Operand rounded = b.op(Op::cvt, Type::f32, {wide}, m, Type::f64);
  const Operand least = b.real(rounding == Rounding::rn ? 0x1.ffffffp-127 : 0x1.fffffep-127);
  const Operand below = b.compare(rounding == Rounding::rn ? Compare::lt : Compare::le, Type::f64,
                                  b.magnitude(Type::f64, wide), least);
  const Operand zero = b.logic(Op::and_, rounded, b.number(0x80000000u));
  b.to(result, Op::selp, Type::f32, {zero, rounded, below});
}

// Any a / b.
void divide_slowly(Expansion& b, const Operand& result, const Operand& dividend, const Operand& divisor,
                   Rounding rounding, bool ftz) {
  const Operand x = b.convert(Type::f64, Type::f32, dividend, Rounding::none, ftz),
                y = b.convert(Type::f64, Type::f32, divisor, Rounding::none, ftz);
  const Operand one = b.real(1);
  const Operand start = b.approximate(Op::rcp, Type::f64, y);
  // Zeros, infinities and NaN come out right by this product alone; below they become NaN or lose signs.
  const Operand special = b.op(Op::mul, Type::f64, {x, start});
  const Operand error = b.fma(Type::f64, b.minus(Type::f64, y), start, one);
  const Operand reciprocal = b.fma(Type::f64, start, error, start);
  const Operand q = b.op(Op::mul, Type::f64, {x, reciprocal});
  const Operand remainder = b.fma(Type::f64, b.minus(Type::f64, y), q, x);
  const Operand better = b.fma(Type::f64, remainder, reciprocal, q);
  const Operand ordinary = b.compare(Compare::ne, Type::f64, better, b.real(0));
  round_real(b, result, b.select(Type::f64, better, special, ordinary), rounding, ftz);
}

// Within the range that the check leaves.
Operand better_reciprocal(Expansion& b, const Operand& y) {
  if (b.known(y)) {
    const float divisor = std::bit_cast<float>(static_cast<std::uint32_t>(b.value(y))), start = 1 / divisor;
    return b.single(std::fma(start, std::fma(-divisor, start, 1.0f), start));
  }
  const Operand start = b.approximate(Op::rcp, Type::f32, y);
  const Operand error = fused(b, b.minus(Type::f32, y), start, b.single(1));
  return fused(b, start, error, start);
}

void divide(Expansion& b) {
  const Inst& inst = b.at();
  const Operand &x = inst.src[0], &y = inst.src[1];
  const Rounding rounding = direction(inst);
  const bool ftz = inst.mods.ftz;
  const Operand out = b.result();
  ptx::Mods check;
  check.testp = 6;
  const Operand reciprocal = better_reciprocal(b, y);
  const Operand slow = b.op(Op::testp, Type::f32, {x, y}, check);
  Operand q = product(b, x, reciprocal);
  Operand remainder = fused(b, b.minus(Type::f32, y), q, x);
  if (is_directed(rounding)) {
    q = fused(b, reciprocal, remainder, q);
    remainder = fused(b, b.minus(Type::f32, y), q, x);
  }
  b.to(out, Op::fma, Type::f32, {reciprocal, remainder, q}).mods.rounding = rounding;
  const auto rare = b.label(), joined = b.label();
  b.branch_where(slow, rare);
  b.bind(joined);
  b.finish(out);
  b.aside();
  b.bind(rare);
  divide_slowly(b, out, x, y, rounding, ftz);
  b.branch(joined);
  b.back();
}

// x, for some lanes multiplied.
Operand scaled_where(Expansion& b, const Operand& where, const Operand& x, float factor, bool ftz = false) {
  const Operand out = b.op(Op::mov, Type::f32, {x});
  ptx::Mods m;
  m.rounding = Rounding::rn;
  m.ftz = ftz;
  b.to_if(where, out, Op::mul, Type::f32, {out, b.single(factor)}, m);
  return out;
}

Operand is_subnormal(Expansion& b, const Operand& x) {
  return b.compare(Compare::lt, Type::f32, b.magnitude(Type::f32, x), b.single(least_normal));
}
// Its reciprocal is subnormal.
Operand is_huge(Expansion& b, const Operand& x, bool ftz) {
  return compare_flushed(b, Compare::gt, b.magnitude(Type::f32, x), b.single(reciprocal_is_normal), ftz);
}

Operand scale_of(Expansion& b, const Operand& divisor) {
  const Operand grown = b.select(Type::f32, b.single(0x1p24f), b.single(1), is_subnormal(b, divisor));
  return b.select(Type::f32, b.single(0.25f), grown, is_huge(b, divisor, false));
}

// div.full and div.approx: dividend and divisor are multiplied so that the reciprocal is not flushed.
void divide_roughly(Expansion& b) {
  const Inst& inst = b.at();
  const bool ftz = inst.mods.ftz, full = inst.mods.full;
  Operand x = inst.src[0], y = inst.src[1];
  if (full && !ftz) {
    const Operand scale = scale_of(b, y);
    x = product(b, x, scale);
    y = product(b, y, scale);
  } else if (full || !ftz) {
    const Operand where = full ? is_huge(b, y, ftz) : is_subnormal(b, y);
    x = scaled_where(b, where, x, full ? 0.25f : 0x1p24f, ftz);
    y = scaled_where(b, where, y, full ? 0.25f : 0x1p24f, ftz);
  }
  ptx::Mods m;
  m.rounding = Rounding::rn;
  m.ftz = ftz;
  b.give(Op::mul, Type::f32, {x, b.approximate(Op::rcp, Type::f32, y)}, m);
}

// ---- the reciprocal ----

void reciprocal_slowly(Expansion& b, const Operand& result, const Operand& of, Rounding rounding) {
  const Operand y = b.convert(Type::f64, Type::f32, of);
  const Operand one = b.real(1);
  const Operand start = b.approximate(Op::rcp, Type::f64, y);
  Operand better = start;
  for (unsigned i = 0; i < 2; ++i) {
    const Operand error = b.fma(Type::f64, b.minus(Type::f64, y), better, one);
    better = b.fma(Type::f64, better, error, better);
  }
  // Of zeros and infinities there is nothing to be better.
  const Operand ordinary = b.compare(Compare::num, Type::f64, better, better);
  round_real(b, result, b.select(Type::f64, better, start, ordinary), rounding, false);
}

// Exponents 1 to 252: the reciprocal is normal, and its start is not flushed.
Operand has_plain_reciprocal(Expansion& b, const Operand& of) {
  const Operand moved = b.add(Type::u32, b.in_register(of), b.number(0x1800000u));
  return b.compare(Compare::hi, Type::u32, b.logic(Op::and_, moved, b.number(0x7f800000u)),
                   b.number(0x1ffffffu));
}

void reciprocal(Expansion& b, const Operand& y) {
  const Inst& inst = b.at();
  const Rounding rounding = direction(inst);
  const Operand plain = has_plain_reciprocal(b, y);
  const auto start_and_error = [&] {
    const Operand start = b.approximate(Op::rcp, Type::f32, y);
    return std::pair(start, fused(b, b.minus(Type::f32, y), start, b.single(1)));
  };
  if (inst.mods.ftz) {
    // Beyond that range the start is right: zeros, infinities, NaN and 2^-126.
    const auto [start, error] = start_and_error();
    const Operand better = fused(b, start, error, start, rounding);
    b.give(Op::selp, Type::f32, {better, start, plain});
    return;
  }
  const Operand out = b.result();
  const auto rare = b.label(), joined = b.label();
  b.branch_where(Expansion::inverse(plain), rare);
  const auto [start, error] = start_and_error();
  b.to(out, Op::fma, Type::f32, {start, error, start}).mods.rounding = rounding;
  b.bind(joined);
  b.finish(out);
  b.aside();
  b.bind(rare);
  reciprocal_slowly(b, out, y, rounding);
  b.branch(joined);
  b.back();
}

void approximate_reciprocal(Expansion& b) {
  const Operand& y = b.at().src[0];
  const Operand scale = scale_of(b, y);
  b.give(Op::mul, Type::f32, {scale, b.approximate(Op::rcp, Type::f32, product(b, y, scale))});
}

// ---- the square root ----

// Of numbers from 2^-101 on. The remainder of the root that is nearly right, times half the reciprocal of it.
void root(Expansion& b, const Operand& result, const Operand& of, const Operand& start, Rounding rounding) {
  const Operand half = product(b, start, b.single(0.5f), true);
  Operand near = product(b, of, start, true);
  if (is_directed(rounding)) {
    const Operand error = fused(b, half, b.minus(Type::f32, near), b.single(0.5f));
    near = fused(b, near, error, near);
  }
  const Operand remainder = fused(b, b.minus(Type::f32, near), near, of);
  b.to(result, Op::fma, Type::f32, {remainder, half, near}).mods.rounding = rounding;
}

void root_slowly(Expansion& b, const Operand& result, const Operand& of, Rounding rounding, bool ftz) {
  const Operand scaled = product(b, of, b.single(0x1p64f), ftz);
  const Operand out = b.make(Type::f32);
  root(b, out, scaled, b.approximate(Op::rsqrt, Type::f32, scaled), rounding);
  const Operand value = product(b, out, b.single(0x1p-32f));
  const Operand is_zero = b.compare(Compare::eq, Type::f32, scaled, b.single(0));
  const Operand is_own =
      b.compare(Compare::eq, Type::f32, scaled, b.number(0x7f800000u), BoolOp::or_, is_zero);
  b.to(result, Op::selp, Type::f32, {scaled, value, is_own});
}

void square_root(Expansion& b) {
  const Inst& inst = b.at();
  const Operand& x = inst.src[0];
  const Rounding rounding = direction(inst);
  const Operand out = b.result();
  const Operand moved = b.sub(Type::u32, b.in_register(x), b.number(0xd000000u));
  const Operand start = b.approximate(Op::rsqrt, Type::f32, x);
  const Operand slow = b.compare(Compare::hi, Type::u32, moved, b.number(0x727fffffu));
  const auto rare = b.label(), joined = b.label();
  b.branch_where(slow, rare);
  root(b, out, x, start, rounding);
  b.bind(joined);
  b.finish(out);
  b.aside();
  b.bind(rare);
  root_slowly(b, out, x, rounding, inst.mods.ftz);
  b.branch(joined);
  b.back();
}

// ---- functions that the unit computes of normal numbers ----

// Of subnormal numbers by way of 2^24 times as much, and how the result goes back.
void go_around(Expansion& b, Op after, float back) {
  const Inst& inst = b.at();
  const Operand where = is_subnormal(b, inst.src[0]);
  const Operand out = b.result();
  const Operand moved = scaled_where(b, where, inst.src[0], 0x1p24f);
  ptx::Mods m;
  m.approx = true;
  m.ftz = true;
  b.to(out, inst.op, Type::f32, {moved}, m);
  b.to_if(where, out, after, Type::f32, {out, b.single(back)});
  b.finish(out);
}

// Of what has subnormal results by way of half of it, squared.
void power_of_two(Expansion& b) {
  const Operand& x = b.at().src[0];
  const Operand where = b.compare(Compare::lt, Type::f32, x, b.single(-126));
  const Operand out = b.result();
  const Operand moved = scaled_where(b, where, x, 0.5f);
  ptx::Mods m;
  m.approx = true;
  m.ftz = true;
  b.to(out, Op::ex2, Type::f32, {moved}, m);
  b.to_if(where, out, Op::mul, Type::f32, {out, out});
  b.finish(out);
}

void angle_function(Expansion& b) {
  constexpr float turns_of_radian = 0x1.45f306p-3f;  // 1 / (2 pi)
  ptx::Mods m;
  m.approx = true;
  m.ftz = true;
  m.turns = true;
  const Operand turns = product(b, b.at().src[0], b.single(turns_of_radian), false, Rounding::rz);
  b.give(b.at().op, Type::f32, {turns}, m);
}

bool expand_approximation(Expansion& b) {
  const ptx::Mods& m = b.at().mods;
  switch (b.at().op) {
    case Op::sin:
    case Op::cos:
      if (m.turns) return false;
      angle_function(b);
      return true;
    case Op::div: divide_roughly(b); return true;
    default: break;
  }
  if (m.ftz) return false;
  switch (b.at().op) {
    case Op::rcp: approximate_reciprocal(b); return true;
    case Op::sqrt: go_around(b, Op::mul, 0x1p-12f); return true;
    case Op::rsqrt: go_around(b, Op::mul, 0x1p12f); return true;
    case Op::lg2: go_around(b, Op::add, -24); return true;
    case Op::ex2: power_of_two(b); return true;
    default: return false;
  }
}

}  // namespace

bool expand_single(Expansion& b) {
  const Inst& inst = b.at();
  if (inst.type != Type::f32) return false;
  switch (inst.op) {
    case Op::div:
    case Op::rcp:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::sin:
    case Op::cos:
    case Op::lg2:
    case Op::ex2: break;
    default: return false;
  }
  if (inst.mods.approx || inst.mods.full) return expand_approximation(b);
  switch (inst.op) {
    case Op::div:
      if (b.known(inst.src[0]) && b.value(inst.src[0]) == one_bits)
        reciprocal(b, inst.src[1]);
      else
        divide(b);
      return true;
    case Op::rcp: reciprocal(b, inst.src[0]); return true;
    case Op::sqrt: square_root(b); return true;
    default: return false;
  }
}

}  // namespace simtlab::assembler
