// Arithmetic of f32 and f64.
#include <utility>

#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

using ptx::Rounding;

std::string_view word_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::rm: return "RM";
    case Rounding::rp: return "RP";
    case Rounding::rz: return "RZ";
    default: return "";
  }
}

// What halves are made of is elsewhere.
bool is_half(const Inst& inst) {
  return inst.type == Type::f16 || inst.type == Type::f16x2 || inst.type == Type::bf16 ||
         inst.type == Type::bf16x2;
}
void half(Selector& s, const Inst& inst) {
  for (const SelectionRow& row : conversion_selections())
    if (row.op == inst.op) return row.select(s, inst);
  s.give_up("arithmetic of halves");
}

// +0 as RZ has no sign that sums see; a number with a sign is an immediate.
void arithmetic(Selector& s, const Inst& inst, std::string_view single, std::string_view real,
                std::initializer_list<Value> sources) {
  Builder& out = s.out();
  const std::string_view rounding = word_of(inst.mods.rounding);
  if (inst.type == Type::f64) {
    const Value* const v = sources.begin();
    if (sources.size() == 2)
      out.emit(real, s.result(inst), {s.in_bank(v[0]), s.in_bank(v[1])}, {{"rnd", rounding}});
    else
      out.emit(real, s.result(inst), {s.in_bank(v[0]), s.in_bank(v[1]), s.in_bank(v[2])},
               {{"rnd", rounding}});
    return;
  }
  out.emit(single, s.result(inst), sources,
           {{"rnd", rounding}, {"ftz", inst.mods.ftz ? "FTZ" : ""}, {"sat", inst.mods.sat ? "SAT" : ""}});
}

void add(Selector& s, const Inst& inst) {
  if (is_half(inst)) return half(s, inst);
  Value a = s.source(inst, 0), b = s.source(inst, 1);
  if (inst.op == Op::sub) b.negated = !b.negated;
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  arithmetic(s, inst, "FADD", "DADD", {a, b});
}

void multiply(Selector& s, const Inst& inst) {
  if (is_half(inst)) return half(s, inst);
  Value a = s.source(inst, 0), b = s.source(inst, 1);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  arithmetic(s, inst, "FMUL", "DMUL", {a, b});
}

void fused(Selector& s, const Inst& inst) {
  if (is_half(inst)) return half(s, inst);
  Value a = s.source(inst, 0), b = s.source(inst, 1);
  const Value c = s.source(inst, 2);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  arithmetic(s, inst, "FFMA", "DFMA", {a, b, c});
}

// DSETP.MIN and .MAX say which operand it is, and whether both are NaN.
void extremum_of_doubles(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const Value a = out.as_register(s.plain_source(inst, 0)), b = out.as_register(s.plain_source(inst, 1));
  const Ref first = out.new_predicate(), nan = out.new_predicate(), d = s.result(inst);
  Instruction& i =
      out.emit("DSETP", {}, {a, b}, {{"cmp", inst.op == Op::max ? "MAX" : "MIN"}, {"bool", "AND"}});
  out.set_result(i, "Pd", first);
  out.set_result(i, "Pd2", nan);
  for (const bool high : {false, true}) {
    const Ref word = high ? s.high(d) : s.low(d);
    Instruction& choice = out.emit("SEL", word, {half_of(a, high), half_of(b, high)});
    out.set_condition(choice, "Pc", {first});
    const Condition guarded = out.guard();
    if (guarded.ref) s.give_up("a guarded minimum of f64");
    out.guard({nan});
    out.move(word, high ? number(0x7ff80000u) : zero());
    out.guard(guarded);
  }
}

void extremum(Selector& s, const Inst& inst) {
  if (is_half(inst)) return half(s, inst);
  if (inst.type == Type::f64) return extremum_of_doubles(s, inst);
  if (inst.src_count > 2) s.give_up("a minimum of three values");
  Value a = s.source(inst, 0), b = s.source(inst, 1);
  if (a.kind != Value::Kind::reg) std::swap(a, b);
  Builder& out = s.out();
  const bool xorsign = inst.mods.xorsign;
  if (xorsign)
    for (Value* const v : {&a, &b}) {
      if (v->is_number()) *v = out.as_register(*v);  // its sign counts
      v->absolute = true;
    }
  Instruction& i = out.emit("FMNMX", s.result(inst), {a, b}, {{"ftz", inst.mods.ftz ? "FTZ" : ""}});
  for (const auto& [name, wanted] : {std::pair{"nan", inst.mods.nan}, std::pair{"xorsign", xorsign}}) {
    if (!wanted) continue;
    if (i.code.form->field(name) < 0) s.give_up("a minimum of this kind on this generation");
    out.set_field(i, name, 1);
  }
  out.set_condition(i, "min", {{}, inst.op == Op::max});
}

