// Sums and products of integers, minima, comparisons.
#include <bit>

#include "machine/semantics_common.h"
#include "ptx/machine_ops.h"
#include "ptx/video.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

constexpr std::uint32_t add_one = 1u << ptx::sum_constant_shift;

// Carries in of the forms with .X; the others must not name one.
struct CarriesIn {
  ptx::Operand operands[2];
  unsigned count = 0;

  CarriesIn(const Translator& t, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const Operand* const p = predicate_named(t, name);
      if (p == nullptr || t.is_false(*p)) continue;
      if (!is_extended(t)) t.refuse("names a carry that it does not add");
      operands[count++] = t.predicate(*p);
    }
  }
  void append(ptx::Inst& inst) const {
    for (unsigned i = 0; i < count; ++i) inst.src[inst.src_count++] = operands[i];
  }
};

// One operand of a sum as it enters it: inverted, and whether 1 comes with it.
struct Term {
  ptx::Operand value;
  bool inverted = false, negated = false, zero = false;

  Term(Translator& t, const Operand& o)
      : value(t.raw(o)), inverted(o.inverted || o.negated), negated(o.negated), zero(is_zero(o)) {}
  Term(const ptx::Operand& v) : value(v) {}
};

// d = a sum without carries of terms that are not 0. At most three.
void emit_short_sum(Translator& t, const ptx::Operand& d, std::span<const Term> terms) {
  if (terms.empty()) {
    t.emit(Op::mov, Type::b32, {d}, {t.number(0)});
  } else if (terms.size() == 1) {
    t.emit(terms[0].negated ? Op::neg : Op::mov, terms[0].negated ? Type::s32 : Type::b32, {d},
           {terms[0].value});
  } else if (terms.size() == 2 && !(terms[0].negated && terms[1].negated)) {
    const bool first = terms[0].negated;
    t.emit(first || terms[1].negated ? Op::sub : Op::add, Type::u32, {d},
           {terms[first ? 1 : 0].value, terms[first ? 0 : 1].value});
  } else {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (terms[i].negated) bits = (bits | 1u << i) + add_one;
    const ptx::Operand third = terms.size() == 3 ? terms[2].value : t.number(0);
    t.emit(Op::iadd3, Type::u32, {d}, {terms[0].value, terms[1].value, third}).mods.video = bits;
  }
}

// d, p, q = a + b + c + carries. A negated operand enters as its complement with 1 beside it, so that a - 0
// carries. Which of p and q stands for one carry and which for the second is inferred: the compiler adds
// both.
void emit_sum(Translator& t, const ptx::Operand& d, const Term (&terms)[3], const CarriesIn& in,
              const Operand* p, const Operand* q) {
  const bool carries_out = is_wanted(p) || is_wanted(q);
  if (!carries_out && in.count == 0 && !is_extended(t)) {
    std::vector<Term> left;
    for (const Term& term : terms)
      if (!term.zero) left.push_back(term);
    emit_short_sum(t, d, left);
    return;
  }
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 3; ++i) {
    if (terms[i].inverted) bits |= 1u << i;
    if (terms[i].negated) bits += add_one;
  }
  ptx::Inst& inst = t.emit(Op::iadd3, Type::u32, {d}, {terms[0].value, terms[1].value, terms[2].value});
  inst.mods.video = bits;
  if (carries_out) {
    inst.dst[inst.dst_count++] = predicate_result(t, p);
    if (is_wanted(q)) inst.dst[inst.dst_count++] = predicate_result(t, q);
  }
  in.append(inst);
}

// IADD3, IADD3.X
void add_three(Translator& t) {
  const CarriesIn in(t, {"Pcin0", "Pcin1"});
  const Term terms[3] = {{t, t.source(0)}, {t, t.source(1)}, {t, t.source(2)}};
  emit_sum(t, t.result(destination(t)), terms, in, predicate_named(t, "Pcarry0"),
           predicate_named(t, "Pcarry1"));
}

