// Integers of 64 bits by operations on their halves.
#include "assembler/expand_parts.h"

namespace simtlab::assembler {

using ptx::Compare;
using ptx::MulMode;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

namespace {

Operand carrying(Expansion& b, Op op, const Operand& x, const Operand& y, bool in, bool out) {
  ptx::Mods m;
  m.cc_in = in;
  m.cc_out = out;
  return b.op(op, Type::u32, {x, y}, m);
}

}  // namespace

// The products of the halves that stand in the middle, with the high half of the lowest one, carry into the
// highest one.
Operand high_product64(Expansion& b, const Operand& x, const Operand& y, bool is_signed) {
  const Operand xl = b.low(x), xh = b.high(x), yl = b.low(y), yh = b.high(y), zero = b.number(0);
  const Operand first = b.wide_product(Type::u32, xh, yl), second = b.wide_product(Type::u32, xl, yh);
  const Operand lowest = b.high_product(Type::u32, xl, yl);
  b.keep_carry();
  const Operand middle = carrying(b, Op::add, b.low(first), lowest, false, true);
  const Operand carry = carrying(b, Op::addc, b.high(first), zero, true, false);
  carrying(b, Op::add, b.low(second), middle, false, true);
  const Operand third = carrying(b, Op::addc, b.high(second), carry, true, true);
  const Operand fourth = carrying(b, Op::addc, zero, zero, true, false);
  b.give_carry();
  ptx::Mods wide;
  wide.mul = MulMode::wide;
  const Operand out = b.op(Op::mad, Type::u32, {xh, yh, b.pair(third, fourth)}, wide);
  if (!is_signed) return out;
  b.to_if(b.compare(Compare::lt, Type::s32, xh, zero), out, Op::sub, Type::u64, {out, y});
  b.to_if(b.compare(Compare::lt, Type::s32, yh, zero), out, Op::sub, Type::u64, {out, x});
  return out;
}

Operand absolute64(Expansion& b, const Operand& x) {
  const Operand other = b.sub(Type::u64, b.number(0, 8), x);
  return b.select(Type::b64, other, x, b.compare(Compare::lt, Type::s32, b.high(x), b.number(0)));
}

}  // namespace simtlab::assembler
