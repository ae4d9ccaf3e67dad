// f16, bf16 and their pairs.
//
// A scalar is the low half of a register with zeros above it. HADD2 and its like work on both halves: of
// scalars the upper ones are zeros too, and so is their result, unless signs make it -0.
#include <utility>

#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint8_t low_twice = 2;

bool is_bf16(Type type) { return type == Type::bf16 || type == Type::bf16x2; }
std::uint32_t signs_of(Type type) { return is_half_pair(type) ? 0x80008000u : 0x8000u; }
std::uint32_t one_of(Type type) {
  const std::uint32_t one = is_bf16(type) ? 0x3f80u : 0x3c00u;
  return is_half_pair(type) ? one * 0x10001u : one;
}

// Signs are a part of numbers.
Value settled(Value v, Type type) {
  if (!v.is_number()) return v;
  if (v.absolute) v.bits &= ~std::uint64_t{signs_of(type)};
  if (v.negated) v.bits ^= signs_of(type);
  v.absolute = v.negated = false;
  return v;
}
Value half_source(Selector& s, const Inst& inst, unsigned i) { return settled(s.source(inst, i), inst.type); }
Value negative_zero_pair() {
  Value v = zero();
  v.negated = true;
  return v;
}

bool upper_is_negative(const Value& v, Type type) {
  return !is_half_pair(type) && v.negated && v.kind != Value::Kind::number;
}

void refuse_generation(const Selector& s, Type type) {
  if (is_bf16(type) && s.generation() < 80) Selector::give_up("arithmetic of bf16 on this generation");
}

// Pairs alternate between two pipes, where the generation has them: as good as the vendor's assembler does.
std::string_view fused_name(Selector& s, Type type) {
  const bool two_pipes = s.generation() == 90 || (s.generation() == 80 && !is_bf16(type));
  if (!is_half_pair(type) || !two_pipes) return "HFMA2";
  const std::vector<Instruction>& code = s.program().blocks[s.out().block()].code;
  constexpr std::size_t nearby = 16;
  for (std::size_t k = code.size(), seen = 0; k-- > 0 && seen < nearby; ++seen) {
    const machine::Form& form = *code[k].code.form;
    if (form.mnemonic == "HFMA2") return on_tensor_pipe(form) ? "HFMA2" : "HFMA2.MMA";
    if (form.mnemonic == "HADD2" || form.mnemonic == "HMUL2") return "HFMA2.MMA";
  }
  return "HFMA2.MMA";
}

struct Sources {
  Value a, b, c;
  unsigned count = 2;
};

// name: HADD2, HMUL2, HFMA2. The result of a scalar has zeros above it.
void emit_half(Selector& s, const Inst& inst, std::string_view name, const Sources& v, bool upper_negative) {
  Builder& out = s.out();
  const Ref result = s.result(inst);
  const bool masks = upper_negative && !inst.mods.sat && !inst.mods.relu;
  const Ref d = masks ? out.new_register() : result;
  const std::string_view ftz = inst.mods.ftz ? "FTZ" : "", sat = inst.mods.sat ? "SAT" : "";
  Instruction& i = v.count == 2 ? out.emit(name, d, {v.a, v.b}, {{"ftz", ftz}, {"sat", sat}})
                                : out.emit(name, d, {v.a, v.b, v.c}, {{"ftz", ftz}, {"sat", sat}});
  if (is_bf16(inst.type)) out.set_field(i, "bf16", 1);
  if (inst.mods.relu) {
    if (i.code.form->field("relu") < 0) s.give_up("arithmetic of halves with .relu");
    out.set_field(i, "relu", 1);
  }
  if (masks) s.mask(result, value_of(d), 16);
}

void fuse(Selector& s, const Inst& inst, Value a, Value b, const Value& c) {
  refuse_generation(s, inst.type);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  const bool product = upper_is_negative(a, inst.type) != upper_is_negative(b, inst.type);
  emit_half(s, inst, fused_name(s, inst.type), {a, b, c, 3}, product && upper_is_negative(c, inst.type));
}

