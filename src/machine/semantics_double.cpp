// f64: register pairs.
#include <array>
#include <span>

#include "machine/semantics_common.h"
#include "machine/semantics_floating.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::Compare;
using ptx::Op;
using ptx::Type;

// An operand in two rows, of low and of high words; - and || are bits of Mods::video (ptx/machine_ops.h).
struct Pair {
  ptx::Operand halves;
  std::uint32_t signs = 0;
};

Pair pair_of(Translator& t, const Operand& source, bool negate) {
  if (const std::optional<std::uint32_t> bits = known_bits(source)) {
    const std::uint32_t high = source.absolute ? *bits & ~sign32 : *bits;
    return {t.number(std::uint64_t{high ^ (negate ? sign32 : 0)} << 32, 8)};
  }
  return {t.halves(source), (source.absolute ? 1u : 0u) | (negate ? 2u : 0u)};
}

void finish(Translator& t, Op op, std::span<const Pair> operands) {
  ptx::Inst& inst = t.emit(op, Type::f64, {t.result_halves(t.operand("Rd"))}, {});
  inst.mods.rounding = roundings[t.field("rnd")];
  inst.mods.video = ptx::f64_in_halves;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    inst.src[inst.src_count++] = operands[i].halves;
    inst.mods.video |= operands[i].signs << (2 * i);
  }
}

void add(Translator& t) {
  const Operand &left = t.source(0), &right = t.source(1);
  // One - alone makes it a subtraction.
  const auto plain_negation = [](const Operand& o) { return o.negated && !o.absolute && !known_bits(o); };
  const bool subtract = plain_negation(right), swapped = !subtract && plain_negation(left);
  const Pair a = pair_of(t, left, left.negated != swapped), b = pair_of(t, right, right.negated != subtract);
  if (swapped)
    finish(t, Op::sub, std::array{b, a});
  else
    finish(t, subtract ? Op::sub : Op::add, std::array{a, b});
}

std::array<Pair, 2> product(Translator& t, const Operand& a, const Operand& b) {
  const bool negate = a.negated != b.negated;
  const bool second = known_bits(b) || (b.absolute && !a.absolute && !known_bits(a));
  return {pair_of(t, a, negate && !second), pair_of(t, b, negate && second)};
}

void multiply(Translator& t) { finish(t, Op::mul, product(t, t.source(0), t.source(1))); }

void fused(Translator& t) {
  const auto [a, b] = product(t, t.source(0), t.source(1));
  finish(t, Op::fma, std::array{a, b, pair_of(t, t.source(2), t.source(2).negated)});
}

// .MIN and .MAX, as ptxas writes them for min.f64 and max.f64: it selects a by Pd, else b, and makes the
// result a quiet NaN by Pd2. So Pd says that a is the one (a number loses to none, -0 is below +0), Pd2 that
// both are NaN.
void choose(Translator& t, bool is_max, const ptx::Operand& a, const ptx::Operand& b) {
  if (!t.is_true(t.operand("Pc")) || t.field("bool") != 0)
    t.refuse("combines the choice with a predicate, which is not known");
  const ptx::Operand first = t.temporary_predicate(), alone = t.temporary_predicate(),
                     both = t.temporary_predicate();
  const auto emit = [&](Type type, Compare compare, const ptx::Operand& p, const ptx::Operand& x,
                        const ptx::Operand& y, ptx::BoolOp op) {
    ptx::Inst& inst = t.emit(Op::setp, type, {p}, {x, y});
    inst.mods.compare = compare;
    inst.mods.bool_op = op;
    if (op != ptx::BoolOp::none) inst.src[inst.src_count++] = p;
  };
  emit(Type::s64, is_max ? Compare::ge : Compare::lt, first, a, t.number(0, 8), ptx::BoolOp::none);
  emit(Type::f64, Compare::eq, first, a, b, ptx::BoolOp::and_);
  emit(Type::f64, is_max ? Compare::gt : Compare::lt, first, a, b, ptx::BoolOp::or_);
  emit(Type::f64, Compare::nan, both, b, b, ptx::BoolOp::none);
  t.emit(Op::mov, Type::pred, {alone}, {both});
  emit(Type::f64, Compare::num, alone, a, a, ptx::BoolOp::and_);
  emit(Type::f64, Compare::nan, both, a, a, ptx::BoolOp::and_);
  t.emit(Op::or_, Type::pred, {t.predicate_result("Pd")}, {first, alone});
  const ptx::Operand second = t.predicate_result("Pd2");
  if (second.kind != ptx::OperandKind::sink) t.emit(Op::mov, Type::pred, {second}, {both});
}

void set_predicate(Translator& t) {
  const ptx::Operand a = real_source(t, t.source(0)), b = real_source(t, t.source(1));
  const unsigned code = t.field("cmp");
  if (code == compare_never || code == compare_always) {
    choose(t, code == compare_always, a, b);
    return;
  }
  set_predicates(t, {.type = Type::f64, .code = code, .combine = t.field("bool")}, a, b);
}

}  // namespace

std::span<const SemanticsRow> double_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"DADD", add}, {"DMUL", multiply}, {"DFMA", fused}, {"DSETP", set_predicate}};
  return rows;
}

}  // namespace simtlab::machine