// Signs are bits: NaN stays as it is.
void change_sign(Selector& s, const Inst& inst) {
  if (is_half(inst)) return half(s, inst);
  const bool absolute = inst.op == Op::abs, real = inst.type == Type::f64;
  const Value from = s.plain_source(inst, 0);
  const Ref d = s.result(inst);
  Builder& out = s.out();
  if (inst.mods.ftz) {
    Value v = out.as_register(from);
    (absolute ? v.absolute : v.negated) = true;
    Instruction& i = out.emit("FSEL", d, {v, zero()}, {{"ftz", "FTZ"}});
    return out.set_condition(i, "sel", always());
  }
  if (real) out.move(s.low(d), half_of(from, false));
  const Value word = real ? half_of(from, true) : from;
  Instruction& i =
      out.emit("LOP3", real ? s.high(d) : d, {word, number(absolute ? 0x7fffffffu : 0x80000000u), zero()});
  out.set_number(i, "lut", absolute ? 0xc0 : 0x3c);
}

struct Function {
  Op op;
  std::string_view word;
};
constexpr Function functions[] = {{Op::cos, "COS"},   {Op::sin, "SIN"},  {Op::ex2, "EX2"},
                                  {Op::lg2, "LG2"},   {Op::rcp, "RCP"},  {Op::rsqrt, "RSQ"},
                                  {Op::sqrt, "SQRT"}, {Op::tanh, "TANH"}};

// What expand() leaves of them: MUFU flushes, all but TANH; angles are in turns.
void approximate(Selector& s, const Inst& inst) {
  if (is_half(inst)) return half(s, inst);
  Builder& out = s.out();
  const Ref d = s.result(inst);
  if (inst.type == Type::f64) {
    if (!inst.mods.approx || !inst.mods.ftz || (inst.op != Op::rcp && inst.op != Op::rsqrt))
      s.give_up("a function of f64 that expand() left");
    Value high = half_of(s.plain_source(inst, 0), true);
    out.emit("MUFU", s.high(d), {high}, {{"op", inst.op == Op::rcp ? "RCP64H" : "RSQ64H"}});
    return out.move(s.low(d), zero());
  }
  const bool angle = inst.op == Op::sin || inst.op == Op::cos;
  if (!inst.mods.approx || (!inst.mods.ftz && inst.op != Op::tanh) || (angle && !inst.mods.turns))
    s.give_up("a function of f32 that expand() left");
  for (const Function& f : functions)
    if (f.op == inst.op) {
      out.emit("MUFU", d, {s.source(inst, 0)}, {{"op", f.word}});
      return;
    }
}

// testp 6: whether a division of f32 needs its slow path (expand.h).
void test(Selector& s, const Inst& inst) {
  constexpr unsigned needs_slow_division = 6;
  if (inst.mods.testp != needs_slow_division) s.give_up("testp that expand() left");
  Builder& out = s.out();
  Instruction& i = out.emit("FCHK", {}, {s.in_register(inst, 0), s.plain_source(inst, 1)});
  out.set_result(i, "Pd", s.result(inst));
}

}  // namespace

std::span<const SelectionRow> floating_selections() {
  static constexpr SelectionRow rows[] = {
      {Op::add, add},          {Op::sub, add},         {Op::mul, multiply},      {Op::fma, fused},
      {Op::mad, fused},        {Op::min, extremum},    {Op::max, extremum},      {Op::neg, change_sign},
      {Op::abs, change_sign},  {Op::cos, approximate}, {Op::sin, approximate},   {Op::ex2, approximate},
      {Op::lg2, approximate},  {Op::rcp, approximate}, {Op::rsqrt, approximate}, {Op::sqrt, approximate},
      {Op::tanh, approximate}, {Op::testp, test},
  };
  return rows;
}

}  // namespace simtlab::assembler
