// Quotients and remainders of integers.
//
// The reciprocal of the divisor as a float is a little too small on purpose: its bits, less two units in the
// last place, with the exponent moved so that it counts 2^-32 (or 2^-64). One step of Newton in integers (two
// for 64 bits) makes it exact but for the last place, and the quotient at most two too small.
#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::Compare;
using ptx::Inst;
using ptx::MulMode;
using ptx::Op;
using ptx::Operand;
using ptx::Rounding;
using ptx::Type;

Operand multiply_add(Expansion& b, MulMode mode, const Operand& x, const Operand& y, const Operand& z) {
  ptx::Mods m;
  m.mul = mode;
  return b.op(Op::mad, Type::u32, {x, y, z}, m);
}

Operand negative(Expansion& b, const Operand& x, unsigned bytes) {
  return b.sub(bytes == 8 ? Type::u64 : Type::u32, b.number(0, bytes), x);
}

// 2^32 / y, at most one less than it is; less: -y.
Operand reciprocal32(Expansion& b, const Operand& y, const Operand& less) {
  const Operand rounded = b.convert(Type::f32, Type::u32, y, Rounding::rp);
  const Operand start = b.add(Type::u32, b.approximate(Op::rcp, Type::f32, rounded), b.number(0xffffffeu));
  const Operand first = b.convert(Type::u32, Type::f32, start, Rounding::rzi, true);
  const Operand error = b.low_product(Type::u32, less, first);
  return multiply_add(b, MulMode::hi, first, error, first);
}

Operand reciprocal64(Expansion& b, const Operand& y, const Operand& less) {
  const Operand rounded = b.convert(Type::f32, Type::u64, y, Rounding::rp);
  const Operand start = b.add(Type::u32, b.approximate(Op::rcp, Type::f32, rounded), b.number(0x1ffffffeu));
  Operand better = b.convert(Type::u64, Type::f32, start, Rounding::rzi);
  for (unsigned i = 0; i < 2; ++i) {
    const Operand error = b.low_product(Type::u64, better, less);
    better = b.add(Type::u64, better, high_product64(b, better, error, false));
  }
  return better;
}

// Of unsigned numbers in registers. What x / 0 gives is left to the caller.
void divide(Expansion& b, const Operand& result, const Operand& x, const Operand& y, bool remainder) {
  const bool wide = y.bytes == 8;
  const Type type = wide ? Type::u64 : Type::u32;
  const Operand q = remainder ? b.make(type) : result, rest = remainder ? result : b.make(type);
  const Operand less = negative(b, y, y.bytes);
  if (wide)
    b.to(q, Op::mov, Type::b64, {high_product64(b, reciprocal64(b, y, less), x, false)});
  else
    b.to(q, Op::mul, type, {reciprocal32(b, y, less), x}).mods.mul = MulMode::hi;
  b.to(rest, Op::mad, type, {q, less, x}).mods.mul = MulMode::lo;
  for (unsigned i = 0; i < 2; ++i) {
    const Operand again = b.compare(Compare::hs, type, rest, y);
    if (remainder || i == 0) b.to_if(again, rest, Op::sub, type, {rest, y});
    if (!remainder) b.to_if(again, q, Op::add, type, {q, b.number(1, y.bytes)});
  }
}

// What x / 0 is. y: as wide as the division that was made.
void give_ones(Expansion& b, const Operand& out, const Operand& y) {
  const Type bits = y.bytes == 8 ? Type::b64 : Type::b32;
  const Operand nothing = b.compare(Compare::eq, bits, y, b.number(0, y.bytes));
  b.to_if(nothing, out, Op::mov, out.bytes == 8 ? Type::b64 : Type::b32,
          {b.number(~std::uint64_t{0}, out.bytes)});
}

