// Atomics that the hardware does not have become loops: the value is read, changed, and swapped in where
// nothing came between. Shared memory adds 32-bit integers, no floats, and of 64 bits it has swaps alone; 16
// bits are a part of a word.
#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::AtomOp;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool is_swap(AtomOp op) { return op == AtomOp::exch || op == AtomOp::cas; }

// Whether the memory's own unit does it.
bool has_unit(const Inst& inst) {
  const unsigned bytes = ptx::size_of(inst.type);
  if (bytes == 2) return false;
  if (inst.mods.space != Space::shared || inst.mods.video != 0) return true;
  const bool is_float = ptx::is_float(inst.type) || inst.type == Type::f16x2 || inst.type == Type::bf16x2;
  if (is_float) return false;
  return bytes == 4 || is_swap(inst.mods.atom);
}

// What the memory holds afterwards.
Operand changed(Expansion& b, const Operand& old, const Operand& operand) {
  const Inst& inst = b.at();
  const Type type = inst.type;
  const auto choose = [&](Compare compare) {
    const Operand first = b.compare(compare, type, operand, old);
    return b.select(ptx::size_of(type) == 8 ? Type::b64 : Type::b32, operand, old, first);
  };
  switch (inst.mods.atom) {
    case AtomOp::add: {
      if (type != Type::bf16 && type != Type::bf16x2) {
        ptx::Mods m;
        if (ptx::is_float(type) || type == Type::f16x2) m.rounding = ptx::Rounding::rn;
        return b.op(Op::add, type, {old, operand}, m);
      }
      return add_brain_floats(b, type, old, operand);
    }
    case AtomOp::min: return choose(Compare::lt);
    case AtomOp::max: return choose(Compare::gt);
    case AtomOp::and_: return b.op(Op::and_, Type::b64, {old, operand});
    case AtomOp::or_: return b.op(Op::or_, Type::b64, {old, operand});
    case AtomOp::xor_: return b.op(Op::xor_, Type::b64, {old, operand});
    case AtomOp::exch: return operand;
    default: return {};
  }
}

Operand read(Expansion& b, Type type, const Operand& address, std::int64_t offset) {
  const Inst& inst = b.at();
  ptx::Mods m;
  m.space = inst.mods.space;
  const Operand out = b.make(type);
  Inst& load = b.to(out, Op::ld, type, {address}, m);
  load.imm_offset = offset;
  load.frame_relative = inst.frame_relative;
  return out;
}

// What was there.
Operand swap(Expansion& b, Type type, const Operand& address, std::int64_t offset, const Operand& if_this,
             const Operand& value) {
  const Inst& inst = b.at();
  ptx::Mods m = inst.mods;
  m.atom = AtomOp::cas;
  const Operand out = b.make(type);
  Inst& atom = b.to(out, Op::atom, type, {address, if_this, value}, m);
  atom.imm_offset = offset;
  atom.frame_relative = inst.frame_relative;
  return out;
}

void write_result(Expansion& b, const Operand& value, Type type) {
  const Inst& inst = b.at();
  if (inst.op == Op::atom && inst.dst_count != 0 && inst.dst[0].kind == ptx::OperandKind::reg)
    b.to(inst.dst[0], Op::mov, type, {value});
}

// Lanes that the instruction's guard leaves out go around.
template <class F>
void for_guarded_lanes(Expansion& b, const F& code) {
  const bool guarded = b.at().guard.kind != ptx::OperandKind::none;
  const auto end = b.label();
  if (guarded) b.branch_if(Expansion::inverse(b.at().guard), end);
  code();
  b.bind(end);
}

void loop_on_words(Expansion& b) {
  const Inst& inst = b.at();
  const Type bits = ptx::size_of(inst.type) == 8 ? Type::b64 : Type::b32;
  const Operand address = inst.src[0], operand = b.in_register(inst.src[1]);
  const auto again = b.label();
  b.bind(again);
  const Operand old = read(b, bits, address, inst.imm_offset);
  const Operand found = swap(b, bits, address, inst.imm_offset, old, changed(b, old, operand));
  b.branch_if(b.compare(Compare::ne, bits, found, old), again);
  write_result(b, old, bits);
}

// The word around 16 bits, and where in it they are.
struct Place {
  Operand word;
  Operand bits;      // how far up
  Operand selector;  // of prmt: the word with the lower half of another one in that place
};
Place place_of(Expansion& b) {
  const Inst& inst = b.at();
  const Operand base = b.in_register(inst.src[0]);
  const bool wide = base.bytes == 8;
  const Type type = wide ? Type::u64 : Type::u32;
  Operand at = base;
  if (inst.imm_offset != 0)
    at = b.add(type, base, b.number(static_cast<std::uint64_t>(inst.imm_offset), base.bytes));
  const Operand low = wide ? b.low(at) : at;
  const Operand upper = b.logic(Op::and_, low, b.number(2));
  const Operand is_low = b.compare(Compare::eq, Type::b32, upper, b.number(0));
  return {b.logic(Op::and_, at, b.number(~std::uint64_t{3}, base.bytes), base.bytes),
          b.shift_left(upper, b.number(3)), b.select(Type::b32, b.number(0x3254), b.number(0x5410), is_low)};
}

void loop_on_halves(Expansion& b) {
  const Inst& inst = b.at();
  const bool compares = inst.mods.atom == AtomOp::cas;
  const Place place = place_of(b);
  const Operand operand = b.in_register(inst.src[compares ? 2 : 1]);
  Operand wanted;
  if (compares) wanted = b.convert(Type::u32, Type::u16, b.in_register(inst.src[1]));
  const Operand half = b.make(Type::b16), shifted = b.make(Type::b32);
  const auto again = b.label(), done = b.label();
  b.bind(again);
  const Operand old = read(b, Type::b32, place.word, 0);
  b.to(shifted, Op::shr, Type::u32, {old, place.bits});
  b.to(half, Op::cvt, Type::u16, {shifted}, {}, Type::u32);
  Operand value = operand;
  if (compares) {
    const Operand there = b.convert(Type::u32, Type::u16, half);
    b.branch_if(b.compare(Compare::ne, Type::b32, there, wanted), done);
  } else {
    value = changed(b, half, operand);
  }
  const Operand merged =
      b.op(Op::prmt, Type::b32, {old, b.convert(Type::u32, Type::u16, value), place.selector});
  const Operand found = swap(b, Type::b32, place.word, 0, old, merged);
  b.branch_if(b.compare(Compare::ne, Type::b32, found, old), again);
  b.bind(done);
  write_result(b, half, Type::b16);
}

}  // namespace

bool expand_atomic(Expansion& b) {
  const Inst& inst = b.at();
  if ((inst.op != Op::atom && inst.op != Op::red) || has_unit(inst)) return false;
  for_guarded_lanes(b, [&] {
    if (ptx::size_of(inst.type) == 2)
      loop_on_halves(b);
    else
      loop_on_words(b);
  });
  return true;
}

}  // namespace simtlab::assembler
