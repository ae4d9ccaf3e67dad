// f16 and bf16. Before sm_90 bf16 has fused multiply-adds alone: sums are those with a factor of 1, products
// those with -0 added, which keeps the sign of zeros.
#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::Op;
using ptx::Operand;
using ptx::Type;

bool is_pair(Type type) { return type == Type::bf16x2 || type == Type::f16x2; }

Operand brain_number(Expansion& b, Type type, std::uint32_t bits) {
  return is_pair(type) ? b.number(bits | bits << 16) : b.number(bits, 2);
}

constexpr std::uint32_t brain_one = 0x3f80, brain_minus_one = 0xbf80, brain_minus_zero = 0x8000;

}  // namespace

ptx::Operand add_brain_floats(Expansion& b, Type type, const Operand& x, const Operand& y) {
  if (b.generation() >= 90) {
    ptx::Mods m;
    m.rounding = ptx::Rounding::rn;
    return b.op(Op::add, type, {x, y}, m);
  }
  return b.fma(type, x, brain_number(b, type, brain_one), y);
}

namespace {

// One half after the other.
void function_of_halves(Expansion& b) {
  const ptx::Inst& inst = b.at();
  const Type type = inst.type == Type::f16x2 ? Type::f16 : Type::bf16;
  const Operand low = b.make(Type::b16), high = b.make(Type::b16);
  ptx::Inst& parts = b.to(low, Op::mov, Type::b32, {b.in_register(inst.src[0])});
  parts.dst[parts.dst_count++] = high;
  b.give(Op::mov, Type::b32, {b.op(inst.op, type, {low}, inst.mods), b.op(inst.op, type, {high}, inst.mods)});
}

}  // namespace

bool expand_half(Expansion& b) {
  const ptx::Inst& inst = b.at();
  const Type type = inst.type;
  if ((inst.op == Op::ex2 || inst.op == Op::tanh) && is_pair(type)) {
    function_of_halves(b);
    return true;
  }
  if ((type != Type::bf16 && type != Type::bf16x2) || b.generation() >= 90) return false;
  ptx::Mods m = inst.mods;
  m.rounding = ptx::Rounding::rn;
  const auto &x = inst.src[0], &y = inst.src[1];
  switch (inst.op) {
    case Op::add: b.give(Op::fma, type, {x, brain_number(b, type, brain_one), y}, m); return true;
    case Op::sub: b.give(Op::fma, type, {y, brain_number(b, type, brain_minus_one), x}, m); return true;
    case Op::mul: b.give(Op::fma, type, {x, y, brain_number(b, type, brain_minus_zero)}, m); return true;
    default: return false;
  }
}

}  // namespace simtlab::assembler
