// Maxwell and Pascal: comparisons, predicates, tests of flags, minima.
#include "machine/bundled_flags.h"
#include "machine/semantics_common.h"
#include "machine/semantics_floating.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

constexpr ptx::Compare integer_compares[] = {ptx::Compare::none, ptx::Compare::lt,  ptx::Compare::eq,
                                             ptx::Compare::le,   ptx::Compare::gt,  ptx::Compare::ne,
                                             ptx::Compare::ge,   ptx::Compare::none};

// The answer to a comparison in a predicate of its own. With .X the flags are those of the difference of the
// low words, and this one is of the high ones.
ptx::Operand compared(Translator& t, const ptx::Operand& a, const ptx::Operand& b) {
  const unsigned code = t.field("cmp");
  const ptx::Operand p = t.temporary_predicate();
  if (integer_compares[code] == ptx::Compare::none) {
    t.emit(Op::mov, Type::pred, {p}, {constant_predicate(t, code == 7)});
    return p;
  }
  const Type type = t.field("u32") != 0 ? Type::s32 : Type::u32;
  if (!reads_flags(t)) {
    t.emit(Op::setp, type, {p}, {a, b}).mods.compare = integer_compares[code];
    return p;
  }
  // Of the low words: less is no carry of the difference, equal is zero.
  ptx::Operand low = flag(Flag::carry);
  const ptx::Operand made = t.temporary_predicate();
  using ptx::Compare;
  switch (integer_compares[code]) {
    case Compare::lt: low.negated = true; break;
    case Compare::ge: break;
    case Compare::eq: low = flag(Flag::zero); break;
    case Compare::ne:
      low = flag(Flag::zero);
      low.negated = true;
      break;
    default: {
      const bool greater = integer_compares[code] == Compare::gt;
      ptx::Operand equal = flag(Flag::zero), less = flag(Flag::carry);
      less.negated = !greater;
      equal.negated = greater;
      t.emit(greater ? Op::and_ : Op::or_, Type::pred, {made}, {less, equal});
      low = made;
    }
  }
  ptx::Inst& inst = t.emit(Op::setp_ex, type, {p}, {a, b});
  inst.mods.compare = integer_compares[code];
  inst.src[inst.src_count++] = low;
  return p;
}

// Pd = value op Pc, Pd2 = !value op Pc
void write_predicates(Translator& t, const ptx::Operand& value, unsigned op, const ptx::Operand& c) {
  const auto table = [&](bool opposite) {
    std::uint32_t out = 0;
    for (unsigned k = 0; k < 8; ++k) {
      const bool v = ((k & 4u) != 0) != opposite, other = (k & 1u) != 0;
      if (op == 0 ? v && other : op == 1 ? v || other : v != other) out |= 1u << k;
    }
    return out;
  };
  t.emit(Op::plop3, Type::pred,
         {predicate_result(t, predicate_named(t, "Pd")), predicate_result(t, predicate_named(t, "Pd2"))},
         {value, c, c})
      .mods.video = table(false) | table(true) << 8;
}

void compare_integers(Translator& t) {
  const Operand &pc = t.operand("Pc"), *const pd2 = predicate_named(t, "Pd2");
  const unsigned op = t.field("bool"), code = t.field("cmp");
  const bool alone = op == 0 ? t.is_true(pc) : t.is_false(pc);
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1));
  if (alone && !is_wanted(pd2) && !reads_flags(t) && integer_compares[code] != ptx::Compare::none) {
    t.emit(Op::setp, t.field("u32") != 0 ? Type::s32 : Type::u32, {t.predicate_result("Pd")}, {a, b})
        .mods.compare = integer_compares[code];
    return;
  }
  write_predicates(t, compared(t, a, b), op, t.predicate(pc));
}