// How an immediate is extended to 64 bits where its top bit is set has not been seen.
void refuse_wide_immediate(const Translator& t, const Operand& o) {
  if (o.kind == OperandKind::immediate && static_cast<std::int32_t>(o.value) < 0)
    t.refuse("extends an immediate to 64 bits in a way that is not known");
}

// UIADD3.64: pairs of registers
void add_pairs(Translator& t) {
  for (unsigned i = 0; i < 3; ++i) refuse_wide_immediate(t, t.source(i));
  for (const std::string_view name : {"Pd0", "Pd1"})
    if (is_wanted(predicate_named(t, name))) t.refuse("with a carry is not executed yet");
  for (const std::string_view name : {"Pc0", "Pc1"})
    if (!t.is_false(*predicate_named(t, name))) t.refuse("names a carry that it does not add");
  const ptx::Operand sum = t.temporary_wide();
  t.emit(Op::add, Type::u64, {sum}, {t.integer_wide(t.source(0)), t.integer_wide(t.source(1))});
  if (!is_zero(t.source(2))) t.emit(Op::add, Type::u64, {sum}, {sum, t.integer_wide(t.source(2))});
  t.store_wide(destination(t), sum);
}

// IMAD, IMAD.X: the low word of a * b + c
void multiply_add_integers(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1), &c = t.source(2);
  const CarriesIn in(t, {"Pcin"});
  if (is_wanted(predicate_named(t, "Pd"))) t.refuse("with a carry is not executed yet");
  const ptx::Operand d = t.result(destination(t));
  const bool negated = a.negated != b.negated, nothing = is_zero(a) || is_zero(b);
  const bool same = b.kind == OperandKind::immediate && b.value == 1;
  if (is_extended(t) || nothing || same) {
    // A sum: of a, of nothing, or of the product
    Term product(nothing ? t.number(0) : t.raw(a));
    product.zero = nothing;
    if (!nothing && !same)
      t.emit(Op::mul, Type::s32, {product.value = t.temporary()}, {t.raw(a), t.raw(b)}).mods.mul =
          ptx::MulMode::lo;
    product.negated = product.inverted = negated && !nothing;
    Term zero(t.number(0));
    zero.zero = true;
    emit_sum(t, d, {product, zero, Term(t, c)}, in, nullptr, nullptr);
    return;
  }
  const auto factor = static_cast<std::uint32_t>(b.value);
  if (negated || c.negated) {
    t.emit(Op::imad, Type::s32, {d}, {t.raw(a), t.raw(b), t.raw(c)}).mods.video =
        (negated ? ptx::product_negated : 0) | (c.negated ? ptx::addend_negated : 0);
  } else if (b.kind == OperandKind::immediate && std::has_single_bit(factor)) {
    const auto shift = static_cast<std::uint32_t>(std::countr_zero(factor));
    if (is_zero(c))
      t.emit(Op::shl, Type::b32, {d}, {t.raw(a), t.number(shift)});
    else
      t.emit(Op::lea, Type::u32, {d}, {t.raw(a), t.raw(c)}).mods.video = shift;
  } else if (is_zero(c)) {
    t.emit(Op::mul, Type::s32, {d}, {t.raw(a), t.raw(b)}).mods.mul = ptx::MulMode::lo;
  } else {
    t.emit(Op::mad, Type::s32, {d}, {t.raw(a), t.raw(b), t.raw(c)}).mods.mul = ptx::MulMode::lo;
  }
}

