// Bit fields, counts and positions.
#include <algorithm>

#include "assembler/expand_parts.h"

namespace simtlab::assembler {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Inst;
using ptx::Op;
using ptx::Operand;
using ptx::Type;

constexpr std::uint8_t choose_by_mask = 0xe2;  // lop3: a where b is 1, else c

Operand extended(Expansion& b, Type type, const Operand& x, const Operand& bits) {
  ptx::Mods m;
  m.wrap = false;
  return b.op(Op::szext, type, {x, bits}, m);
}
Operand merged(Expansion& b, const Operand& ones, const Operand& zeros, const Operand& mask) {
  ptx::Mods m;
  m.lut = choose_by_mask;
  return b.op(Op::lop3, Type::b32, {ones, mask, zeros}, m);
}
Operand bfind(Expansion& b, const Operand& word, bool shift_amount = false) {
  ptx::Mods m;
  m.shift_amount = shift_amount;
  return b.op(Op::bfind, Type::u32, {word}, m);
}
Operand is_set(Expansion& b, const Operand& word) {
  return b.compare(Compare::ne, Type::b32, word, b.number(0));
}

// Position and length of a field: their low bytes count.
Operand byte_of(Expansion& b, const Operand& o) {
  if (b.known(o)) return b.number(b.value(o) & 0xff);
  return b.logic(Op::and_, o, b.number(0xff));
}
bool is_shorter_than(Expansion& b, const Operand& position, const Operand& length, unsigned bits) {
  return b.value(position) + b.value(length) < bits;
}

// ---- fields taken out ----

// The shift brings the sign in for the extension to find.
Operand field32(Expansion& b, Type type, const Operand& x, const Operand& position, const Operand& length) {
  const bool both = b.known(position) && b.known(length);
  Operand r = x;
  if (!b.known(position) || b.value(position) != 0) r = b.shift_right(type, x, position);
  if (both && !is_shorter_than(b, position, length, 32) && b.value(length) != 0) return r;
  if (both && type == Type::u32)
    return b.logic(Op::and_, r, b.number((std::uint64_t{1} << b.value(length)) - 1));
  return extended(b, type, r, length);
}

// Of known place: in one of the words if it is so.
Operand known_field64(Expansion& b, const Operand& x, unsigned position, unsigned length) {
  const Type type = b.at().type;
  const bool is_signed = type == Type::s64;
  if (length == 0) return b.number(0, 8);
  position = std::min(position, is_signed ? 63u : 64u);
  length = std::min(length, 64 - position);
  if (length == 0) return b.number(0, 8);
  const bool high = position >= 32;
  if (high || position + length <= 32) {
    const Operand word = high ? b.high(x) : b.low(x);
    const Operand r =
        field32(b, is_signed ? Type::s32 : Type::u32, word, b.number(position & 31), b.number(length));
    return b.pair(r, is_signed ? b.shift_right(Type::s32, r, b.number(31)) : b.number(0));
  }
  Operand r = x;
  if (position + length < 64) r = b.shift_left(r, b.number(64 - position - length), 8);
  return length == 64 ? r : b.shift_right(type, r, b.number(64 - length));
}

Operand field64(Expansion& b, const Operand& x, const Operand& position, const Operand& length) {
  const Type type = b.at().type;
  if (b.known(position) && b.known(length))
    return known_field64(b, x, static_cast<unsigned>(b.value(position)),
                         static_cast<unsigned>(b.value(length)));
  const Operand moved = b.shift_right(type, x, position);
  const Operand cut = b.op(Op::min, Type::u32, {length, b.number(64)});
  const Operand unused = b.sub(Type::u32, b.number(64), cut);
  const Operand r = b.shift_right(type, b.shift_left(moved, unused, 8), unused);
  return r;
}

void take_field(Expansion& b) {
  const Inst& inst = b.at();
  const Operand x = b.in_register(inst.src[0]), position = byte_of(b, inst.src[1]),
                length = byte_of(b, inst.src[2]);
  if (ptx::size_of(inst.type) == 4)
    b.give(Op::mov, Type::b32, {field32(b, inst.type, x, position, length)});
  else
    b.give(Op::mov, Type::b64, {field64(b, x, position, length)});
}

// ---- fields put in ----

void put_field32(Expansion& b, const Operand& field, const Operand& into, const Operand& position,
                 const Operand& length) {
  Operand mask, moved = field;
  if (b.known(position) && b.known(length)) {
    const std::uint64_t at = b.value(position), bits = std::min<std::uint64_t>(b.value(length), 32);
    mask = b.number(at >= 32 ? 0 : ((std::uint64_t{1} << bits) - 1) << at);
  } else {
    ptx::Mods m;
    m.wrap = false;
    mask = b.op(Op::bmsk, Type::b32, {position, length}, m);
  }
  if (!b.known(position) || b.value(position) != 0) moved = b.shift_left(field, position);
  ptx::Mods m;
  m.lut = choose_by_mask;
  b.give(Op::lop3, Type::b32, {moved, mask, into}, m);
}

void put_field64(Expansion& b, const Operand& field, const Operand& into, const Operand& position,
                 const Operand& length) {
  Operand mask;
  if (b.known(position) && b.known(length)) {
    const std::uint64_t at = b.value(position), bits = b.value(length);
    const std::uint64_t low = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    mask = b.number(at >= 64 ? 0 : low << at, 8);
  } else {
    const Operand low = b.sub(Type::u64, b.shift_left(b.number(1, 8), length, 8), b.number(1, 8));
    mask = b.shift_left(low, position, 8);
  }
  const Operand moved = b.shift_left(field, position, 8);
  const Operand low = merged(b, b.low(moved), b.low(into), b.low(mask)),
                high = merged(b, b.high(moved), b.high(into), b.high(mask));
  b.give(Op::mov, Type::b64, {low, high});
}

void put_field(Expansion& b) {
  const Inst& inst = b.at();
  const Operand position = byte_of(b, inst.src[2]), length = byte_of(b, inst.src[3]);
  if (ptx::size_of(inst.type) == 4)
    put_field32(b, inst.src[0], inst.src[1], position, length);
  else
    put_field64(b, b.in_register(inst.src[0]), b.in_register(inst.src[1]), position, length);
}

// ---- counts and positions ----

// The word that holds the highest bit, and whether it is the high one.
struct Leading {
  Operand word, is_high;
};
Leading leading(Expansion& b, const Operand& low, const Operand& high) {
  const Operand is_high = is_set(b, high);
  return {b.select(Type::b32, high, low, is_high), is_high};
}

// bfind gives -1 of 0.
void count_zeros(Expansion& b) {
  const Inst& inst = b.at();
  const Operand x = b.in_register(inst.src[0]);
  if (ptx::size_of(inst.type) == 4) return b.give(Op::sub, Type::u32, {b.number(31), bfind(b, x)});
  const Leading found = leading(b, b.low(x), b.high(x));
  const Operand most = b.select(Type::b32, b.number(31), b.number(63), found.is_high);
  b.give(Op::sub, Type::u32, {most, bfind(b, found.word)});
}

void find_leading64(Expansion& b) {
  const Inst& inst = b.at();
  const Operand x = b.in_register(inst.src[0]);
  Operand low = b.low(x), high = b.high(x);
  if (inst.type == Type::s64) {
    const Operand sign = b.shift_right(Type::s32, high, b.number(31));
    low = b.logic(Op::xor_, low, sign);
    high = b.logic(Op::xor_, high, sign);
  }
  const Leading found = leading(b, low, high);
  const Operand out = b.result();
  ptx::Mods m;
  m.shift_amount = inst.mods.shift_amount;
  b.to(out, Op::bfind, Type::u32, {found.word}, m);
  Operand more = found.is_high;
  if (inst.mods.shift_amount)
    more =
        b.compare(Compare::ne, Type::b32, low, b.number(0), BoolOp::and_, Expansion::inverse(found.is_high));
  b.to_if(more, out, Op::add, Type::u32, {out, b.number(32)});
  b.finish(out);
}

void count_ones64(Expansion& b) {
  const Operand x = b.in_register(b.at().src[0]);
  b.give(Op::add, Type::u32, {b.op(Op::popc, Type::b32, {b.low(x)}), b.op(Op::popc, Type::b32, {b.high(x)})});
}

void reverse64(Expansion& b) {
  const Operand x = b.in_register(b.at().src[0]);
  b.give(Op::mov, Type::b64, {b.op(Op::brev, Type::b32, {b.high(x)}), b.op(Op::brev, Type::b32, {b.low(x)})});
}

// The n-th set bit from a base on, up or (n below 0) down: bits are dropped one by one. Down is up in the
// mirror.
void find_nth(Expansion& b) {
  const Inst& inst = b.at();
  const Operand mask = b.in_register(inst.src[0]), base = b.in_register(inst.src[1]),
                n = b.in_register(inst.src[2]);
  const Operand zero = b.number(0), ones = b.number(0xffffffffu);
  const Operand out = b.result();
  const Operand down = b.compare(Compare::lt, Type::s32, n, zero),
                none = b.compare(Compare::eq, Type::s32, n, zero);
  const Operand mirrored = b.select(Type::b32, b.op(Op::brev, Type::b32, {mask}), mask, down);
  const Operand from = b.select(Type::b32, b.sub(Type::u32, b.number(31), base), base, down);
  const Operand above = b.shift_left(ones, from);
  // With n = 0 the bit at the base alone counts.
  const Operand here = b.logic(Op::and_, b.shift_left(b.number(1), from), above);
  const Operand inside = b.compare(Compare::lo, Type::u32, base, b.number(32));
  const Operand range = b.select(Type::b32, b.select(Type::b32, here, above, none), zero, inside);
  const Operand left = b.logic(Op::and_, mirrored, range);
  const Operand count = b.op(Op::max, Type::u32, {b.op(Op::abs, Type::s32, {n}), b.number(1)});
  const auto again = b.label(), done = b.label();
  b.bind(again);
  b.branch_if(b.compare(Compare::ls, Type::u32, count, b.number(1)), done);
  b.to(left, Op::and_, Type::b32, {left, b.add(Type::u32, left, ones)});
  b.to(count, Op::sub, Type::u32, {count, b.number(1)});
  b.branch_if(is_set(b, left), again);
  b.bind(done);
  const Operand lowest = b.logic(Op::and_, left, b.sub(Type::u32, zero, left));
  const Operand position = bfind(b, lowest);
  const Operand back = b.select(Type::b32, b.sub(Type::u32, b.number(31), position), position, down);
  b.to(out, Op::selp, Type::b32, {back, ones, is_set(b, left)});
  b.finish(out);
}

}  // namespace

bool expand_bits(Expansion& b) {
  const Inst& inst = b.at();
  const bool wide = ptx::size_of(inst.type) == 8;
  switch (inst.op) {
    case Op::bfe: take_field(b); return true;
    case Op::bfi: put_field(b); return true;
    case Op::clz: count_zeros(b); return true;
    case Op::fns: find_nth(b); return true;
    case Op::bfind:
      if (!wide) return false;
      find_leading64(b);
      return true;
    case Op::popc:
      if (!wide) return false;
      count_ones64(b);
      return true;
    case Op::brev:
      if (!wide) return false;
      reverse64(b);
      return true;
    default: return false;
  }
}

}  // namespace simtlab::assembler
