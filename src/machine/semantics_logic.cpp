// Logic, shifts, bits, moves, predicates.
#include "machine/logic_table.h"
#include "machine/semantics_common.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

// Whether a table over three inputs depends on one of them.
bool reads_input(unsigned table, unsigned input) {
  return with_constant(table, input, false) != with_constant(table, input, true);
}

// What a table over at most two inputs comes to.
struct ReducedTable {
  unsigned count = 0;  // inputs that it reads
  unsigned first = 0, second = 0;
  unsigned table = 0;  // 4 bits, index first << 1 | second; of one input 2 bits; of none 1 bit
};
ReducedTable reduced_table(unsigned table) {
  ReducedTable out;
  unsigned inputs[3];
  for (unsigned i = 0; i < 3; ++i)
    if (reads_input(table, i)) inputs[out.count++] = i;
  if (out.count > 2) return out;
  if (out.count > 0) out.first = inputs[0];
  if (out.count > 1) out.second = inputs[1];
  const unsigned entries = 1u << out.count;
  for (unsigned k = 0; k < entries; ++k) {
    unsigned index = 0;
    if (out.count == 1) index = k << (2 - out.first);
    if (out.count == 2) index = (k >> 1) << (2 - out.first) | (k & 1u) << (2 - out.second);
    out.table |= (table >> index & 1u) << k;
  }
  return out;
}

// d = table(a, b, c) by one operation of two operands; false: it takes all three.
bool emit_simple_logic(Translator& t, const ptx::Operand& d, unsigned table,
                       const ptx::Operand (&sources)[3]) {
  const ReducedTable pair = reduced_table(table);
  const ptx::Operand &first = sources[pair.first], &second = sources[pair.second];
  if (pair.count == 0) {
    t.emit(Op::mov, Type::b32, {d}, {t.number(pair.table == 0 ? 0 : 0xffffffffu)});
  } else if (pair.count == 1) {
    t.emit(pair.table == 2 ? Op::mov : Op::not_, Type::b32, {d}, {first});
  } else if (pair.count == 2 && (pair.table == 8 || pair.table == 14 || pair.table == 6)) {
    t.emit(pair.table == 8    ? Op::and_
           : pair.table == 14 ? Op::or_
                              : Op::xor_,
           Type::b32, {d}, {first, second});
  } else {
    return false;
  }
  return true;
}

// LOP3: a table over the bits of three registers; Pd: the result is not 0, or Pc (.PAND: and Pc)
void bitwise_logic(Translator& t) {
  auto table = static_cast<unsigned>(t.operand("lut").value);
  ptx::Operand sources[3];
  for (unsigned i = 0; i < 3; ++i) {
    const Operand& o = t.source(i);
    sources[i] = t.raw(o);
    if (is_zero(o)) table = with_constant(table, i, false);
    if (o.kind == OperandKind::immediate && static_cast<std::uint32_t>(o.value) == 0xffffffffu)
      table = with_constant(table, i, true);
  }
  const ptx::Operand d = t.result(destination(t));
  const Operand* const p = predicate_named(t, "Pd");
  if (!is_wanted(p) && emit_simple_logic(t, d, table, sources)) return;
  ptx::Inst& inst = t.emit(Op::lop3, Type::b32, {d}, {sources[0], sources[1], sources[2]});
  inst.mods.lut = static_cast<std::uint8_t>(table);
  if (!is_wanted(p)) return;
  inst.dst[inst.dst_count++] = predicate_result(t, p);
  const Operand& other = *predicate_named(t, "Pc");
  const bool conjunction = t.field("pand") != 0;
  if (conjunction ? t.is_true(other) : t.is_false(other)) return;
  inst.mods.bool_op = conjunction ? ptx::BoolOp::and_ : ptx::BoolOp::or_;
  inst.src[inst.src_count++] = t.predicate(other);
}