// a * b + c of pairs into low and high.
void emit_wide_product(Translator& t, const ptx::Operand& low, const ptx::Operand& high) {
  const Operand &a = t.source(0), &b = t.source(1), &c = t.source(2);
  const bool is_signed = t.field("u32") != 0;
  const CarriesIn in(t, {"Pcin"});
  const Operand* const carry = predicate_named(t, "Pd");
  refuse_wide_immediate(t, c);
  const auto [c_low, c_high] = words_of(t, c);
  std::uint32_t bits = 0;
  if (a.negated != b.negated) bits |= ptx::product_negated;
  if (c.negated || c.inverted) bits |= ptx::addend_inverted;
  if (c.negated) bits += add_one;
  ptx::Inst& inst = t.emit(Op::imad_wide, is_signed ? Type::s32 : Type::u32, {low, high},
                           {t.raw(a), t.raw(b), c_low, c_high});
  inst.mods.video = bits;
  if (is_wanted(carry)) inst.dst[inst.dst_count++] = predicate_result(t, carry);
  in.append(inst);
}
void multiply_add_pairs(Translator& t) {
  const Operand& d = destination(t);
  emit_wide_product(t, t.result(d), t.register_behind(d, 1));
}
// IMAD.HI: the high word of the same sum
void multiply_add_high(Translator& t) {
  emit_wide_product(t, {.kind = ptx::OperandKind::sink, .bytes = 4}, t.result(destination(t)));
}

// LEA, LEA.X: (a << n) + b; LEA.HI, LEA.HI.X: the high word of (c:a << n), plus b
void add_scaled(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1);
  const CarriesIn in(t, {"Pcin"});
  const Operand* const carry = predicate_named(t, "Pd");
  const auto shift = static_cast<std::uint32_t>(t.operand("shift").value);
  std::uint32_t bits = shift;
  if (a.negated || a.inverted) bits |= ptx::lea_scaled_inverted;
  if (b.negated || b.inverted) bits |= ptx::lea_b_inverted;
  bits += add_one * (static_cast<unsigned>(a.negated) + static_cast<unsigned>(b.negated));
  const bool high = t.instruction().mnemonic().find(".HI") != std::string_view::npos;
  if (high) bits |= ptx::lea_high;
  const bool extended = t.field("sx32") != 0;
  if (extended) bits |= ptx::lea_extended;
  const bool has_c = high && !extended;
  const ptx::Operand c = has_c ? t.raw(t.source(2)) : ptx::Operand{};
  ptx::Inst& inst = t.emit(Op::lea, Type::u32, {t.result(destination(t))}, {t.raw(a), t.raw(b)});
  inst.mods.video = bits;
  if (has_c) inst.src[inst.src_count++] = c;
  if (is_wanted(carry)) inst.dst[inst.dst_count++] = predicate_result(t, carry);
  in.append(inst);
}

// IDP.4A, .2A.LO, .2A.HI: sums of products of bytes (and halves of a), as dp4a and dp2a
void dot_product(Translator& t) {
  const Operand &a = t.source(0), &b = t.source(1), &c = t.source(2);
  if (a.negated || b.negated) t.refuse("negates a factor, which is not executed yet");
  const unsigned mode = t.field("mode");
  const ptx::Operand addend = t.integer(c);
  ptx::Inst& inst = t.emit(mode == 0 ? Op::dp4a : Op::dp2a, t.field("ta") != 0 ? Type::s32 : Type::u32,
                           {t.result("Rd")}, {t.raw(a), t.raw(b), addend});
  inst.stype = t.field("tb") != 0 ? Type::s32 : Type::u32;
  inst.mods.src_type_hi = mode == 3 ? 1 : 0;
}

// By the field fmt of the instructions of Hopper.
Type halves_type(const Translator& t) {
  constexpr Type types[] = {Type::u32, Type::s32, Type::u16x2, Type::s16x2};
  return types[t.field("fmt")];
}

