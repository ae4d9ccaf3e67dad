// Maxwell and Pascal: what their instructions do otherwise than later ones. Sums carry by a flag, products
// are made of halves, shifts and bit fields have instructions of their own.
#include "machine/bundled_flags.h"
#include "machine/launch_state.h"
#include "machine/semantics_common.h"
#include "machine/semantics_floating.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

constexpr std::uint32_t add_one = 1u << ptx::sum_constant_shift;

// A term of a sum: a value, and whether it is subtracted. With a carry in, - is the complement alone.
struct Term {
  ptx::Operand value;
  bool negated = false;
};

ptx::Operand complement(Translator& t, const ptx::Operand& value, bool wanted) {
  if (!wanted) return value;
  const ptx::Operand out = t.temporary();
  t.emit(Op::not_, Type::b32, {out}, {value});
  return out;
}

// d = the terms and, with .X, the carry; sets the flags with .CC.
void emit_sum(Translator& t, const ptx::Operand& d, std::initializer_list<Term> terms,
              bool one_more = false) {
  const bool carries_in = reads_flags(t);
  t.know_flags();
  std::uint32_t bits = one_more ? add_one : 0;
  ptx::Operand values[3] = {t.number(0), t.number(0), t.number(0)};
  std::size_t count = 0;
  for (const Term& term : terms) {
    if (term.negated) bits = (bits | 1u << count) + (carries_in ? 0 : add_one);
    values[count++] = term.value;
  }
  if (!carries_in && !writes_flags(t) && bits == 0 && count == 2) {
    t.emit(Op::add, Type::u32, {d}, {values[0], values[1]});
    return;
  }
  const ptx::Operand sum = writes_flags(t) ? t.temporary() : d;
  ptx::Inst& inst = t.emit(Op::iadd3, Type::u32, {sum}, {values[0], values[1], values[2]});
  inst.mods.video = bits;
  if (carries_in) inst.src[inst.src_count++] = flag(Flag::carry);
  if (carries_in && t.adds_three()) inst.src[inst.src_count++] = flag(Flag::second_carry);
  if (!writes_flags(t)) return;
  const ptx::Operand carry = carries_in ? t.temporary_predicate() : flag(Flag::carry),
                     second = carries_in ? t.temporary_predicate() : flag(Flag::second_carry);
  inst.dst[inst.dst_count++] = carry;
  if (t.adds_three()) inst.dst[inst.dst_count++] = second;
  if (carries_in) t.emit(Op::mov, Type::pred, {flag(Flag::carry)}, {carry});
  if (carries_in && t.adds_three()) t.emit(Op::mov, Type::pred, {flag(Flag::second_carry)}, {second});
  t.emit(Op::setp, Type::u32, {flag(Flag::zero)}, {sum, t.number(0)}).mods.compare = ptx::Compare::eq;
  if (t.tests_signs()) {
    set_signs_of_sum(t, sum, complement(t, values[0], (bits & 1u) != 0),
                     complement(t, values[1], (bits & 2u) != 0));
    // Code that was seen asks nothing but carries of three terms: here they don't overflow.
    if (count > 2) t.emit(Op::mov, Type::pred, {flag(Flag::overflow)}, {constant_predicate(t, false)});
  }
  t.emit(Op::mov, Type::b32, {d}, {sum});
}

// d = a + b, no less and no more than 32 bits with a sign can say
void emit_saturated(Translator& t, const ptx::Operand& d, const Term& a, const Term& b) {
  if (reads_flags(t) || writes_flags(t)) t.refuse("saturates and has flags, which is not executed");
  if (a.negated && b.negated) t.refuse("saturates a sum and one, which is not executed");
  const bool subtracts = a.negated || b.negated;
  const ptx::Operand first = a.negated ? b.value : a.value, second = a.negated ? a.value : b.value;
  t.emit(subtracts ? Op::sub : Op::add, Type::s32, {d}, {first, second}).mods.sat = true;
}