ptx::Operand with_condition(Translator& t, const ptx::Operand& value) {
  const Operand& pc = t.operand("Pc");
  const unsigned op = t.field("bool");
  if (op == 0 ? t.is_true(pc) : t.is_false(pc)) return value;
  const ptx::Operand out = t.temporary_predicate();
  t.emit(op == 0 ? Op::and_ : op == 1 ? Op::or_ : Op::xor_, Type::pred, {out}, {value, t.predicate(pc)});
  return out;
}

// A predicate as a register: all bits, or with .BF 1.0
void write_truth(Translator& t, const ptx::Operand& p) {
  t.emit(Op::selp, Type::b32, {t.result("Rd")},
         {t.number(t.field("bf") != 0 ? 0x3f800000u : 0xffffffffu), t.number(0), p});
}

void set_integer(Translator& t) {
  const ptx::Operand p = compared(t, t.raw(t.source(0)), t.raw(t.source(1)));
  write_truth(t, with_condition(t, p));
}

// ICMP: c compared with 0 chooses a or b
void choose_by_integer(Translator& t) {
  const ptx::Operand p = compared(t, t.raw(t.source(2)), t.number(0));
  t.emit(Op::selp, Type::b32, {t.result("Rd")}, {t.raw(t.source(0)), t.raw(t.source(1)), p});
}

void compare_floats(Translator& t, const Comparison& c, const ptx::Operand& p, const ptx::Operand& a,
                    const ptx::Operand& b) {
  if (c.code == compare_never || c.code == compare_always) {
    t.emit(Op::mov, Type::pred, {p}, {constant_predicate(t, c.code == compare_always)});
    return;
  }
  ptx::Inst& inst = t.emit(Op::setp, c.type, {p}, {a, b});
  inst.mods.compare = comparison(c.code);
  inst.mods.ftz = c.ftz;
}

void choose_by_float(Translator& t) {
  const ptx::Operand p = t.temporary_predicate();
  const Comparison c{.type = Type::f32, .code = t.field("cmp"), .combine = 0, .ftz = t.field("ftz") != 0};
  compare_floats(t, c, p, single_source(t, t.source(2)), t.number(0));
  t.emit(Op::selp, Type::b32, {t.result("Rd")}, {t.raw(t.source(0)), t.raw(t.source(1)), p});
}

void set_by_float(Translator& t, Type type) {
  const bool wide = type == Type::f64;
  const ptx::Operand a = wide ? real_source(t, t.source(0)) : single_source(t, t.source(0)),
                     b = wide ? real_source(t, t.source(1)) : single_source(t, t.source(1));
  const ptx::Operand p = t.temporary_predicate();
  compare_floats(t, {.type = type, .code = t.field("cmp"), .combine = 0, .ftz = t.field("ftz") != 0}, p, a,
                 b);
  write_truth(t, with_condition(t, p));
}

void set_by_single(Translator& t) { set_by_float(t, Type::f32); }
void set_by_double(Translator& t) { set_by_float(t, Type::f64); }

// PSETP: Pd = (Pa op Pb) op2 Pc, Pd2 = !(Pa op Pb) op2 Pc; PSET: the first as a register
std::uint32_t predicate_table(unsigned first, unsigned second, bool opposite) {
  const auto combine = [](unsigned op, bool x, bool y) {
    return op == 0 ? x && y : op == 1 ? x || y : x != y;
  };
  std::uint32_t out = 0;
  for (unsigned k = 0; k < 8; ++k)
    if (combine(second, combine(first, (k & 4u) != 0, (k & 2u) != 0) != opposite, (k & 1u) != 0))
      out |= 1u << k;
  return out;
}
void set_predicates_by_logic(Translator& t) {
  const unsigned first = t.field("bool2"), second = t.field("bool");
  t.emit(Op::plop3, Type::pred,
         {predicate_result(t, predicate_named(t, "Pd")), predicate_result(t, predicate_named(t, "Pd2"))},
         {t.predicate("Pa"), t.predicate("Pb"), t.predicate("Pc")})
      .mods.video = predicate_table(first, second, false) | predicate_table(first, second, true) << 8;
}
void set_by_logic(Translator& t) {
  const ptx::Operand p = t.temporary_predicate();
  t.emit(Op::plop3, Type::pred, {p, {.kind = ptx::OperandKind::sink}},
         {t.predicate("Pa"), t.predicate("Pb"), t.predicate("Pc")})
      .mods.video = predicate_table(t.field("bool2"), t.field("bool"), false);
  write_truth(t, p);
}