// d = the smaller of a and b where the predicate is true, the larger where it is false.
void emit_extremum(Translator& t, Type type, const ptx::Operand& d, const ptx::Operand& a,
                   const ptx::Operand& b, bool relu) {
  const Operand& min = t.operand("min");
  if (min.number == true_predicate) {
    t.emit(t.is_true(min) ? Op::min : Op::max, type, {d}, {a, b}).mods.relu = relu;
    return;
  }
  const ptx::Operand smaller = t.temporary(), larger = t.temporary();
  t.emit(Op::min, type, {smaller}, {a, b}).mods.relu = relu;
  t.emit(Op::max, type, {larger}, {a, b}).mods.relu = relu;
  t.emit(Op::selp, Type::b32, {d}, {smaller, larger, t.predicate(min)});
}

// IMNMX
void integer_extremum(Translator& t) {
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1));
  emit_extremum(t, t.field("u32") != 0 ? Type::s32 : Type::u32, t.result("Rd"), a, b, false);
}

// VIMNMX. Its predicates say which operand was taken.
void extremum_lanes(Translator& t) {
  if (is_wanted(predicate_named(t, "Pd")) || is_wanted(predicate_named(t, "Pd2")))
    t.refuse("says which operand it took, which is not executed yet");
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1));
  emit_extremum(t, halves_type(t), t.result("Rd"), a, b, t.field("relu") != 0);
}

void extremum_of_three(Translator& t) {
  const ptx::Operand first = t.temporary();
  emit_extremum(t, halves_type(t), first, t.raw(t.source(0)), t.raw(t.source(1)), false);
  emit_extremum(t, halves_type(t), t.result("Rd"), first, t.raw(t.source(2)), t.field("relu") != 0);
}

// VIADDMNMX: the smaller or larger of a + b and c
void add_extremum(Translator& t) {
  const Type type = halves_type(t);
  const bool pair = type == Type::u16x2 || type == Type::s16x2;
  const Operand& b = t.source(1);
  if (pair && b.negated) t.refuse("negates halves, which is not executed yet");
  const ptx::Operand sum = t.temporary();
  t.emit(b.negated ? Op::sub : Op::add, pair ? Type::u16x2 : Type::u32, {sum},
         {t.raw(t.source(0)), t.raw(b)});
  emit_extremum(t, type, t.result("Rd"), sum, t.raw(t.source(2)), t.field("relu") != 0);
}

// VIADD
void add_lanes(Translator& t) {
  const Operand& b = t.source(1);
  const bool pair = t.field("fmt") != 0;
  if (pair && b.negated) t.refuse("negates halves, which is not executed yet");
  t.emit(b.negated ? Op::sub : Op::add, pair ? Type::u16x2 : Type::u32, {t.result("Rd")},
         {t.raw(t.source(0)), t.raw(b)});
}

// VABSDIFF: |a - b| + c
void absolute_difference(Translator& t) {
  if (is_wanted(predicate_named(t, "Pd"))) t.refuse("with a predicate as result is not executed yet");
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1)), c = t.raw(t.source(2));
  t.emit(Op::sad, t.field("u32") != 0 ? Type::s32 : Type::u32, {t.result("Rd")}, {a, b, c});
}

// VABSDIFF4: of bytes; .ACC adds them to c, else they are the bytes of the result
void absolute_difference_of_bytes(Translator& t) {
  if (is_wanted(predicate_named(t, "Pd")) || t.field("u") != 0) t.refuse("has modifiers that are not known");
  const bool is_signed = t.field("s") != 0;
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1)), c = t.raw(t.source(2));
  ptx::Inst& inst = t.emit(Op::vabsdiff4, Type::u32, {t.result("Rd")}, {a, b, c});
  inst.stype = is_signed ? Type::s32 : Type::u32;
  if (is_signed) inst.mods.src_type_hi = ptx::video_b_signed;
  inst.mods.atom = t.field("acc") != 0 ? ptx::AtomOp::add : ptx::AtomOp::none;
  inst.mods.video = ptx::video_every_byte;
}