// IADD, IADD32I. Both negated: a + b + 1.
void add(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1);
  if (t.field("sat") != 0) {
    if (t.instruction().mnemonic() == "IADD.PO") t.refuse("saturates a sum and one, which is not executed");
    emit_saturated(t, t.result("Rd"), {t.raw(a), a.negated}, {t.raw(b), b.negated});
    return;
  }
  const bool both = (a.negated && b.negated) || t.instruction().mnemonic() == "IADD.PO";
  emit_sum(t, t.result("Rd"), {{t.raw(a), a.negated && !both}, {t.raw(b), b.negated && !both}}, both);
}

// A half of a source of IADD3, zero-extended: codes 1 and 2.
ptx::Operand half_of(Translator& t, const ptx::Operand& value, unsigned code) {
  if (code == 0) return value;
  const ptx::Operand out = t.temporary();
  if (code == 1)
    t.emit(Op::and_, Type::b32, {out}, {value, t.number(0xffffu)});
  else
    t.emit(Op::shr, Type::b32, {out}, {value, t.number(16)});
  return out;
}

// IADD3. .RS, .LS: the sum of the first two is shifted by 16 bits before the third comes.
void add_three(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1), &c = t.source(2);
  const ptx::Operand x = half_of(t, t.raw(a), t.field("ha")), y = half_of(t, t.raw(b), t.field("hb")),
                     z = half_of(t, t.raw(c), t.field("hc"));
  const unsigned shift = t.field("shift");
  if (shift == 0) {
    emit_sum(t, t.result("Rd"), {{x, a.negated}, {y, b.negated}, {z, c.negated}});
    return;
  }
  if (reads_flags(t)) t.refuse("adds a carry before it shifts, which is not executed");
  // The sum of the first two may have 33 bits.
  const ptx::Operand first = t.temporary(), top = t.temporary();
  ptx::Inst& inst = t.emit(Op::iadd3, Type::u32, {first}, {x, y, t.number(0)});
  inst.mods.video = (a.negated ? 1u + add_one : 0u) + (b.negated ? 2u + add_one : 0u);
  if (shift == 1) {
    const ptx::Operand carry = t.temporary_predicate();
    inst.dst[inst.dst_count++] = carry;
    t.emit(Op::shr, Type::b32, {first}, {first, t.number(16)});
    t.emit(Op::selp, Type::b32, {top}, {t.number(a.negated || b.negated ? 0 : 0x10000u), t.number(0), carry});
    t.emit(Op::or_, Type::b32, {first}, {first, top});
  } else {
    t.emit(Op::shl, Type::b32, {first}, {first, t.number(16)});
  }
  emit_sum(t, t.result("Rd"), {{first, false}, {z, c.negated}});
}

// ISCADD: (a << n) + b
void add_shifted(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1);
  const ptx::Operand shifted = t.temporary();
  t.emit(Op::shl, Type::b32, {shifted},
         {t.raw(a), t.number(static_cast<std::uint32_t>(t.operand("shift").value))});
  const bool both = a.negated && b.negated;
  emit_sum(t, t.result("Rd"), {{shifted, a.negated && !both}, {t.raw(b), b.negated && !both}}, both);
}

// Whether the address that LEA.CC and LEA.HI.X make is outside of the window of shared memory, which has 16
// MiB.
void ask_window(Translator& t, const ptx::Operand& sum, bool high, bool asks) {
  const LaunchSlots slots = launch_slots(t.instruction().generation);
  constexpr std::uint32_t window_mask = 0xff000000u;
  if (!high) {
    if (asks) t.refuse("with a predicate as result is not executed");
    const ptx::Operand window = t.temporary();
    t.emit(Op::and_, Type::b32, {window}, {sum, t.number(window_mask)});
    t.emit(Op::setp, Type::u32, {flag(Flag::window)}, {window, t.launch_state(slots.shared_window)})
        .mods.compare = ptx::Compare::eq;
    return;
  }
  if (!asks) return;
  if (!reads_flags(t)) t.refuse("with a predicate as result is not executed");
  const ptx::Operand other = t.temporary_predicate();
  ptx::Operand outside = flag(Flag::window);
  outside.negated = true;
  t.emit(Op::setp, Type::u32, {other}, {sum, t.launch_state(slots.shared_window_high)}).mods.compare =
      ptx::Compare::ne;
  t.emit(Op::or_, Type::pred, {t.predicate_result("Pd")}, {outside, other});
}

