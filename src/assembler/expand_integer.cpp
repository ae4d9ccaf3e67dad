// Products, extrema, absolute values and sums that saturate.
#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Inst;
using ptx::MulMode;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

bool is_pair(Type type) { return type == Type::u16x2 || type == Type::s16x2; }
bool is_integer(Type type) { return !ptx::is_float(type) && !is_pair(type) && type != Type::pred; }
Type widened(Type type) { return ptx::is_signed(type) ? Type::s32 : Type::u32; }

// ---- 16 bits: by 32 ----

// The operation on 32 bits; what of its result is wanted is cut from it.
void by_32_bits(Expansion& b) {
  const Inst& inst = b.at();
  const Type wide = widened(inst.type);
  Operand x[3];
  for (std::size_t i = 0; i < inst.src_count; ++i) {
    const bool sum = i == 2 && inst.mods.mul == MulMode::wide;
    x[i] = sum ? inst.src[i] : b.convert(wide, inst.type, b.in_register(inst.src[i]));
  }
  ptx::Mods low;
  low.mul = MulMode::lo;
  if (inst.mods.mul == MulMode::wide) {
    if (inst.op == Op::mul)
      b.give(Op::mul, wide, {x[0], x[1]}, low);
    else
      b.give(Op::mad, wide, {x[0], x[1], x[2]}, low);
    return;
  }
  Operand r;
  if (inst.mods.mul == MulMode::hi) {
    r = b.shift_right(wide, b.low_product(wide, x[0], x[1]), b.number(16));
    if (inst.op == Op::mad) r = b.add(Type::u32, r, x[2]);
  } else if (inst.op == Op::mul) {
    r = b.low_product(wide, x[0], x[1]);
  } else if (inst.op == Op::mad) {
    r = b.op(Op::mad, wide, {x[0], x[1], x[2]}, low);
  } else if (inst.op == Op::sad) {
    r = b.op(Op::sad, wide, {x[0], x[1], x[2]});
  } else if (inst.op == Op::abs) {
    r = b.op(Op::abs, wide, {x[0]});
  } else {
    r = b.op(inst.op, wide, {x[0], x[1]});
  }
  b.give(Op::cvt, Type::u16, {r}, {}, Type::u32);
}

// Two in a word, one after the other.
void by_halves(Expansion& b) {
  const Inst& inst = b.at();
  const bool is_signed = inst.type == Type::s16x2;
  const Type wide = is_signed ? Type::s32 : Type::u32;
  const auto part = [&](const Operand& x, bool high) {
    const Operand placed = high ? x : b.shift_left(x, b.number(16));
    return b.shift_right(wide, placed, b.number(16));
  };
  Operand r[2];
  for (const bool high : {false, true}) {
    r[high] = b.op(inst.op, wide, {part(inst.src[0], high), part(inst.src[1], high)});
    if (inst.mods.relu) r[high] = b.op(Op::max, Type::s32, {r[high], b.number(0)});
  }
  b.give(Op::prmt, Type::b32, {r[0], r[1], b.number(0x5410)});
}

// ---- 24 bits ----

Operand low24(Expansion& b, const Operand& x) {
  if (b.at().type == Type::u32) return b.logic(Op::and_, x, b.number(0xffffffu));
  ptx::Mods m;
  m.wrap = false;
  return b.op(Op::szext, Type::s32, {x, b.number(24)}, m);
}

// ---- saturation ----

// It overflowed if both operands (of a difference: the inverted second one) have the sign that the sum lacks.
void saturated_sum(Expansion& b, const Operand& x, const Operand& y, bool difference) {
  const Operand sum = difference ? b.sub(Type::s32, x, y) : b.add(Type::s32, x, y);
  ptx::Mods table;
  // Of (x, y, sum): x and y alike, x and sum not; y's sign counts the other way in a difference.
  table.lut = difference ? 0x18 : 0x42;
  const Operand signs = b.op(Op::lop3, Type::b32, {x, y, sum}, table);
  const Operand over = b.compare(Compare::lt, Type::s32, signs, b.number(0));
  const Operand limit = b.logic(Op::xor_, b.shift_right(Type::s32, x, b.number(31)), b.number(0x7fffffffu));
  b.give(Op::selp, Type::b32, {limit, sum, over});
}