// HADD2 and HMUL2 know bf16 on sm_90 only; of pairs they take turns with HFMA2.
bool by_fma(Selector& s, Type type) {
  return (is_bf16(type) && s.generation() < 90) || fused_name(s, type) == "HFMA2.MMA";
}

void half_sum(Selector& s, const Inst& inst) {
  Value a = half_source(s, inst, 0), b = s.source(inst, 1);
  if (inst.op == Op::sub) b.negated = !b.negated;
  b = settled(b, inst.type);
  if (by_fma(s, inst.type)) return fuse(s, inst, a, number(one_of(inst.type)), b);
  refuse_generation(s, inst.type);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  emit_half(s, inst, "HADD2", {a, b, {}, 2},
            upper_is_negative(a, inst.type) && upper_is_negative(b, inst.type));
}

void half_product(Selector& s, const Inst& inst) {
  Value a = half_source(s, inst, 0), b = half_source(s, inst, 1);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  const bool negative = upper_is_negative(a, inst.type) != upper_is_negative(b, inst.type);
  if (by_fma(s, inst.type)) {
    refuse_generation(s, inst.type);
    // Of scalars the upper half is 0 * 0 - 0.
    const Value c = is_half_pair(inst.type) ? negative_zero_pair() : number(0x8000u);
    return emit_half(s, inst, fused_name(s, inst.type), {a, b, c, 3}, false);
  }
  emit_half(s, inst, "HMUL2", {a, b, {}, 2}, negative);
}

void half_fused(Selector& s, const Inst& inst) {
  fuse(s, inst, half_source(s, inst, 0), half_source(s, inst, 1), half_source(s, inst, 2));
}

void half_extremum(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  if (!out.has_form("HMNMX2")) s.give_up("a minimum of halves on this generation");
  if (inst.src_count > 2 || inst.mods.relu) s.give_up("a minimum of halves of this kind");
  Value a = half_source(s, inst, 0), b = half_source(s, inst, 1);
  if (inst.mods.xorsign) {
    if (a.negated || b.negated) s.give_up("a minimum of halves with signs of its sources");
    a.absolute = b.absolute = true;
  }
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  const bool masks = upper_is_negative(a, inst.type) || upper_is_negative(b, inst.type);
  const Ref d = masks ? out.new_register() : s.result(inst);
  Instruction& i = out.emit("HMNMX2", d, {a, b}, {{"ftz", inst.mods.ftz ? "FTZ" : ""}});
  for (const auto& [name, wanted] : {std::pair{"nan", inst.mods.nan}, std::pair{"xorsign", inst.mods.xorsign},
                                     std::pair{"bf16", is_bf16(inst.type)}}) {
    if (!wanted) continue;
    if (i.code.form->field(name) < 0) s.give_up("a minimum of halves of this kind on this generation");
    out.set_field(i, name, 1);
  }
  out.set_condition(i, "min", {{}, inst.op == Op::max});
  if (masks) s.mask(s.result(inst), value_of(d), 16);
}

// Signs are bits: NaN stays as it is.
void change_half_sign(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const bool absolute = inst.op == Op::abs;
  const std::uint32_t signs = signs_of(inst.type);
  Value v = s.plain_source(inst, 0);
  const Ref result = s.result(inst);
  if (inst.mods.ftz) {
    if (is_bf16(inst.type)) s.give_up("a sign of bf16 with .ftz");
    (absolute ? v.absolute : v.negated) = true;
    return emit_half(s, inst, "HADD2", {settled(v, inst.type), negative_zero_pair(), {}, 2},
                     upper_is_negative(v, inst.type));
  }
  Instruction& i = out.emit("LOP3", result, {v, number(absolute ? ~signs : signs), zero()});
  out.set_number(i, "lut", absolute ? 0xc0 : 0x3c);
}

