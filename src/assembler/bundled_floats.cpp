#include <optional>
#include <string>
#include <utility>

#include "assembler/bundled_rewriter.h"
#include "assembler/control_effects.h"

namespace simtlab::assembler {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000u;

// A number of 32 bits with its signs
std::uint32_t float_bits(const Value& v) {
  auto bits = static_cast<std::uint32_t>(v.bits);
  if (v.absolute) bits &= ~sign_bit;
  if (v.negated) bits ^= sign_bit;
  return bits;
}

}  // namespace

void Bundler::float_sum(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  const std::string name(i.code.mnemonic());
  const bool plain_rounding = word(i, "rnd").empty() && word(i, "sat").empty() && word(i, "scale").empty();
  for (std::size_t k = 0; k < 2; ++k) {
    const Value &x = v[k], &other = v[1 - k];
    if (!x.is_number() || x.bits == 0 || other.kind != Value::Kind::reg || !plain_rounding) continue;
    if (b_.out().form_for(name, std::vector<Value>{other, x}) != nullptr) continue;
    Value first = other;
    std::uint32_t bits = float_bits(x);
    if (name == "FMUL" && first.negated) {
      bits ^= sign_bit;
      first.negated = false;
    }
    if (name == "FMUL" && first.absolute) break;
    b_.emit(name + "32I", result(i), {first, number(bits)}, {{"ftz", word(i, "ftz")}});
    return;
  }
  float_product(i);
}

void Bundler::float_product(const Instruction& i) {
  std::vector<Value> v = sources(i);
  const std::string_view name = i.code.mnemonic();
  if (name == "FMUL" || name == "FFMA" || name == "DMUL" || name == "DFMA") {
    const bool wide = name.starts_with('D');
    for (Value& x : v)
      if (x.absolute) x = absolute(x, wide);
    const bool negated = v[0].negated != v[1].negated;
    v[0].negated = v[1].negated = false;
    if (v[0].kind != Value::Kind::reg || v[0].is_zero_register()) std::swap(v[0], v[1]);
    v[1].negated = negated;
  } else if ((name == "FADD" || name == "DADD") && v[0].kind != Value::Kind::reg) {
    std::swap(v[0], v[1]);
  }
  with_name(i, name, v);
}

Value Bundler::absolute(Value v, bool wide) {
  const bool negated = std::exchange(v.negated, false);
  Value nothing = zero();
  nothing.negated = true;
  const Ref t = b_.temporary(wide ? 2 : 1);
  b_.emit(wide ? "DADD" : "FADD", t, {in_register(v), nothing}, {});
  Value out = value_of(t);
  out.negated = negated;
  return out;
}

void Bundler::float_select(const Instruction& i) {
  std::vector<Value> v = sources(i);
  if (!word(i, "ftz").empty()) {
    // A sum with -0 flushes.
    const Condition which = condition(i, "sel");
    if (which.ref) throw GivenUp{"a choice of floats that flushes"};
    Value nothing = zero();
    nothing.negated = true;
    b_.emit("FADD", result(i), {in_register(v[which.inverted ? 1 : 0]), nothing}, {{"ftz", "FTZ"}});
    return;
  }
  for (Value& x : v) x = without_signs(x);
  Condition c = condition(i, "sel");
  if (v[0].kind != Value::Kind::reg) {
    std::swap(v[0], v[1]);
    c.inverted = !c.inverted;
  }
  emit_choice(i, v, c);
}

Value Bundler::without_signs(Value x) {
  if (x.plain()) return x;
  if (x.is_number()) return number(float_bits(x));
  const bool flips = std::exchange(x.negated, false), clears = std::exchange(x.absolute, false);
  const Value y = b_.out().as_register(x);
  const Ref t = b_.temporary();
  if (clears) b_.emit("LOP32I", t, {y, number(~sign_bit)}, {{"op", "AND"}});
  if (flips) b_.emit("LOP32I", t, {clears ? value_of(t) : y, number(sign_bit)}, {{"op", "XOR"}});
  return value_of(t);
}