// d = a, no less than `lowest` and no more than `highest`.
void emit_integer_clamp(Translator& t, const ptx::Operand& d, const ptx::Operand& a, std::int32_t lowest,
                        std::int32_t highest) {
  t.emit(Op::max, Type::s32, {d}, {a, t.number(static_cast<std::uint32_t>(lowest))});
  t.emit(Op::min, Type::s32, {d}, {d, t.number(static_cast<std::uint32_t>(highest))});
}

// The least and the greatest value of a type of I2I and I2IP.
struct Narrow {
  unsigned bits;
  std::int32_t lowest, highest;
  explicit Narrow(unsigned code) : bits(code < 2 ? 8 : code < 4 ? 16 : code < 6 ? 2 : 4) {
    const bool is_signed = code % 2 != 0;
    lowest = is_signed ? -(1 << (bits - 1)) : 0;
    highest = (1 << (is_signed ? bits - 1 : bits)) - 1;
  }
  std::uint32_t mask() const { return (1u << bits) - 1; }
};

// I2I.TYPE.S32.SAT
void saturate_integer(Translator& t) {
  const Narrow to(t.field("type"));
  const ptx::Operand a = t.raw(t.source(0)), value = t.temporary();
  emit_integer_clamp(t, value, a, to.lowest, to.highest);
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {value});
}

// I2IP.TYPE.S32.SAT: a and b, saturated, are the low parts of the result, b lowest; c is shifted in above
// them
void saturate_pair(Translator& t) {
  const Narrow to(t.field("type"));
  // What of c is left beside a and b: .24 and .28 say it where it is more than 16 bits.
  if (t.field("left") != (to.bits == 4 ? 2u : to.bits == 2 ? 3u : 0u))
    t.refuse("has modifiers that are not known");
  const Operand& c = t.source(2);
  const ptx::Operand a = t.temporary(), b = t.temporary(), rest = t.raw(c);
  const auto part = [&](const ptx::Operand& d, const Operand& from) {
    emit_integer_clamp(t, d, t.raw(from), to.lowest, to.highest);
    t.emit(Op::and_, Type::b32, {d}, {d, t.number(to.mask())});
  };
  part(a, t.source(0));
  part(b, t.source(1));
  if (to.bits == 16) {
    if (!is_zero(c)) t.refuse("shifts in what has no place in the result");
  } else if (!is_zero(c)) {
    t.emit(Op::lea, Type::u32, {a}, {rest, a}).mods.video = to.bits;
  }
  t.emit(Op::lea, Type::u32, {t.result("Rd")}, {a, b}).mods.video = to.bits;
}

void integer_magnitude(Translator& t) { t.emit(Op::abs, Type::s32, {t.result("Rd")}, {t.raw(t.source(0))}); }

constexpr ptx::BoolOp integer_bool_ops[] = {ptx::BoolOp::and_, ptx::BoolOp::or_, ptx::BoolOp::xor_};

// Whether `value op p` is the value, so that p need not be read.
bool changes_nothing(const Translator& t, ptx::BoolOp op, const Operand& p) {
  return op == ptx::BoolOp::and_ ? t.is_true(p) : t.is_false(p);
}

// ISETP.F, ISETP.T: the comparison is a constant.
void set_constant(Translator& t, bool value, ptx::BoolOp op, const Operand& p) {
  const auto table = [&](bool compared) -> std::uint32_t {
    std::uint32_t out = 0;
    for (unsigned other = 0; other < 2; ++other) {
      const bool r = op == ptx::BoolOp::and_  ? compared && other != 0
                     : op == ptx::BoolOp::or_ ? compared || other != 0
                                              : compared != (other != 0);
      if (r) out |= 0xfu << (4 * other);
    }
    return out;
  };
  const ptx::Operand other = t.predicate(p);
  t.emit(Op::plop3, Type::pred,
         {predicate_result(t, predicate_named(t, "Pd")), predicate_result(t, predicate_named(t, "Pd2"))},
         {other, other, other})
      .mods.video = table(value) | table(!value) << 8;
}