void divide_any(Expansion& b, const Operand& out, const Operand& x, const Operand& y) {
  const Inst& inst = b.at();
  const bool is_signed = ptx::is_signed(inst.type), remainder = inst.op == Op::rem;
  const unsigned bytes = ptx::size_of(inst.type);
  const Operand zero = b.number(0, bytes);
  if (is_signed) {
    const Operand signs = remainder ? x : b.logic(Op::xor_, x, y, bytes);
    const Operand is_negative = b.compare(Compare::lt, inst.type, signs, zero);
    const auto absolute = [&](const Operand& of) {
      return bytes == 8 ? absolute64(b, of) : b.op(Op::abs, inst.type, {of});
    };
    divide(b, out, absolute(x), absolute(y), remainder);
    b.to_if(is_negative, out, Op::neg, inst.type, {out});
  } else {
    divide(b, out, x, y, remainder);
  }
  give_ones(b, out, y);
}

// Numbers below 2^32 take a division of 32 bits; the long one lies behind the kernel. Compilers test for them
// by x | y in front of a division that is for the others then.
void divide_wide(Expansion& b) {
  const Inst& inst = b.at();
  const Operand x = b.in_register(inst.src[0]), y = b.in_register(inst.src[1]);
  const Operand out = b.result();
  const auto rare = b.label(), joined = b.label();
  if (b.are_joined(inst.src[0], inst.src[1])) {
    b.branch_here(rare);
  } else {
    const Operand low = b.low(y), upper = b.logic(Op::or_, b.high(x), b.high(y));
    b.branch_where(b.compare(Compare::ne, Type::b32, upper, b.number(0)), rare);
    const Operand r = b.make(Type::u32);
    divide(b, r, b.low(x), low, inst.op == Op::rem);
    b.to(out, Op::mov, Type::b64, {r, b.number(0)});
    give_ones(b, out, low);
  }
  b.bind(joined);
  b.finish(out);
  b.aside();
  b.bind(rare);
  divide_any(b, out, x, y);
  b.branch(joined);
  b.back();
}

void divide_in_line(Expansion& b) {
  const Operand x = b.in_register(b.at().src[0]), y = b.in_register(b.at().src[1]);
  const Operand out = b.result();
  divide_any(b, out, x, y);
  b.finish(out);
}

// Floats tell quotients of 16 bits apart: the reciprocal is made a little too large, so that whole quotients
// do not fall below what they are.
void divide16(Expansion& b) {
  const Inst& inst = b.at();
  const Type wide = ptx::is_signed(inst.type) ? Type::s32 : Type::u32;
  const Operand x = b.convert(wide, inst.type, b.in_register(inst.src[0])),
                y = b.convert(wide, inst.type, b.in_register(inst.src[1]));
  const Operand dividend = b.convert(Type::f32, wide, x, Rounding::rn),
                divisor = b.convert(Type::f32, wide, y, Rounding::rn);
  const Operand reciprocal = b.add(Type::u32, b.approximate(Op::rcp, Type::f32, divisor), b.number(4));
  Operand r = b.convert(wide, Type::f32, b.op(Op::mul, Type::f32, {dividend, reciprocal}), Rounding::rzi);
  if (inst.op == Op::rem) r = multiply_add(b, MulMode::lo, negative(b, r, 4), y, x);
  const Operand any = b.compare(Compare::ne, Type::b32, y, b.number(0));
  const Operand out = b.select(Type::b32, r, b.number(0xffffffffu), any);
  b.give(Op::cvt, Type::u16, {out}, {}, Type::u32);
}

}  // namespace

bool expand_division(Expansion& b) {
  const Inst& inst = b.at();
  if ((inst.op != Op::div && inst.op != Op::rem) || ptx::is_float(inst.type)) return false;
  if (b.known(inst.src[1])) {
    divide_by_number(b);
  } else if (ptx::size_of(inst.type) == 2) {
    divide16(b);
  } else if (ptx::size_of(inst.type) == 8 && !b.carry_in_use()) {
    divide_wide(b);
  } else {
    divide_in_line(b);
  }
  return true;
}

}  // namespace simtlab::assembler
