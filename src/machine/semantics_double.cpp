// f64: register pairs.
#include "machine/semantics_floating.h"

namespace simtlab::machine {
namespace {

using ptx::Compare;
using ptx::Op;
using ptx::Type;

void finish(Translator& t, Op op, std::initializer_list<ptx::Operand> sources) {
  const ptx::Operand result = t.temporary_wide();
  t.emit(op, Type::f64, {result}, sources).mods.rounding = roundings[t.field("rnd")];
  t.store_wide(t.operand("Rd"), result);
}

void add(Translator& t) {
  const Operand &left = t.source(0), &right = t.source(1);
  // One - alone makes it a subtraction.
  const auto plain_negation = [](const Operand& o) { return o.negated && !o.absolute && !known_bits(o); };
  const bool subtract = plain_negation(right), swapped = !subtract && plain_negation(left);
  const ptx::Operand a = real_source(t, left, swapped), b = real_source(t, right, subtract);
  if (swapped)
    finish(t, Op::sub, {b, a});
  else
    finish(t, subtract ? Op::sub : Op::add, {a, b});
}

struct Product {
  ptx::Operand a, b;
};
Product product(Translator& t, const Operand& a, const Operand& b) {
  const bool negate = a.negated != b.negated;
  const bool second = known_bits(b) || (b.absolute && !a.absolute && !known_bits(a));
  return {real_source(t, a, a.negated ^ (negate && !second)),
          real_source(t, b, b.negated ^ (negate && second))};
}

void multiply(Translator& t) {
  const auto [a, b] = product(t, t.source(0), t.source(1));
  finish(t, Op::mul, {a, b});
}

void fused(Translator& t) {
  const auto [a, b] = product(t, t.source(0), t.source(1));
  finish(t, Op::fma, {a, b, real_source(t, t.source(2))});
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