// ISETP: Pd = (a compare b) op Pc, Pd2 = !(a compare b) op Pc; .EX: of high words, Pex is the answer of the
// low ones
void compare_integers(Translator& t) {
  constexpr ptx::Compare compares[] = {ptx::Compare::none, ptx::Compare::lt,  ptx::Compare::eq,
                                       ptx::Compare::le,   ptx::Compare::gt,  ptx::Compare::ne,
                                       ptx::Compare::ge,   ptx::Compare::none};
  const unsigned code = t.field("cmp");
  if (t.field("bool") > 2) t.refuse("combines predicates in a way that is not known");
  const ptx::BoolOp op = integer_bool_ops[t.field("bool")];
  const Operand &p = *predicate_named(t, "Pc"), *const pd = predicate_named(t, "Pd"),
                *const pd2 = predicate_named(t, "Pd2");
  const bool extended = t.field("ex") != 0;
  const Operand& low = *predicate_named(t, "Pex");
  if (!extended && !t.is_true(low) && !t.is_false(low)) t.refuse("names a predicate that it does not read");
  if (compares[code] == ptx::Compare::none) {
    if (extended) t.refuse("is not executed yet");
    set_constant(t, code == 7, op, p);
    return;
  }
  const ptx::Operand a = t.raw(t.source(0)), b = t.raw(t.source(1));
  ptx::Inst& inst = t.emit(extended ? Op::setp_ex : Op::setp, t.field("u32") != 0 ? Type::s32 : Type::u32,
                           {predicate_result(t, pd)}, {a, b});
  if (is_wanted(pd2)) inst.dst[inst.dst_count++] = predicate_result(t, pd2);
  inst.mods.compare = compares[code];
  if (extended) inst.src[inst.src_count++] = t.predicate(low);
  if (changes_nothing(t, op, p)) return;
  inst.mods.bool_op = op;
  inst.src[inst.src_count++] = t.predicate(p);
}

}  // namespace

std::span<const SemanticsRow> integer_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"IADD3", add_three},
      {"IADD3.X", add_three},
      {"UIADD3", add_three},
      {"UIADD3.X", add_three},
      {"UIADD3.64", add_pairs},
      {"IMAD", multiply_add_integers},
      {"IMAD.X", multiply_add_integers},
      {"UIMAD", multiply_add_integers},
      {"UIMAD.X", multiply_add_integers},
      {"IMAD.WIDE", multiply_add_pairs},
      {"IMAD.WIDE.X", multiply_add_pairs},
      {"UIMAD.WIDE", multiply_add_pairs},
      {"UIMAD.WIDE.X", multiply_add_pairs},
      {"IMAD.HI", multiply_add_high},
      {"IMAD.HI.X", multiply_add_high},
      {"UIMAD.HI", multiply_add_high},
      {"UIMAD.HI.X", multiply_add_high},
      {"LEA", add_scaled},
      {"LEA.X", add_scaled},
      {"LEA.HI", add_scaled},
      {"LEA.HI.X", add_scaled},
      {"ULEA", add_scaled},
      {"ULEA.X", add_scaled},
      {"ULEA.HI", add_scaled},
      {"ULEA.HI.X", add_scaled},
      {"IDP", dot_product},
      {"IMNMX", integer_extremum},
      {"VIMNMX", extremum_lanes},
      {"VIMNMX3", extremum_of_three},
      {"VIADDMNMX", add_extremum},
      {"VIADD", add_lanes},
      {"VABSDIFF", absolute_difference},
      {"VABSDIFF4", absolute_difference_of_bytes},
      {"I2I", saturate_integer},
      {"I2IP", saturate_pair},
      {"IABS", integer_magnitude},
      {"ISETP", compare_integers},
      {"UISETP", compare_integers},
  };
  return rows;
}

}  // namespace simtlab::machine