void half_function(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const bool bf16 = is_bf16(inst.type), pair = is_half_pair(inst.type);
  const bool known = inst.op == Op::ex2 ? inst.mods.ftz == bf16 : inst.op == Op::tanh;
  if (!known || s.generation() < (bf16 ? 90u : 75u)) s.give_up("a function of halves of this kind");
  const auto half = [&](Ref d, bool high) {
    Value v = s.plain_source(inst, 0);
    if (v.is_number()) v = out.as_register(v);
    v.part = high ? 1 : 0;
    Instruction& i = out.emit("MUFU", d, {v}, {{"op", inst.op == Op::ex2 ? "EX2" : "TANH"}});
    out.set_field(i, bf16 ? "bf16" : "f16", 1);
  };
  if (!pair) return half(s.result(inst), false);
  const Ref low = out.new_register(), high = out.new_register();
  half(low, false);
  half(high, true);
  out.emit("PRMT", s.result(inst), {value_of(low), number(0x5410), value_of(high)});
}

// The sides of a comparison; those of scalars give their half twice.
std::pair<Value, Value> sides_of(Selector& s, const Inst& inst, Type type, ptx::Compare& compare) {
  Inst as_type = inst;
  as_type.type = type;
  Value a = half_source(s, as_type, 0), b = half_source(s, as_type, 1);
  if (a.kind != Value::Kind::reg) {
    std::swap(a, b);
    compare = swapped_comparison(compare);
  }
  if (!is_half_pair(type))
    for (Value* const v : {&a, &b}) {
      if (v->is_number())
        v->bits = (v->bits & 0xffffu) * 0x10001u;
      else
        v->half = low_twice;
    }
  return {a, b};
}

// 1.0 or all bits in each half.
void set_half(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const Type type = inst.stype;
  refuse_generation(s, type);
  if (is_bf16(type) && s.generation() < 90) s.give_up("a comparison of bf16 on this generation");
  ptx::Compare compare = inst.mods.compare;
  const auto [a, b] = sides_of(s, inst, type, compare);
  const bool numbers = is_single_half(inst.type) || is_half_pair(inst.type);
  if (ptx::size_of(inst.type) > 4 || float_comparison(compare).empty()) s.give_up("set of this kind");
  if (inst.type == Type::f32) s.give_up("set of halves with a result of f32");
  const bool masks = inst.dst[0].bytes == 2;
  const Ref d = masks ? out.new_register() : s.result(inst);
  Instruction& i = out.emit("HSET2", d, {a, b},
                            {{"bf", numbers ? "BF" : ""},
                             {"cmp", float_comparison(compare)},
                             {"bool", combination_word(inst.mods.bool_op)},
                             {"ftz", inst.mods.ftz ? "FTZ" : ""}});
  if (is_bf16(type)) out.set_field(i, "bf16", 1);
  if (inst.mods.bool_op != ptx::BoolOp::none) out.set_condition(i, "Pc", s.condition(inst, 2));
  if (masks) s.mask(s.result(inst), value_of(d), 16);
}

}  // namespace

void compare_halves(Selector& s, const Inst& inst, Ref p, Ref q, ptx::BoolOp combine, Condition with) {
  Builder& out = s.out();
  const Type type = inst.type;
  refuse_generation(s, type);
  if (is_bf16(type) && s.generation() < 90) s.give_up("a comparison of bf16 on this generation");
  if (q && !is_half_pair(type)) s.give_up("a comparison of halves with two results");
  ptx::Compare compare = inst.mods.compare;
  const auto [a, b] = sides_of(s, inst, type, compare);
  const std::string_view word = float_comparison(compare);
  if (word.empty()) s.give_up("a comparison of halves of this kind");
  Instruction& i =
      out.emit("HSETP2", {}, {a, b},
               {{"cmp", word}, {"bool", combination_word(combine)}, {"ftz", inst.mods.ftz ? "FTZ" : ""}});
  if (is_bf16(type)) out.set_field(i, "bf16", 1);
  if (p) out.set_result(i, "Pd", p);
  if (q) out.set_result(i, "Pd2", q);
  out.set_condition(i, "Pc", with);
}

std::span<const SelectionRow> half_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::add, half_sum},      {Op::sub, half_sum},         {Op::mul, half_product},
      {Op::fma, half_fused},    {Op::mad, half_fused},       {Op::min, half_extremum},
      {Op::max, half_extremum}, {Op::neg, change_half_sign}, {Op::abs, change_half_sign},
      {Op::ex2, half_function}, {Op::tanh, half_function},   {Op::set, set_half},
  };
  return rows;
}

}  // namespace simtlab::assembler
