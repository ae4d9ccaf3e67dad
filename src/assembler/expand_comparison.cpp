// set, slct, cnot, testp, copysign: comparisons and choices.
#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

bool is_half_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

Type plain_bits(unsigned bytes) { return bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64; }

// What set writes for true.
std::uint64_t true_value(Type type) {
  switch (type) {
    case Type::f32: return 0x3f800000u;
    case Type::f16: return 0x3c00;
    case Type::bf16: return 0x3f80;
    default: return ~std::uint64_t{0};
  }
}

void set(Expansion& b) {
  const Inst& inst = b.at();
  const unsigned bytes = ptx::size_of(inst.type);
  ptx::Mods m;
  m.compare = inst.mods.compare;
  m.bool_op = inst.mods.bool_op;
  m.ftz = inst.mods.ftz;
  const Operand p = inst.src_count > 2
                        ? b.op(Op::setp, inst.stype, {inst.src[0], inst.src[1], inst.src[2]}, m)
                        : b.op(Op::setp, inst.stype, {inst.src[0], inst.src[1]}, m);
  b.give(Op::selp, plain_bits(bytes), {b.number(true_value(inst.type), bytes), b.number(0, bytes), p});
}

void slct(Expansion& b) {
  const Inst& inst = b.at();
  ptx::Mods m;
  m.compare = Compare::ge;
  m.ftz = inst.mods.ftz;
  const Operand p = b.op(Op::setp, inst.stype, {inst.src[2], b.number(0)}, m);
  b.give(Op::selp, plain_bits(ptx::size_of(inst.type)), {inst.src[0], inst.src[1], p});
}

void cnot(Expansion& b) {
  const Inst& inst = b.at();
  const unsigned bytes = ptx::size_of(inst.type);
  const Operand p = b.compare(Compare::eq, inst.type, inst.src[0], b.number(0, bytes));
  b.give(Op::selp, inst.type, {b.number(1, bytes), b.number(0, bytes), p});
}

void copysign(Expansion& b) {
  const Inst& inst = b.at();
  ptx::Mods choose;
  choose.lut = 0xe2;  // the first where the mask is 1, else the last
  const Operand sign = b.number(0x80000000u);
  if (inst.type == Type::f32) return b.give(Op::lop3, Type::b32, {inst.src[0], sign, inst.src[1]}, choose);
  const Operand high = b.op(Op::lop3, Type::b32, {b.high(inst.src[0]), sign, b.high(inst.src[1])}, choose);
  b.give(Op::mov, Type::b64, {b.low(inst.src[1]), high});
}

// testp: by the bits of the magnitude, f64 by its high word where that is enough.
struct Class {
  enum Kind : std::uint8_t { finite, infinite, number, not_a_number, normal, subnormal };
};

void test_by_value(Expansion& b, const Operand& x, unsigned kind) {
  const Inst& inst = b.at();
  const bool wide = inst.type == Type::f64;
  const Operand infinity = wide ? b.number(0x7ff0000000000000ull, 8) : b.number(0x7f800000u);
  ptx::Mods m;
  if (kind == Class::number || kind == Class::not_a_number) {
    m.compare = kind == Class::number ? Compare::num : Compare::nan;
    return b.give(Op::setp, inst.type, {x, x}, m);
  }
  m.compare = kind == Class::finite ? Compare::lt : Compare::eq;
  b.give(Op::setp, inst.type, {b.magnitude(inst.type, x), infinity}, m);
}

void test(Expansion& b) {
  const Inst& inst = b.at();
  const bool wide = inst.type == Type::f64;
  const unsigned kind = inst.mods.testp;
  const Operand x = b.in_register(inst.src[0]);
  if (kind != Class::normal && kind != Class::subnormal) return test_by_value(b, x, kind);
  const unsigned bytes = wide ? 8 : 4;
  const Type type = wide ? Type::u64 : Type::u32;
  const std::uint64_t least = wide ? 1ull << 52 : 1ull << 23,
                      infinity = wide ? 0x7ffull << 52 : 0xffull << 23;
  const Operand magnitude =
      b.logic(Op::and_, x, b.number(~std::uint64_t{0} >> (wide ? 1 : 33), bytes), bytes);
  ptx::Mods m;
  m.compare = Compare::lo;
  if (kind == Class::subnormal)
    return b.give(Op::setp, type, {b.sub(type, magnitude, b.number(1, bytes)), b.number(least - 1, bytes)},
                  m);
  // Zeros, too.
  const Operand zero = b.compare(Compare::eq, type, magnitude, b.number(0, bytes));
  m.bool_op = BoolOp::or_;
  b.give(Op::setp, type,
         {b.sub(type, magnitude, b.number(least, bytes)), b.number(infinity - least, bytes), zero}, m);
}

}  // namespace

bool expand_comparison(Expansion& b) {
  const Inst& inst = b.at();
  switch (inst.op) {
    case Op::set:
      if (is_half_pair(inst.stype)) return false;
      set(b);
      return true;
    case Op::slct: slct(b); return true;
    case Op::cnot: cnot(b); return true;
    case Op::copysign: copysign(b); return true;
    case Op::testp:
      if (inst.mods.testp > Class::subnormal) return false;
      test(b);
      return true;
    default: return false;
  }
}

}  // namespace simtlab::assembler