// PLOP3: two tables over three predicates
void predicate_logic(Translator& t) {
  Operand third = *predicate_named(t, "Pc");
  if (t.field("pc_uniform") != 0) third.kind = OperandKind::upred;
  const Operand inputs[3] = {*predicate_named(t, "Pa"), *predicate_named(t, "Pb"), third};
  const auto table = static_cast<unsigned>(t.operand("lut").value),
             second = static_cast<unsigned>(t.operand("lut1").value);
  const Operand *const p = predicate_named(t, "Pd"), *const q = predicate_named(t, "Pd2");
  ptx::Operand sources[3];
  unsigned reduced = table;
  for (unsigned i = 0; i < 3; ++i) {
    sources[i] = t.predicate(inputs[i]);
    if (inputs[i].number == true_predicate) reduced = with_constant(reduced, i, t.is_true(inputs[i]));
  }
  const ReducedTable pair = reduced_table(reduced);
  if (is_wanted(p) && !is_wanted(q) && pair.count == 2 &&
      (pair.table == 8 || pair.table == 14 || pair.table == 6)) {
    t.emit(pair.table == 8    ? Op::and_
           : pair.table == 14 ? Op::or_
                              : Op::xor_,
           Type::pred, {predicate_result(t, p)}, {sources[pair.first], sources[pair.second]});
    return;
  }
  t.emit(Op::plop3, Type::pred, {predicate_result(t, p), predicate_result(t, q)},
         {sources[0], sources[1], sources[2]})
      .mods.video = table | second << 8;
}

// PLOP3 of signs: the same tables over whether three registers are negative
void sign_logic(Translator& t) {
  ptx::Operand negative[3];
  for (unsigned i = 0; i < 3; ++i) {
    const ptx::Operand value = t.raw(t.source(i));
    negative[i] = t.temporary_predicate();
    t.emit(Op::setp, Type::s32, {negative[i]}, {value, t.number(0)}).mods.compare = ptx::Compare::lt;
  }
  t.emit(Op::plop3, Type::pred,
         {predicate_result(t, predicate_named(t, "Pd")), predicate_result(t, predicate_named(t, "Pd2"))},
         {negative[0], negative[1], negative[2]})
      .mods.video = static_cast<std::uint32_t>(t.operand("lut").value | t.operand("lut1").value << 8);
}

// How a shift reads its fields.
struct ShiftForm {
  bool wide, is_signed, left, wrap, upper;
  explicit ShiftForm(const Translator& t)
      : wide(t.field("type") < 2),
        is_signed(t.field("type") % 2 == 0),
        left(t.field("dir") == 0),
        wrap(t.field("w") != 0),
        upper(t.field("hi") != 0) {}
  std::uint32_t bits() const { return wide ? 64 : 32; }
  Type word() const { return is_signed ? Type::s32 : Type::u32; }
};

// By an amount that is known.
void shift_by(Translator& t, const ShiftForm& s, std::uint32_t n) {
  const Operand &low = t.source(0), &high = t.source(2);
  n = s.wrap ? n & (s.bits() - 1) : n < s.bits() ? n : s.bits();
  const ptx::Operand d = t.result(destination(t));
  const auto one = [&](Op op, Type type, const Operand& of, std::uint32_t by) {
    if (by == 0)
      t.emit(Op::mov, Type::b32, {d}, {t.raw(of)});
    else
      t.emit(op, type, {d}, {t.raw(of), t.number(by)});
  };
  if (s.left && !s.upper) return one(Op::shl, Type::b32, low, n);
  if (!s.left && s.upper) return one(Op::shr, s.word(), high, n);
  if (s.left && n >= 32) return one(Op::shl, Type::b32, low, n - 32);
  if (s.left && is_zero(low)) return one(Op::shl, Type::b32, high, n);
  if (!s.left && n >= 32) return one(Op::shr, s.word(), high, n - 32);
  if (!s.left && is_zero(high)) return one(Op::shr, Type::u32, low, n);
  if (n == 0) return one(Op::mov, Type::b32, s.left ? high : low, n);
  // The low word of high:low >> n is the high word of high:low << (32 - n).
  t.emit(Op::lea, Type::b32, {d}, {t.raw(low), t.number(0), t.raw(high)}).mods.video =
      (s.left ? n : 32 - n) | ptx::lea_high;
}