void multiply24(Expansion& b) {
  const Inst& inst = b.at();
  const Operand x = low24(b, inst.src[0]), y = low24(b, inst.src[1]);
  ptx::Mods m;
  if (inst.mods.mul != MulMode::hi) {
    m.mul = MulMode::lo;
    if (inst.op == Op::mul24) return b.give(Op::mul, inst.type, {x, y}, m);
    return b.give(Op::mad, inst.type, {x, y, inst.src[2]}, m);
  }
  const Operand product = b.wide_product(inst.type, x, y);
  m.left = false;
  m.wrap = false;
  const Operand low = b.low(product), high = b.high(product);
  if (inst.op == Op::mul24) return b.give(Op::shf, Type::b32, {low, high, b.number(16)}, m);
  const Operand r = b.op(Op::shf, Type::b32, {low, high, b.number(16)}, m);
  if (inst.mods.sat) return saturated_sum(b, r, inst.src[2], false);
  b.give(Op::add, Type::u32, {r, inst.src[2]});
}

// ---- 64 bits ----

void extremum64(Expansion& b) {
  const Inst& inst = b.at();
  const Operand &x = inst.src[0], &y = inst.src[1];
  const Operand first = b.compare(inst.op == Op::min ? Compare::lt : Compare::gt, inst.type, x, y);
  b.give(Op::selp, Type::b64, {x, y, first});
}

void sum_of_difference64(Expansion& b) {
  const Inst& inst = b.at();
  const Operand &x = inst.src[0], &y = inst.src[1];
  const Operand more = b.compare(Compare::gt, inst.type, x, y);
  const Operand difference = b.op(Op::mov, Type::b64, {b.sub(Type::u64, y, x)});
  b.to_if(more, difference, Op::sub, Type::u64, {x, y});
  b.give(Op::add, Type::u64, {difference, inst.src[2]});
}

bool expand64(Expansion& b) {
  const Inst& inst = b.at();
  const bool is_signed = ptx::is_signed(inst.type);
  switch (inst.op) {
    case Op::mul:
    case Op::mad: {
      if (inst.mods.mul != MulMode::hi || inst.mods.cc_in || inst.mods.cc_out) return false;
      const Operand r = high_product64(b, b.in_register(inst.src[0]), b.in_register(inst.src[1]), is_signed);
      if (inst.op == Op::mul)
        b.give(Op::mov, Type::b64, {r});
      else
        b.give(Op::add, Type::u64, {r, inst.src[2]});
      return true;
    }
    case Op::min:
    case Op::max: extremum64(b); return true;
    case Op::abs: b.give(Op::mov, Type::b64, {absolute64(b, inst.src[0])}); return true;
    case Op::sad: sum_of_difference64(b); return true;
    default: return false;
  }
}

bool expand16(Expansion& b) {
  switch (b.at().op) {
    case Op::mul:
    case Op::mad:
    case Op::min:
    case Op::max:
    case Op::abs:
    case Op::sad: by_32_bits(b); return true;
    default: return false;
  }
}

bool expand32(Expansion& b) {
  const Inst& inst = b.at();
  switch (inst.op) {
    case Op::mul24:
    case Op::mad24: multiply24(b); return true;
    case Op::add:
    case Op::sub:
      if (!inst.mods.sat) return false;
      saturated_sum(b, inst.src[0], inst.src[1], inst.op == Op::sub);
      return true;
    case Op::mad:
      if (!inst.mods.sat) return false;
      saturated_sum(b, b.high_product(Type::s32, inst.src[0], inst.src[1]), inst.src[2], false);
      return true;
    case Op::min:
    case Op::max:
      if (!inst.mods.relu || b.generation() >= 90) return false;
      b.give(Op::max, Type::s32, {b.op(inst.op, Type::s32, {inst.src[0], inst.src[1]}), b.number(0)});
      return true;
    default: return false;
  }
}

}  // namespace

bool expand_integer(Expansion& b) {
  const Inst& inst = b.at();
  if (is_pair(inst.type)) {
    const bool is_extremum = inst.op == Op::min || inst.op == Op::max;
    if (inst.op != Op::add && (!is_extremum || b.generation() >= 90)) return false;
    by_halves(b);
    return true;
  }
  if (!is_integer(inst.type)) return false;
  switch (ptx::size_of(inst.type)) {
    case 2: return expand16(b);
    case 4: return expand32(b);
    case 8: return expand64(b);
    default: return false;
  }
}

}  // namespace simtlab::assembler