void Bundler::emit_choice(const Instruction& i, std::vector<Value>& v, const Condition& c) {
  make_fit("SEL", v);
  Instruction& made = b_.emit("SEL", result(i), {v[0], v[1]});
  b_.out().set_condition(made, "Pc", c);
}

void Bundler::choose(const Instruction& i) {
  std::vector<Value> v = sources(i);
  if (chooses_word(i, v)) return;
  Condition c = condition(i, "Pc");
  if (v[0].kind != Value::Kind::reg && !(v[0].is_number() && v[0].bits == 0)) {
    std::swap(v[0], v[1]);
    c.inverted = !c.inverted;
  }
  emit_choice(i, v, c);
}

void Bundler::compare_doubles(const Instruction& i) {
  const std::string_view cmp = word(i, "cmp");
  if (cmp != "MIN" && cmp != "MAX") return float_product(i);
  const Ref first = result(i, "Pd"), both = result(i, "Pd2");
  if (i.guarded() || !first || !both) throw GivenUp{"a minimum of doubles of this kind"};
  const std::vector<Value> v = sources(i);
  const Ref d = b_.temporary(2);
  Instruction& out = b_.emit("DMNMX", d, {v[0], v[1]});
  b_.out().set_condition(out, "min", {{}, cmp == "MAX"});
  extrema_.push_back({first.reg, v[0].ref, d});
  settled_.push_back(both.reg);
}

bool Bundler::chooses_word(const Instruction& i, const std::vector<Value>& v) {
  const Condition c = condition(i, "Pc");
  for (const Extremum& e : extrema_) {
    if (!c.ref || c.ref.reg != e.predicate) continue;
    b_.out().move(result(i), value_of(part_of(e.result, v[0].ref == part_of(e.operand, 0) ? 0 : 1)));
    return true;
  }
  return false;
}

void Bundler::check_division(const Instruction& i) {
  std::vector<Value> v = sources(i);
  v[0] = in_register(v[0]);
  make_fit("FCHK", v);
  b_.out().set_result(b_.emit("FCHK", {}, {v[0], v[1]}, {}), "Pd", result(i, "Pd"));
}

// Constants and numbers beside halves are something else there: floats, and the upper bits of each half.
void Bundler::halves(const Instruction& i) {
  std::vector<Value> v = sources(i);
  for (Value& x : v) x = in_register(x);
  with_name(i, i.code.mnemonic(), v);
}

void Bundler::half_sum(const Instruction& i) {
  const std::vector<Value> v = sources(i);
  const std::size_t from = v[0].is_zero_register() ? 1 : 0;
  if (word(i, "f32").empty() || !v[1 - from].is_zero_register() || v[from].kind != Value::Kind::reg)
    return halves(i);
  constexpr std::uint8_t low = 2, high = 3;
  if (v[from].half != low && v[from].half != high) throw GivenUp{"a conversion of a pair of halves"};
  Value x = v[from];
  x.half = 0;
  Instruction& out = b_.emit("F2F", result(i), {x}, {});
  constexpr unsigned f16 = 1, f32 = 2;
  b_.out().set_field(out, "dst", f32);
  b_.out().set_field(out, "src", f16);
  if (v[from].half == high) b_.out().set_field(out, "h1", 1);
}