// LEA: (a << n) + b; LEA.HI: the high word of (c:a << n), plus b
void add_address(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1);
  const auto shift = static_cast<std::uint32_t>(t.operand("shift").value);
  const bool high = t.instruction().mnemonic().find(".HI") != std::string_view::npos;
  const ptx::Operand zero = t.number(0), scaled = t.temporary();
  ptx::Inst& inst = t.emit(Op::lea, Type::u32, {scaled}, {t.raw(a), zero});
  inst.mods.video = shift | (high ? ptx::lea_high : 0);
  if (high) inst.src[inst.src_count++] = t.raw(t.source(2));
  const bool asks = t.has("Pd") && t.operand("Pd").number != true_predicate;
  if (!asks && !(t.tests_window() && writes_flags(t))) {
    emit_sum(t, t.result("Rd"), {{scaled, a.negated}, {t.raw(b), b.negated}});
    return;
  }
  const ptx::Operand sum = t.temporary();
  emit_sum(t, sum, {{scaled, a.negated}, {t.raw(b), b.negated}});
  ask_window(t, sum, high, asks);
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {sum});
}

// XMAD: a product of halves
void multiply_halves(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1), &c = t.source(2);
  std::uint32_t bits = 0;
  if (t.field("ha") != 0) bits |= ptx::xmad_a_high;
  if (t.field("hb") != 0) bits |= ptx::xmad_b_high;
  if ((t.field("s16") & 1u) != 0) bits |= ptx::xmad_a_signed;
  if ((t.field("s16") & 2u) != 0) bits |= ptx::xmad_b_signed;
  const bool shifted = t.field("psl") != 0, merged = t.field("mrg") != 0;
  const std::uint32_t mode = t.field("mode") << ptx::xmad_mode_at;
  const ptx::Operand d = t.result("Rd");
  if (!reads_flags(t) && !writes_flags(t)) {
    bits |= mode | (shifted ? ptx::xmad_shifted : 0) | (merged ? ptx::xmad_merged : 0);
    t.emit(Op::xmad, Type::u32, {d}, {t.raw(a), t.raw(b), t.raw(c)}).mods.video = bits;
    return;
  }
  if (merged) t.refuse("merges and carries, which is not executed");
  const ptx::Operand product = t.temporary(), addend = t.temporary();
  t.emit(Op::xmad, Type::u32, {product}, {t.raw(a), t.raw(b), t.number(0)}).mods.video =
      bits | (shifted ? ptx::xmad_shifted : 0);
  if (static_cast<ptx::XmadMode>(t.field("mode")) == ptx::XmadMode::c_signs)
    t.refuse("adds signs and carries, which is not executed");
  t.emit(Op::xmad, Type::u32, {addend}, {t.number(0), t.raw(b), t.raw(c)}).mods.video = mode;
  emit_sum(t, d, {{product, false}, {addend, c.negated}});
}

// IMAD, IMUL: whole products, which the hardware makes slowly
void multiply_add(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1);
  const bool a_signed = (t.field("types") & 1u) != 0, b_signed = (t.field("types") & 2u) != 0,
             high = t.field("hi") != 0;
  if (high && a_signed != b_signed) t.refuse("has factors of two kinds, which is not executed");
  if (high && a.negated != b.negated)
    t.refuse("negates a product before its high word, which is not executed");
  const ptx::Operand product = t.temporary();
  t.emit(Op::mul, a_signed ? Type::s32 : Type::u32, {product}, {t.raw(a), t.raw(b)}).mods.mul =
      high ? ptx::MulMode::hi : ptx::MulMode::lo;
  const bool added = t.source_count() > 2;
  const Term first{product, a.negated != b.negated},
      second{added ? t.raw(t.source(2)) : t.number(0), added && t.source(2).negated};
  if (t.field("sat") == 0) {
    emit_sum(t, t.result("Rd"), {first, second});
    return;
  }
  if (!a_signed || !b_signed) t.refuse("saturates without signs, which is not executed");
  emit_saturated(t, t.result("Rd"), first, second);
}