// CSETP, CSET: a test of the flags in place of the first two
void test_to_predicates(Translator& t) {
  write_predicates(t, tested_flags(t, t.field("test")), t.field("bool"), t.predicate("Pc"));
}
void test_to_register(Translator& t) { write_truth(t, with_condition(t, tested_flags(t, t.field("test")))); }

// P2R.CC, R2P.CC: the flags of the mask, in byte b of a register
std::uint32_t flag_bits(const Translator& t) {
  const Operand& mask = t.source(1);
  if (mask.kind != OperandKind::immediate) t.refuse("takes its mask from a register, which is not executed");
  return (static_cast<std::uint32_t>(mask.value) & ((1u << flags_in_register) - 1)) |
         8 * t.field("b") << ptx::predicates_shift_at | flag(Flag::zero).index << ptx::predicates_first_at;
}
void flags_to_register(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0));
  t.emit(Op::p2r, Type::b32, {t.result("Rd")}, {a}).mods.video = flag_bits(t);
}
void register_to_flags(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0));
  t.emit(Op::r2p, Type::b32, {}, {a}).mods.video = flag_bits(t);
}

// Words of pairs: .XHI first compares the high words and sets flags, .XLO or .XMED takes the low ones by
// them. The flags say: UP0 which of the two was taken, UP1 that both are equal.
void integer_extremum(Translator& t) {
  enum Mode : unsigned { whole, low, middle, high };
  const unsigned mode = t.field("part");
  t.know_flags();
  const Operand& min = t.operand("min");
  const Type type = t.field("u32") != 0 ? Type::s32 : Type::u32;
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1)), first = t.temporary_predicate();
  if (mode == middle || (mode == whole && (reads_flags(t) || writes_flags(t))) ||
      (mode == low) == writes_flags(t))
    if (mode != whole) t.refuse("with these flags is not executed");
  // first: a is taken
  ptx::Inst& less = t.emit(Op::setp, type, {first}, {a, b});
  less.mods.compare = ptx::Compare::le;
  if (!t.is_true(min)) {
    t.emit(Op::plop3, Type::pred, {first, {.kind = ptx::OperandKind::sink}},
           {first, t.predicate("min"), t.predicate("min")})
        .mods.video = 0xc3u;  // first where min, else !first: bits with both alike
  }
  if (mode == low)
    t.emit(Op::plop3, Type::pred, {first, {.kind = ptx::OperandKind::sink}},
           {first, flag(Flag::carry), flag(Flag::zero)})
        .mods.video = 0xe4u;  // zero ? first : carry
  if (mode == high) {
    t.emit(Op::setp, type, {flag(Flag::zero)}, {a, b}).mods.compare = ptx::Compare::eq;
    t.emit(Op::mov, Type::pred, {flag(Flag::carry)}, {first});
  }
  t.emit(Op::selp, Type::b32, {t.result("Rd")}, {a, b, first});
}

}  // namespace

std::span<const SemanticsRow> bundled_compare_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"ISETP", compare_integers},
      {"ISET", with_flags<set_integer>},
      {"ICMP", choose_by_integer},
      {"FCMP", choose_by_float},
      {"FSET", with_flags<set_by_single>},
      {"DSET", with_flags<set_by_double>},
      {"PSETP", set_predicates_by_logic},
      {"PSET", with_flags<set_by_logic>},
      {"IMNMX", integer_extremum},
      {"CSETP", test_to_predicates},
      {"CSET", with_flags<test_to_register>},
      {"P2R.CC", flags_to_register},
      {"R2P.CC", register_to_flags},
  };
  return rows;
}

}  // namespace simtlab::machine