void Bundler::special(const Instruction& i) {
  std::vector<Value> v = sources(i);
  const std::string_view op = word(i, "op");
  if (op == "TANH") throw GivenUp{"a hyperbolic tangent on this generation"};
  if (op == "SQRT") {
    // 1 / (1 / sqrt(x))
    const Ref t = b_.temporary();
    b_.emit("MUFU", t, {in_register(v[0])}, {{"op", "RSQ"}});
    b_.emit("MUFU", result(i), {value_of(t)}, {{"op", "RCP"}});
    return;
  }
  if (op == "SIN" || op == "COS") {
    const std::optional<Value> angle = angle_of(v[0]);
    if (!angle) throw GivenUp{"turns that are not made of an angle"};
    const Ref t = b_.temporary();
    b_.emit("RRO", t, {*angle}, {{"op", "SINCOS"}});
    v[0] = value_of(t);
  }
  if (op == "EX2") {
    const Ref t = b_.temporary();
    b_.emit("RRO", t, {v[0]}, {{"op", "EX2"}});
    v[0] = value_of(t);
  }
  v[0] = in_register(v[0]);
  with_name(i, "MUFU", v);
}

std::optional<Value> Bundler::angle_of(const Value& turns) const {
  constexpr std::uint32_t turns_a_radian = 0x3e22f983u;
  if (turns.kind != Value::Kind::reg || !turns.plain()) return std::nullopt;
  const Instruction* const by = writer_in_block(turns.ref, at_);
  if (by == nullptr || by->code.mnemonic() != "FMUL") return std::nullopt;
  const std::vector<Value> factors = sources(*by);
  std::optional<Value> out;
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
    if (factors[k].is_number() && static_cast<std::uint32_t>(factors[k].bits) == turns_a_radian &&
        factors[k].plain())
      out = factors[1 - k];
  return out;
}

void Bundler::convert(const Instruction& i) {
  const std::string_view base = base_mnemonic(i.code);
  std::string name(base);
  const bool rounds = base == "FRND";
  if (rounds) name = "F2F.ROUND";
  std::vector<Value> v = sources(i);
  if (v[0].half != 0 || v[0].part > 1) throw GivenUp{"a part of a register that is converted"};
  const bool upper = v[0].part == 1;
  v[0].part = 0;
  if (v[0].is_number() && v[0].bits != 0) v[0] = in_register(v[0]);
  if (v[0].is_number()) v[0] = zero();
  if (v[0].wide && v[0].kind == Value::Kind::reg && v[0].ref.count == 1) v[0].ref.count = 2;
  const bool byte = base == "F2I" && i.code.field("dst") == 0;
  const Ref d = byte ? b_.temporary() : result(i);
  Instruction& out = b_.emit(name, d, {v[0]}, {});
  b_.out().set_field(out, "dst", byte ? 2 : i.code.field("dst"));
  b_.out().set_field(out, "src", i.code.field("src"));
  if (out.code.form->field("ftz") >= 0) b_.out().set_field(out, "ftz", i.code.field("ftz"));
  if (out.code.form->field("rnd") >= 0) b_.out().set_field(out, "rnd", i.code.field("rnd"));
  if (i.code.form->field("sat") >= 0) b_.out().set_field(out, "sat", i.code.field("sat"));
  if (base == "F2I" || base == "I2F") {
    b_.out().set_field(out, "signed", i.code.field("signed"));
    // Bytes instead of parts
    if (const unsigned sub = i.code.field("sub"); sub != 0)
      b_.out().set_field(out, "sub", sub * (i.code.field("src") == 1 ? 2 : 1));
  }
  if (upper) b_.out().set_field(out, "h1", 1);
  if (byte) bound_byte(result(i), value_of(d), i.code.field("signed") != 0);
}

void Bundler::bound_byte(Ref d, const Value& x, bool is_signed) {
  const FieldWord sign{"u32", is_signed ? "" : "U32"};
  if (!is_signed) {
    b_.emit("IMNMX", d, {x, number(255)}, {sign});
    return;
  }
  const Ref t = b_.temporary();
  Instruction& most = b_.emit("IMNMX", t, {x, number(0u - 128)}, {sign});
  b_.out().set_condition(most, "min", never());
  b_.emit("IMNMX", d, {value_of(t), number(127)}, {sign});
}

}  // namespace simtlab::assembler