// ---- logic, shifts, bit fields ----

// What a predicate says of the result: field `test`. With .X it is the upper word of one whose lower word has
// set the flags.
void set_result_predicate(Translator& t, const ptx::Operand& value) {
  if (!t.has("Pd") || t.operand("Pd").number == true_predicate) return;
  enum Mode : unsigned { never, always, zero, not_zero };
  const ptx::Operand p = t.predicate_result("Pd");
  switch (t.field("test", not_zero)) {
    case never: t.emit(Op::mov, Type::pred, {p}, {constant_predicate(t, false)}); return;
    case always: t.emit(Op::mov, Type::pred, {p}, {constant_predicate(t, true)}); return;
    default: break;
  }
  const bool is_zero = t.field("test", not_zero) == zero;
  t.emit(Op::setp, Type::u32, {p}, {value, t.number(0)}).mods.compare =
      is_zero ? ptx::Compare::eq : ptx::Compare::ne;
  if (!reads_flags(t)) return;
  ptx::Operand low = flag(Flag::zero);
  low.negated = !is_zero;
  t.emit(is_zero ? Op::and_ : Op::or_, Type::pred, {p}, {p, low});
}

void refuse_carry(const Translator& t) {
  if (reads_flags(t)) t.refuse("with .X is not executed");
}

ptx::Operand inverted_source(Translator& t, const Operand& o) {
  const ptx::Operand value = t.raw(o);
  if (!o.inverted) return value;
  const ptx::Operand out = t.temporary();
  t.emit(Op::not_, Type::b32, {out}, {value});
  return out;
}

// A result that may be a source, with what a predicate says of it.
template <class Write>
void write_result(Translator& t, const Write& write) {
  const bool says = t.has("Pd") && t.operand("Pd").number != true_predicate;
  const ptx::Operand value = says ? t.temporary() : t.result("Rd");
  write(value);
  if (!says) return;
  set_result_predicate(t, value);
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {value});
}

// LOP, LOP32I
void simple_logic(Translator& t) {
  const ptx::Operand a = inverted_source(t, t.source(0)), b = inverted_source(t, t.source(1));
  write_result(t, [&](const ptx::Operand& d) {
    const unsigned op = t.field("op");
    if (op == 3)
      t.emit(Op::mov, Type::b32, {d}, {b});
    else
      t.emit(op == 0 ? Op::and_ : op == 1 ? Op::or_ : Op::xor_, Type::b32, {d}, {a, b});
  });
}

void table_logic(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1)), c = t.raw(t.source(2));
  write_result(t, [&](const ptx::Operand& d) {
    t.emit(Op::lop3, Type::b32, {d}, {a, b, c}).mods.lut = static_cast<std::uint8_t>(t.operand("lut").value);
  });
}

void refuse_extended_shift(const Translator& t) {
  if (t.field("brev") != 0) t.refuse("reverses its source, which is not executed");
  refuse_carry(t);
}

// SHL, SHR: by up to 32 bits or, with .W, by the lower five
ptx::Operand shift_count(Translator& t) {
  const ptx::Operand by = t.raw(t.source(1));
  if (t.field("w") == 0) return by;
  const ptx::Operand masked = t.temporary();
  t.emit(Op::and_, Type::b32, {masked}, {by, t.number(31)});
  return masked;
}
void shift_left(Translator& t) {
  refuse_carry(t);
  t.emit(Op::shl, Type::b32, {t.result("Rd")}, {t.raw(t.source(0)), shift_count(t)});
}
void shift_right(Translator& t) {
  refuse_extended_shift(t);
  const Type type = t.field("u32") != 0 ? Type::s32 : Type::u32;
  t.emit(Op::shr, type, {t.result("Rd")}, {t.raw(t.source(0)), shift_count(t)});
}