// SHF: a word of the pair high:low, shifted. An amount beyond the width counts as the width, with .W its low
// bits count.
void funnel_shift(Translator& t) {
  const Operand &low = t.source(0), &by = t.source(1), &high = t.source(2);
  const ShiftForm s(t);
  if (is_zero(by) || by.kind == OperandKind::immediate)
    return shift_by(t, s, static_cast<std::uint32_t>(by.value));
  const ptx::Operand d = t.result(destination(t));
  ptx::Operand amount = t.raw(by);
  // One register is shifted
  const bool only_low = s.left ? !s.upper : !s.upper && is_zero(high);
  const bool only_high = s.left ? s.upper && is_zero(low) : s.upper;
  if (only_low || only_high) {
    if (s.wrap) {
      const ptx::Operand wrapped = t.temporary();
      t.emit(Op::and_, Type::b32, {wrapped}, {amount, t.number(s.bits() - 1)});
      amount = wrapped;
    }
    const Type right = only_low ? Type::u32 : s.word();
    t.emit(s.left ? Op::shl : Op::shr, s.left ? Type::b32 : right, {d},
           {t.raw(only_low ? low : high), amount});
    return;
  }
  // Left: the high word, right: the low one. PTX has it with 32 bits
  const ptx::Operand l = t.raw(low), h = t.raw(high);
  ptx::Inst& inst = s.wide ? t.emit(Op::shf_wide, s.is_signed ? Type::s64 : Type::u64, {d}, {l, amount, h})
                           : t.emit(Op::shf, Type::b32, {d}, {l, h, amount});
  inst.mods.left = s.left;
  inst.mods.wrap = s.wrap;
  if (s.wide) inst.mods.video = s.upper ? 1 : 0;
}

// PRMT: bytes of high:low, as prmt
void permute_bytes(Translator& t) {
  constexpr ptx::PrmtMode modes[] = {ptx::PrmtMode::none, ptx::PrmtMode::f4e, ptx::PrmtMode::b4e,
                                     ptx::PrmtMode::rc8,  ptx::PrmtMode::ecl, ptx::PrmtMode::ecr,
                                     ptx::PrmtMode::rc16};
  const ptx::Operand low = t.raw(t.source(0)), selector = t.raw(t.source(1)), high = t.raw(t.source(2));
  ptx::Mods& mods = t.emit(Op::prmt, Type::b32, {t.result(destination(t))}, {low, high, selector}).mods;
  mods.prmt = modes[t.field("mode")];
  const Operand& by = t.source(1);
  if (mods.prmt == ptx::PrmtMode::none && (is_zero(by) || by.kind == OperandKind::immediate))
    mods.video = ptx::prmt_known | (static_cast<std::uint32_t>(by.value) & 0xffffu);
}

void select_integer(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1));
  t.emit(Op::selp, Type::b32, {t.result(destination(t))}, {a, b, t.predicate(*predicate_named(t, "Pc"))});
}

// A source of one of the instructions that can take its complement.
ptx::Operand perhaps_inverted(Translator& t) {
  const ptx::Operand value = t.raw(t.source(0));
  if (t.field("inv") == 0) return value;
  const ptx::Operand out = t.temporary();
  t.emit(Op::not_, Type::b32, {out}, {value});
  return out;
}

void count_ones(Translator& t) {
  const ptx::Operand value = perhaps_inverted(t);
  t.emit(Op::popc, Type::b32, {t.result(destination(t))}, {value});
}

// FLO: as bfind
void find_leading_one(Translator& t) {
  if (is_wanted(predicate_named(t, "Pd"))) t.refuse("says whether it found a bit, which is not executed yet");
  const ptx::Operand value = perhaps_inverted(t);
  t.emit(Op::bfind, t.field("u32") != 0 ? Type::s32 : Type::u32, {t.result(destination(t))}, {value})
      .mods.shift_amount = t.field("sh") != 0;
}

void reverse_bits(Translator& t) {
  t.emit(Op::brev, Type::b32, {t.result(destination(t))}, {t.raw(t.source(0))});
}

// BMSK, SGXT: as bmsk, szext
void make_mask(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1));
  t.emit(Op::bmsk, Type::b32, {t.result(destination(t))}, {a, b}).mods.wrap = t.field("w") != 0;
}
void extend_field(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1));
  t.emit(Op::szext, t.field("u32") != 0 ? Type::s32 : Type::u32, {t.result(destination(t))}, {a, b})
      .mods.wrap = t.field("w") != 0;
}

