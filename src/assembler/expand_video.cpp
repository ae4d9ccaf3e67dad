// Video instructions: operations on parts of words, each by 32-bit or 64-bit integers that hold its exact
// value, which is then limited and put where it belongs (ptx/video.h has the selectors).
#include "assembler/expand_parts.h"
#include "ptx/video.h"

namespace simtlab::assembler {
namespace {

using ptx::AtomOp;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

struct Signs {
  bool a, b, result;
};
Signs signs_of(const Inst& inst) {
  const bool compares = inst.op == Op::vset || inst.op == Op::vset2 || inst.op == Op::vset4;
  return {(compares ? inst.type : inst.stype) == Type::s32,
          compares ? inst.stype == Type::s32 : (inst.mods.src_type_hi & ptx::video_b_signed) != 0,
          !compares && inst.type == Type::s32};
}

Operand extended(Expansion& b, const Operand& word, unsigned at, unsigned bits, bool is_signed) {
  Operand r = word;
  if (at != 0) r = b.shift_right(is_signed ? Type::s32 : Type::u32, r, b.number(at));
  if (at + bits == 32) return r;
  ptx::Mods clamp;
  clamp.wrap = false;
  return b.op(Op::szext, is_signed ? Type::s32 : Type::u32, {r, b.number(bits)}, clamp);
}

// Numbers of 64 bits, or of 32 where they are enough.
struct Numbers {
  Expansion& b;
  bool wide;
  unsigned bytes() const { return wide ? 8 : 4; }
  Type type() const { return wide ? Type::s64 : Type::s32; }
  Type bits() const { return wide ? Type::b64 : Type::b32; }
  Operand number(std::int64_t value) const { return b.number(static_cast<std::uint64_t>(value), bytes()); }
  Operand from_word(const Operand& word, bool is_signed) const {
    if (!wide) return word;
    return b.pair(word, is_signed ? b.shift_right(Type::s32, word, b.number(31)) : b.number(0));
  }
  Operand low(const Operand& x) const { return wide ? b.low(x) : x; }
  Operand choose(Compare compare, const Operand& x, const Operand& y) const {
    return b.select(bits(), x, y, b.compare(compare, type(), x, y));
  }
  Operand absolute(const Operand& x) const { return wide ? absolute64(b, x) : b.op(Op::abs, Type::s32, {x}); }
  Operand limited(const Operand& x, unsigned width, bool is_signed) const {
    const std::int64_t highest = (std::int64_t{1} << (width - (is_signed ? 1 : 0))) - 1;
    const Operand below = choose(Compare::lt, x, number(highest));
    return choose(Compare::gt, below, number(is_signed ? -highest - 1 : 0));
  }
};

// Of vset the comparison is one of numbers, whatever its spelling.
Compare of_numbers(Compare compare) {
  switch (compare) {
    case Compare::lo: return Compare::lt;
    case Compare::ls: return Compare::le;
    case Compare::hi: return Compare::gt;
    case Compare::hs: return Compare::ge;
    default: return compare;
  }
}

// Half the sum, rounded away from zero.
Operand average(const Numbers& n, const Operand& x, const Operand& y) {
  const Operand sum = n.b.add(n.type(), x, y);
  const Operand up =
      n.b.select(n.bits(), n.number(1), n.number(0), n.b.compare(Compare::ge, n.type(), sum, n.number(0)));
  return n.b.shift_right(n.type(), n.b.add(n.type(), sum, up), n.b.number(1));
}

Operand computed(const Numbers& n, const Operand& x, const Operand& y) {
  Expansion& b = n.b;
  switch (b.at().op) {
    case Op::vadd:
    case Op::vadd2:
    case Op::vadd4: return b.add(n.type(), x, y);
    case Op::vsub:
    case Op::vsub2:
    case Op::vsub4: return b.sub(n.type(), x, y);
    case Op::vavrg2:
    case Op::vavrg4: return average(n, x, y);
    case Op::vabsdiff:
    case Op::vabsdiff2:
    case Op::vabsdiff4: return n.absolute(b.sub(n.type(), x, y));
    case Op::vmin:
    case Op::vmin2:
    case Op::vmin4: return n.choose(Compare::lt, x, y);
    case Op::vmax:
    case Op::vmax2:
    case Op::vmax4: return n.choose(Compare::gt, x, y);
    default:
      return b.select(n.bits(), n.number(1), n.number(0),
                      b.compare(of_numbers(b.at().mods.compare), n.type(), x, y));
  }
}

// Where a selector of scalar forms points to.
struct Part {
  unsigned at, bits;
};
Part part_of(std::uint32_t selector) {
  if (selector == 0) return {0, 32};
  return selector <= 4 ? Part{8 * (selector - 1), 8} : Part{16 * (selector - 5), 16};
}
Part part_of(const Inst& inst, unsigned shift) {
  return part_of(ptx::video_scalar_selector(inst.mods.video, shift));
}

Operand merged(Expansion& b, const Operand& value, const Operand& into, Part part) {
  ptx::Mods choose;
  choose.lut = 0xe2;  // the first where the mask is 1, else the last
  const std::uint64_t mask = ((std::uint64_t{1} << part.bits) - 1) << part.at;
  const Operand moved = part.at == 0 ? value : b.shift_left(value, b.number(part.at));
  return b.op(Op::lop3, Type::b32, {moved, b.number(mask), into}, choose);
}

// What the scalar forms do with the low word of their value.
void finish_scalar(Expansion& b, const Operand& value, bool is_signed) {
  const Inst& inst = b.at();
  const Part part = part_of(inst, ptx::video_d_shift);
  if (inst.mods.atom == AtomOp::add) return b.give(Op::add, Type::u32, {value, inst.src[2]});
  if (inst.mods.atom != AtomOp::none)
    return b.give(inst.mods.atom == AtomOp::min ? Op::min : Op::max, is_signed ? Type::s32 : Type::u32,
                  {value, inst.src[2]});
  b.give(Op::mov, Type::b32,
         {part.bits == 32 ? value : merged(b, value, inst.src_count > 2 ? inst.src[2] : b.number(0), part)});
}

// By up to 32 bits. To the left in two steps where the result is limited: the first one ends in 49 bits, and
// what is beyond 34 of them is beyond the limits anyway.
Operand shifted(const Numbers& n, const Operand& x, const Operand& word) {
  Expansion& b = n.b;
  const Inst& inst = b.at();
  const Operand by =
      inst.mods.wrap ? b.logic(Op::and_, word, b.number(31)) : b.op(Op::min, Type::u32, {word, b.number(32)});
  if (inst.op == Op::vshr) return b.shift_right(Type::s64, x, by);
  if (!inst.mods.sat) return b.shift_left(x, by, 8);
  const Operand first = b.shift_right(Type::u32, by, b.number(1));
  const Operand limited = n.limited(b.shift_left(x, first, 8), 34, true);
  return b.shift_left(limited, b.sub(Type::u32, by, first), 8);
}

void scalar(Expansion& b) {
  const Inst& inst = b.at();
  const Signs signs = signs_of(inst);
  const Numbers n{b, true};
  const Part pa = part_of(inst, ptx::video_a_shift), pb = part_of(inst, ptx::video_b_shift);
  const Operand x = extended(b, b.in_register(inst.src[0]), pa.at, pa.bits, signs.a),
                y = extended(b, b.in_register(inst.src[1]), pb.at, pb.bits, signs.b);
  const Operand wide = n.from_word(x, signs.a);
  const bool shifts = inst.op == Op::vshl || inst.op == Op::vshr;
  Operand v = shifts ? shifted(n, wide, y) : computed(n, wide, n.from_word(y, signs.b));
  if (inst.mods.sat) v = n.limited(v, part_of(inst, ptx::video_d_shift).bits, signs.result);
  finish_scalar(b, n.low(v), signs.result);
}

void simd(Expansion& b, unsigned parts) {
  const Inst& inst = b.at();
  const Signs signs = signs_of(inst);
  const Numbers n{b, false};
  const unsigned bits = 32 / parts;
  const bool adds = inst.mods.atom == AtomOp::add;
  const Operand x = b.in_register(inst.src[0]), y = b.in_register(inst.src[1]);
  Operand out = inst.src_count > 2 ? inst.src[2] : b.number(0);
  const auto pick = [&](bool of_b, unsigned part) {
    const std::uint32_t s = ptx::video_simd_selector(inst.mods.video, of_b, part);
    return extended(b, s < parts ? x : y, bits * (s % parts), bits, of_b ? signs.b : signs.a);
  };
  for (unsigned i = 0; i < parts; ++i) {
    if ((ptx::video_mask(inst.mods.video) >> i & 1) == 0) continue;
    Operand v = computed(n, pick(false, i), pick(true, i));
    if (inst.mods.sat) v = n.limited(v, bits, signs.result);
    out = adds ? b.add(Type::u32, out, v) : merged(b, v, out, {bits * i, bits});
  }
  b.give(Op::mov, Type::b32, {out});
}

// a * b + c. 64 bits hold it, but for a product of unsigned words in a signed sum.
void multiply_add(Expansion& b) {
  const Inst& inst = b.at();
  const Signs signs = signs_of(inst);
  const unsigned flags = inst.mods.src_type_hi;
  const bool negates = ((flags & ptx::video_neg_a) != 0) != ((flags & ptx::video_neg_b) != 0);
  const bool subtracts = (flags & ptx::video_neg_c) != 0, more = (flags & ptx::video_plus_one) != 0;
  const bool is_signed = signs.a || signs.b || negates || subtracts;
  const Numbers n{b, true};
  const Part pa = part_of(inst, ptx::video_a_shift), pb = part_of(inst, ptx::video_b_shift);
  const unsigned by = (flags & ptx::video_shr7) != 0 ? 7 : (flags & ptx::video_shr15) != 0 ? 15 : 0;
  const bool fits = !is_signed || signs.a || signs.b || pa.bits + pb.bits < 64;
  if (!fits && (by != 0 || inst.mods.sat)) return b.refuse("vmad of unsigned words with a sign");
  const Operand x = n.from_word(extended(b, b.in_register(inst.src[0]), pa.at, pa.bits, signs.a), signs.a),
                y = n.from_word(extended(b, b.in_register(inst.src[1]), pb.at, pb.bits, signs.b), signs.b);
  Operand v = b.low_product(Type::u64, x, y);
  if (negates && !more) v = b.sub(Type::u64, b.number(0, 8), v);
  Operand c = b.in_register(inst.src[2]);
  // -c of a word: its bits are inverted, and one is added to the sum.
  if (subtracts && !more && !negates) c = b.op(Op::not_, Type::b32, {c});
  v = b.add(Type::u64, v, n.from_word(c, is_signed));
  if (more || (subtracts && !negates)) v = b.add(Type::u64, v, b.number(1, 8));
  const Type type = is_signed ? Type::s64 : Type::u64;
  if (by != 0) v = b.shift_right(type, v, b.number(by));
  if (inst.mods.sat && is_signed) {
    v = n.limited(v, 32, true);
  } else if (inst.mods.sat) {
    const Operand most = b.number(0xffffffffu, 8);
    v = b.select(Type::b64, v, most, b.compare(Compare::lt, Type::u64, v, most));
  }
  b.give(Op::mov, Type::b32, {n.low(v)});
}

// Bytes with bytes, without signs: VABSDIFF4.
bool has_unit(const Inst& inst) {
  const Signs signs = signs_of(inst);
  return inst.op == Op::vabsdiff4 && inst.mods.video == ptx::video_every_byte && !inst.mods.sat && !signs.a &&
         !signs.b && (inst.mods.atom == AtomOp::add || inst.mods.atom == AtomOp::none);
}

}  // namespace

bool expand_video(Expansion& b) {
  const Inst& inst = b.at();
  const Op op = inst.op;
  if (op < Op::vadd || op > Op::vset4 || has_unit(inst)) return false;
  if (op == Op::vmad)
    multiply_add(b);
  else if (op <= Op::vset)
    scalar(b);
  else
    simd(b, op <= Op::vset2 ? 2 : 4);
  return true;
}

}  // namespace simtlab::assembler