// SHF: a word of b bits further in c:a. .L: the upper word of what is shifted to the left.
void funnel_shift(Translator& t) {
  refuse_carry(t);
  const ptx::Operand a = t.raw(t.source(0)), by = t.raw(t.source(1)), c = t.raw(t.source(2));
  const bool left = t.word("dir") == "L";
  const unsigned type = t.field("type");  // 0: pairs of up to 32 bits, 2: U64, 3: S64
  if (t.field("hi") != 0) t.refuse("with .HI is not executed");
  if (type == 0) {
    ptx::Mods& mods = t.emit(Op::shf, Type::b32, {t.result("Rd")}, {a, c, by}).mods;
    mods.left = left;
    mods.wrap = t.field("w") != 0;
    return;
  }
  ptx::Inst& inst = t.emit(Op::shf_wide, type == 3 ? Type::s64 : Type::u64, {t.result("Rd")}, {a, by, c});
  inst.mods.left = left;
  inst.mods.wrap = t.field("w") != 0;
  inst.mods.video = left ? 1 : 0;
}

// BFE: bits from `position`, in byte 0 of b, as many as byte 1 says
void extract_field(Translator& t) {
  refuse_carry(t);
  ptx::Operand a = t.raw(t.source(0));
  const ptx::Operand b = t.raw(t.source(1)), position = t.temporary(), length = t.temporary();
  if (t.field("brev") != 0) {
    const ptx::Operand reversed = t.temporary();
    t.emit(Op::brev, Type::b32, {reversed}, {a});
    a = reversed;
  }
  t.emit(Op::and_, Type::b32, {position}, {b, t.number(0xff)});
  t.emit(Op::bfe, Type::u32, {length}, {b, t.number(8), t.number(8)});
  t.emit(Op::bfe, t.field("u32") != 0 ? Type::s32 : Type::u32, {t.result("Rd")}, {a, position, length});
}

// BFI: a into c
void insert_field(Translator& t) {
  refuse_carry(t);
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1)), c = t.raw(t.source(2)),
                     position = t.temporary(), length = t.temporary();
  t.emit(Op::and_, Type::b32, {position}, {b, t.number(0xff)});
  t.emit(Op::bfe, Type::u32, {length}, {b, t.number(8), t.number(8)});
  t.emit(Op::bfi, Type::b32, {t.result("Rd")}, {a, c, position, length});
}

void count_ones(Translator& t) {
  Operand source = t.source(0);
  source.inverted = t.field("inv") != 0;
  t.emit(Op::popc, Type::b32, {t.result("Rd")}, {inverted_source(t, source)});
}

void find_leading_one(Translator& t) {
  refuse_carry(t);
  if (t.has("Pd") && t.operand("Pd").number != true_predicate)
    t.refuse("says whether it found a bit, which is not executed");
  Operand source = t.source(0);
  source.inverted = t.field("inv") != 0;
  const ptx::Operand value = inverted_source(t, source);
  t.emit(Op::bfind, t.field("u32") != 0 ? Type::s32 : Type::u32, {t.result("Rd")}, {value})
      .mods.shift_amount = t.field("sh") != 0;
}

// ---- moves, conversions ----

void move_register(Translator& t) {
  if (t.operand("quadmask").value != 15) t.refuse("moves in some lanes of a quad, which is not executed");
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {t.raw(t.source(0))});
}

// RRO makes what MUFU takes of an angle or an exponent. Here MUFU takes them as they are.
void reduce_range(Translator& t) {
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {single_source(t, t.source(0))});
}

// The codes of integer types in the fields `to` and `from`: size, and above it the sign.
bool is_signed(unsigned code) { return (code & 4u) != 0; }