void move_register(Translator& t) {
  if (t.has("quadmask") && t.operand("quadmask").value != 15)
    t.refuse("moves in some lanes of a quad, which is not executed yet");
  t.emit(Op::mov, Type::b32, {t.result(destination(t))}, {t.raw(t.source(0))});
}

// The mask is the register or immediate behind Ra; b: which byte of the register
std::uint32_t predicate_bits(const Translator& t, const Operand& mask, bool uniform) {
  if (mask.kind != OperandKind::immediate) t.refuse("has a mask in a register, which is not executed yet");
  const auto bits = static_cast<std::uint32_t>(mask.value);
  if ((bits & ~0xffu) != 0) t.refuse("names bits that are no predicates");
  return (bits & 0x7fu) | 8 * t.field("b") << ptx::predicates_shift_at |
         (uniform ? Layout::uniform_predicate : 0) << ptx::predicates_first_at;
}
// P2R, UP2UR: byte b of a with predicates in the bits of the mask. The eighth one is always true.
void predicates_to_register(Translator& t) {
  ptx::Operand a = t.raw(t.source(0));
  if ((t.source(1).value & 0x80) != 0 && t.source(1).kind == OperandKind::immediate) {
    const ptx::Operand with = t.temporary();
    t.emit(Op::or_, Type::b32, {with}, {a, t.number(0x80u << 8 * t.field("b"))});
    a = with;
  }
  t.emit(Op::p2r, Type::b32, {t.result(destination(t))}, {a}).mods.video =
      predicate_bits(t, t.source(1), t.instruction().form->uniform);
}
// R2P, UR2UP: the predicates of the mask from the bits of byte b of a
void register_to_predicates(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0));
  t.emit(Op::r2p, Type::b32, {}, {a}).mods.video =
      predicate_bits(t, t.source(1), t.instruction().form->uniform);
}

// R2UR: the value of the lowest active lane. Pd: the lane has another value; with .OR, or Pd was true before.
// Inferred from compiled code: it goes around a loop until every lane's value had its turn.
void register_to_uniform(Translator& t) {
  if (t.field("b85") != 0) t.refuse("has modifiers that are not known");
  const ptx::Operand value = t.raw(t.operand("Ra"));
  if (t.operand("URd").number != zero_uniform) t.emit(Op::broadcast, Type::b32, {t.result("URd")}, {value});
  if (t.operand("Pd").number == true_predicate) return;
  const ptx::Operand first = t.temporary();
  t.emit(Op::broadcast, Type::b32, {first}, {value});
  const ptx::Operand result = t.predicate_result("Pd");
  const ptx::Operand differs = t.field("or") != 0 ? t.temporary_predicate() : result;
  t.emit(Op::setp, Type::u32, {differs}, {value, first}).mods.compare = ptx::Compare::ne;
  if (t.field("or") != 0) t.emit(Op::or_, Type::pred, {result}, {result, differs});
}

}  // namespace

std::span<const SemanticsRow> logic_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"LOP3", bitwise_logic},
      {"ULOP3", bitwise_logic},
      {"PLOP3", predicate_logic},
      {"UPLOP3", predicate_logic},
      {"PLOP3.SIGN", sign_logic},
      {"UPLOP3.SIGN", sign_logic},
      {"SHF", funnel_shift},
      {"USHF", funnel_shift},
      {"PRMT", permute_bytes},
      {"UPRMT", permute_bytes},
      {"SEL", select_integer},
      {"USEL", select_integer},
      {"POPC", count_ones},
      {"UPOPC", count_ones},
      {"FLO", find_leading_one},
      {"UFLO", find_leading_one},
      {"BREV", reverse_bits},
      {"UBREV", reverse_bits},
      {"BMSK", make_mask},
      {"UBMSK", make_mask},
      {"SGXT", extend_field},
      {"USGXT", extend_field},
      {"MOV", move_register},
      {"UMOV", move_register},
      {"P2R", predicates_to_register},
      {"UP2UR", predicates_to_register},
      {"R2P", register_to_predicates},
      {"UR2UP", register_to_predicates},
      {"R2UR", register_to_uniform},
  };
  return rows;
}

}  // namespace simtlab::machine