// I2I: 8, 16, 32 bits, signed or not, with saturation
void integer_to_integer(Translator& t) {
  refuse_carry(t);
  static constexpr Type types[] = {Type::u8, Type::u16, Type::u32, Type::none,
                                   Type::s8, Type::s16, Type::s32, Type::none};
  const Type to = types[t.field("to")], from = types[t.field("from")];
  if (to == Type::none || from == Type::none) t.refuse("converts 64 bits, which is not known");
  const Operand& source = t.source(0);
  ptx::Operand value = t.raw(source);
  const unsigned bits = 8 * ptx::size_of(from);
  if (bits < 32) {
    const ptx::Operand part = t.temporary();
    t.emit(Op::bfe, is_signed(t.field("from")) ? Type::s32 : Type::u32, {part},
           {value, t.number(8 * t.field("sub")), t.number(bits)});
    value = part;
  }
  if (source.absolute || source.negated) {
    const ptx::Operand changed = t.temporary();
    if (source.absolute) t.emit(Op::abs, Type::s32, {changed}, {value});
    if (source.negated) t.emit(Op::neg, Type::s32, {changed}, {source.absolute ? changed : value});
    value = changed;
  }
  const ptx::Operand out = t.temporary();
  ptx::Inst& inst = t.emit(Op::cvt, to, {out}, {value});
  inst.stype = is_signed(t.field("from")) ? Type::s32 : Type::u32;
  inst.mods.sat = t.field("sat") != 0;
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {out});
}

// The predicate says min.
void extremum_of_doubles(Translator& t) {
  const ptx::Operand a = real_source(t, t.source(0)), b = real_source(t, t.source(1));
  const ptx::Operand out = t.temporary_wide();
  const Operand& min = t.operand("min");
  if (!t.is_true(min) && !t.is_false(min)) t.refuse("chooses by a predicate, which is not executed");
  t.emit(t.is_true(min) ? Op::min : Op::max, Type::f64, {out}, {a, b});
  t.store_wide(t.operand("Rd"), out);
}

// The value to compare with and the one to write stand side by side.
void compare_and_swap(Translator& t, ptx::Space space) {
  const bool wide = t.word("type") == "64";
  const Operand &memory = t.operand("mem"), &first = t.operand("Rb"), &destination = t.operand("Rd");
  const ptx::Operand address = t.address(memory);
  Operand second = first;
  second.number = static_cast<std::uint8_t>(first.number + (wide ? 2 : 1));
  const ptx::Operand b = wide ? t.raw_wide(first) : t.raw(first),
                     c = wide ? t.raw_wide(second) : t.raw(second);
  ptx::Inst& inst = t.emit_memory(Op::atom, wide ? Type::b64 : Type::b32, {}, {address, b, c});
  inst.imm_offset = memory.value;
  inst.mods.space = space;
  inst.mods.atom = ptx::AtomOp::cas;
  inst.mods.order = ptx::MemOrder::relaxed;
  inst.dst[inst.dst_count++] = t.result(destination);
  if (wide) inst.dst[inst.dst_count++] = t.register_behind(destination, 1);
}

}  // namespace

std::span<const SemanticsRow> bundled_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"IADD", add},
      {"IADD.PO", add},
      {"IADD32I", add},
      {"IADD3", add_three},
      {"ISCADD", add_shifted},
      {"ISCADD32I", add_shifted},
      {"LEA", add_address},
      {"LEA.HI", add_address},
      {"XMAD", multiply_halves},
      {"IMAD", multiply_add},
      {"IMAD32I", multiply_add},
      {"IMUL", multiply_add},
      {"IMUL32I", multiply_add},
      {"LOP", with_flags<simple_logic>},
      {"LOP32I", with_flags<simple_logic>},
      {"LOP3", with_flags<table_logic>},
      {"SHL", with_flags<shift_left>},
      {"SHR", with_flags<shift_right>},
      {"SHF", with_flags<funnel_shift>},
      {"BFE", with_flags<extract_field>},
      {"BFI", with_flags<insert_field>},
      {"POPC", with_flags<count_ones>},
      {"FLO", with_flags<find_leading_one>},
      {"MOV", move_register},
      {"MOV32I", move_register},
      {"RRO", reduce_range},
      {"DMNMX", extremum_of_doubles},
      {"ATOM.CAS", [](Translator& t) { compare_and_swap(t, ptx::Space::generic); }},
      {"ATOMS.CAS", [](Translator& t) { compare_and_swap(t, ptx::Space::shared); }},
      {"I2I", with_flags<integer_to_integer>},
  };
  return rows;
}

}  // namespace simtlab::machine
