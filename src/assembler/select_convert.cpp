// Conversions. Registers of 8 and 16 bits hold their value zero-extended to 32 bits.
#include <algorithm>
#include <bit>
#include <utility>

#include "assembler/selector.h"

namespace simtlab::assembler {
namespace {

using ptx::Rounding;

// ---- between integers ----

// The low `kept` bits of a value, with their sign (or zeros) above them, and zeros from bit `until` on.
struct Extension {
  unsigned kept = 0, until = 0;
  bool sign = false;
};

unsigned bits_of(Type type) { return 8 * ptx::size_of(type); }
unsigned result_bits(const Inst& inst) {
  return 8 * (inst.dst[0].bytes != 0 ? inst.dst[0].bytes : ptx::size_of(inst.type));
}

Extension extension_of(const Inst& inst) {
  const unsigned from = bits_of(inst.stype), to = bits_of(inst.type), whole = result_bits(inst);
  const bool sign = ptx::is_signed(inst.type);
  if (to <= from) return {to, whole, sign};
  return {from, sign ? whole : std::min(to, whole), ptx::is_signed(inst.stype)};
}

// From which bit on the register of a source is known to be zero.
unsigned zeros_from(const Selector& s, const Operand& source) {
  const unsigned all = 8u * std::min<unsigned>(source.bytes == 0 ? 4 : source.bytes, 4);
  const Inst* const made = s.definition(source);
  if (made == nullptr || made->dst_count == 0) return all;
  const unsigned made_bits = bits_of(made->type);
  switch (made->op) {
    case Op::ld:
    case Op::ldu: return ptx::is_signed(made->type) ? all : std::min(all, made_bits);
    case Op::cvt:
      return ptx::is_signed(made->type) || !is_integer(made->type) ? all : std::min(all, made_bits);
    case Op::and_:
      for (unsigned i = 0; i < 2; ++i)
        if (const auto n = s.known(made->src[i]); n && *n >> 32 == 0)
          return std::min(all, static_cast<unsigned>(std::bit_width(*n)));
      return all;
    case Op::shr:
      if (const auto n = s.known(made->src[1]); n && !ptx::is_signed(made->type) && *n < made_bits)
        return std::min(all, made_bits - static_cast<unsigned>(*n));
      return all;
    default: return all;
  }
}

std::uint64_t extended_number(std::uint64_t bits, const Extension& e) {
  const unsigned drop = 64 - e.kept;
  bits <<= drop;
  bits = e.sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> drop) : bits >> drop;
  return e.until >= 64 ? bits : bits & ((std::uint64_t{1} << e.until) - 1);
}

void extend_word(Selector& s, Ref d, const Value& word, unsigned zeros, const Extension& e) {
  Builder& out = s.out();
  const unsigned kept = std::min(e.kept, e.until);
  const bool sign = e.sign && e.until > kept && kept < 32;
  if (!sign) {
    if (kept >= 32 || zeros <= kept) return out.move(d, word);
    return s.mask(d, word, kept);
  }
  // Bytes of RZ are zeros; 8 added to a number of a byte means its sign.
  const std::uint32_t bytes = kept == 16 ? 0x9910 : e.until == 16 ? 0x4480 : 0x8880;
  out.emit("PRMT", d, {word, number(bytes), zero()});
}

void extend(Selector& s, Ref d, const Value& from, unsigned zeros, const Extension& e) {
  Builder& out = s.out();
  if (from.is_number()) {
    const std::uint64_t bits = extended_number(from.bits, e);
    return out.move(d, d.count == 2 ? number(bits, true) : number(bits & 0xffffffffu));
  }
  extend_word(s, s.low(d), from.wide ? half_of(from, false) : from, zeros, e);
  if (d.count != 2) return;
  if (e.kept == 64) {
    if (!from.wide) s.give_up("a conversion of 64 bits from a narrower register");
    return out.move(s.high(d), half_of(from, true));
  }
  if (!e.sign || e.until < 64) return out.move(s.high(d), zero());
  out.emit("SHF", s.high(d), {zero(), number(31), value_of(s.low(d))},
           {{"dir", "R"}, {"type", "S32"}, {"hi", "HI"}});
}

// ---- with saturation ----

Ref limit(Selector& s, const Value& a, std::uint32_t bound, bool to_smaller, bool sign) {
  Builder& out = s.out();
  const Ref d = out.new_register();
  Instruction& i = out.has_form("IMNMX")
                       ? out.emit("IMNMX", d, {a, number(bound)}, {{"u32", sign ? "" : "U32"}})
                       : out.emit("VIMNMX", d, {a, number(bound)}, {{"fmt", sign ? "" : "U32"}});
  out.set_condition(i, "min", {{}, !to_smaller});
  return d;
}

Ref test_word(Selector& s, const Value& a, std::string_view compare, const Value& b) {
  Builder& out = s.out();
  const Ref p = out.new_predicate();
  Instruction& i = out.emit("ISETP", {}, {a, b}, {{"cmp", compare}, {"bool", "AND"}});
  out.set_result(i, "Pd", p);
  return p;
}

// d = p ? a : b
void choose(Selector& s, Ref d, Condition p, Value a, Value b) {
  if (a.kind != Value::Kind::reg) {
    std::swap(a, b);
    p.inverted = !p.inverted;
  }
  Instruction& i = s.out().emit("SEL", d, {a, b});
  s.out().set_condition(i, "Pc", p);
}

Ref ones_if(Selector& s, Ref p) {
  const Ref d = s.out().new_register();
  choose(s, d, {p}, number(0xffffffffu), zero());
  return d;
}

Ref logic_of(Selector& s, std::uint8_t table, const Value& a, const Value& b, const Value& c = zero()) {
  const Ref d = s.out().new_register();
  Instruction& i = s.out().emit("LOP3", d, {a, b, c});
  s.out().set_number(i, "lut", table);
  return d;
}

// 64 bits within those of 32.
Ref limit_wide(Selector& s, const Value& a, bool from_sign, bool to_sign) {
  Builder& out = s.out();
  constexpr std::uint8_t either = 0xfc, differ = 0x3c, first_and_others = 0xe0;
  const Value low = half_of(a, false), high = half_of(a, true);
  const auto sign_of = [&](const Value& word) {
    const Ref d = out.new_register();
    out.emit("SHF", d, {zero(), number(31), word}, {{"dir", "R"}, {"type", "S32"}, {"hi", "HI"}});
    return value_of(d);
  };
  if (from_sign && to_sign) {
    const Value bound = value_of(logic_of(s, differ, sign_of(high), number(0x7fffffffu)));
    const Ref fits = test_word(s, high, "EQ", sign_of(low)), d = out.new_register();
    choose(s, d, {fits}, low, bound);
    return d;
  }
  const Value above = value_of(ones_if(s, test_word(s, high, "NE", zero())));
  if (from_sign) {
    const Value positive = value_of(ones_if(s, test_word(s, high, "GE", zero())));
    return logic_of(s, first_and_others, positive, above, low);
  }
  const Ref d = logic_of(s, either, above, low);
  return to_sign ? limit(s, value_of(d), 0x7fffffffu, true, false) : d;
}

void saturate_to_wide(Selector& s, const Inst& inst, const Value& a) {
  Builder& out = s.out();
  const Ref d = s.result(inst);
  const bool from_sign = ptx::is_signed(inst.stype), to_sign = ptx::is_signed(inst.type);
  if (from_sign == to_sign || (!from_sign && !a.wide))
    return extend(s, d, a, zeros_from(s, inst.src[0]), extension_of(inst));
  if (d.count != 2) s.give_up("the lower half of a saturated integer");
  if (!a.wide) {
    const Value word = bits_of(inst.stype) < 32 ? s.sign_extended(a, bits_of(inst.stype)) : a;
    out.move(s.low(d), value_of(limit(s, word, 0, false, true)));
    return out.move(s.high(d), zero());
  }
  const Ref negative = test_word(s, half_of(a, true), "LT", zero());
  for (const bool high : {false, true}) {
    const Value bound = from_sign ? zero() : number(high ? 0x7fffffffu : 0xffffffffu);
    choose(s, high ? s.high(d) : s.low(d), {negative, true}, half_of(a, high), bound);
  }
}

void saturate_integer(Selector& s, const Inst& inst) {
  const Value source = s.in_register(inst, 0);
  if (bits_of(inst.type) == 64) return saturate_to_wide(s, inst, source);
  const unsigned from = bits_of(inst.stype), to = bits_of(inst.type);
  const bool from_sign = ptx::is_signed(inst.stype), to_sign = ptx::is_signed(inst.type);
  Value word = source.wide && from < 64 ? half_of(source, false) : source;
  bool sign = from_sign;
  if (from == 64) {
    const bool narrow = to < 32;
    sign = narrow ? from_sign : to_sign;
    word = value_of(limit_wide(s, source, from_sign, sign));
  } else if (from < 32 && from_sign) {
    word = s.sign_extended(word, from);
  } else if (from < 32 && zeros_from(s, inst.src[0]) > from) {
    const Ref masked = s.out().new_register();
    s.mask(masked, word, from);
    word = value_of(masked);
  }
  // What the type can hold, of a word with or without sign
  const std::uint32_t most = 0xffffffffu >> (32 - to + (to_sign ? 1 : 0));
  if (sign && from >= 32 && to < 32 && s.out().has_form("I2I")) {
    const Ref d = s.out().new_register();
    s.out().emit("I2I", d, {word}, {{"type", to == 8 ? (to_sign ? "S8" : "U8") : (to_sign ? "S16" : "U16")}});
    word = value_of(d);
  } else {
    if (sign && (!to_sign || to < std::min(from, 32u)))
      word = value_of(limit(s, word, to_sign ? ~most : 0, false, true));
    if (to < std::min(from, 32u) || (to == from && to_sign && !sign) || (from == 64 && to < 32))
      word = value_of(limit(s, word, most, true, sign));
  }
  extend(s, s.result(inst), word, to_sign ? 32 : to, {to, result_bits(inst), to_sign});
}

void between_integers(Selector& s, const Inst& inst) {
  if (inst.mods.sat) return saturate_integer(s, inst);
  extend(s, s.result(inst), s.plain_source(inst, 0), zeros_from(s, inst.src[0]), extension_of(inst));
}

// ---- floats ----

unsigned float_code(Type type) {
  switch (type) {
    case Type::f16: return 1;
    case Type::f32: return 2;
    case Type::f64: return 3;
    case Type::bf16: return 4;
    default: Selector::give_up("a conversion of this type");
  }
}
unsigned integer_code(Type type) { return static_cast<unsigned>(std::countr_zero(ptx::size_of(type))); }

std::string_view rounding_word(const Inst& inst) {
  switch (inst.mods.rounding) {
    case Rounding::none:
    case Rounding::rn: return "";
    case Rounding::rm: return "RM";
    case Rounding::rp: return "RP";
    case Rounding::rz: return "RZ";
    default: Selector::give_up("a conversion with this rounding");
  }
}
std::string_view integral_word(const Inst& inst) {
  switch (inst.mods.rounding) {
    case Rounding::rm:
    case Rounding::rmi: return "FLOOR";
    case Rounding::rp:
    case Rounding::rpi: return "CEIL";
    case Rounding::rn:
    case Rounding::rni: return "";
    default: return "TRUNC";
  }
}
bool is_integral(Rounding r) {
  return r == Rounding::rni || r == Rounding::rzi || r == Rounding::rmi || r == Rounding::rpi;
}

void refuse_bf16(const Selector& s, Type to, Type from) {
  if ((to == Type::bf16 || from == Type::bf16) && s.generation() < 90)
    Selector::give_up("a conversion of bf16 on this generation");
}

// Those of 64 bits have a name of their own.
std::string_view sized(std::string_view plain, std::string_view wide, const Inst& inst) {
  return ptx::size_of(inst.type) == 8 || ptx::size_of(inst.stype) == 8 ? wide : plain;
}

// What is put behind a conversion to f32: v * 1 flushes, 0 + v saturates.
void flush_single(Selector& s, Ref d, const Value& v) {
  s.out().emit("FMUL", d, {v, number(0x3f800000u)}, {{"ftz", "FTZ"}});
}
void saturate_single(Selector& s, Ref d, const Value& v, bool ftz) {
  s.out().emit("FADD", d, {zero(), v}, {{"sat", "SAT"}, {"ftz", ftz ? "FTZ" : ""}});
}
Value negative_zero() {
  Value v = zero();
  v.negated = true;
  return v;
}
void saturate_half(Selector& s, Ref d, const Value& v, bool ftz) {
  s.out().emit("HADD2", d, {v, negative_zero()}, {{"sat", "SAT"}, {"ftz", ftz ? "FTZ" : ""}});
}
// v > 0 ? (v < 1 ? v : 1) : 0
void saturate_double(Selector& s, Ref d, const Value& v) {
  Builder& out = s.out();
  const Ref limited = out.new_register(2);
  const auto test = [&](const Value& a, std::string_view compare, const Value& b) {
    const Ref p = out.new_predicate();
    Instruction& i = out.emit("DSETP", {}, {a, b}, {{"cmp", compare}, {"bool", "AND"}});
    out.set_result(i, "Pd", p);
    return p;
  };
  const Ref positive = test(v, "GT", zero());
  for (const bool high : {false, true})
    choose(s, high ? s.high(limited) : s.low(limited), {positive}, half_of(v, high), zero());
  constexpr std::uint64_t one = 0x3ff0000000000000ull;
  const Ref small = test(value_of(limited), "LT", number(one, true));
  for (const bool high : {false, true})
    choose(s, high ? s.high(d) : s.low(d), {small}, value_of(high ? s.high(limited) : s.low(limited)),
           number(high ? one >> 32 : 0));
}
void saturate_float(Selector& s, Type type, Ref d, const Value& v, bool ftz) {
  switch (type) {
    case Type::f32: return saturate_single(s, d, v, ftz);
    case Type::f64: return saturate_double(s, d, v);
    case Type::f16: return saturate_half(s, d, v, ftz);
    default: s.give_up("a conversion to this type that saturates");
  }
}

void integer_to_float(Selector& s, const Inst& inst) {
  refuse_bf16(s, inst.type, inst.stype);
  Builder& out = s.out();
  const unsigned bits = bits_of(inst.stype);
  const bool sign = ptx::is_signed(inst.stype);
  Value v = s.plain_source(inst, 0);
  if (v.wide && bits < 64) v = half_of(v, false);
  if (bits == 64 && !v.wide) s.give_up("a conversion of 64 bits from a narrower register");
  const Ref d = inst.mods.sat ? out.new_register(ptx::size_of(inst.type) == 8 ? 2 : 1) : s.result(inst);
  const std::string_view rounding = rounding_word(inst);
  const bool packs = inst.type == Type::f32 && bits <= 32 && (bits == 32 || !sign) &&
                     (rounding.empty() || rounding == "RZ") && out.has_form("I2FP");
  if (packs) {
    if (zeros_from(s, inst.src[0]) > bits) {
      const Ref masked = out.new_register();
      s.mask(masked, v, bits);
      v = value_of(masked);
    }
    Instruction& i = out.emit("I2FP", d, {v}, {{"signed", sign ? "S32" : "U32"}, {"rnd", rounding}});
    out.set_field(i, "dst", float_code(Type::f32));
    out.set_field(i, "src", integer_code(Type::u32));
  } else {
    // An immediate of 64 bits would be the upper half.
    if (v.is_number()) v = out.as_register(v);
    Instruction& i = out.emit(sized("I2F", "I2F.64", inst), d, {v}, {{"rnd", rounding}});
    out.set_field(i, "dst", float_code(inst.type));
    out.set_field(i, "src", integer_code(inst.stype));
    out.set_field(i, "signed", sign ? 1 : 0);
  }
  if (inst.mods.sat) saturate_float(s, inst.type, s.result(inst), value_of(d), inst.mods.ftz);
}

void float_to_integer(Selector& s, const Inst& inst) {
  refuse_bf16(s, inst.type, inst.stype);
  Builder& out = s.out();
  const unsigned bits = bits_of(inst.type);
  const bool sign = ptx::is_signed(inst.type);
  Value v = inst.stype == Type::f32 || inst.stype == Type::f64 ? s.source(inst, 0) : s.plain_source(inst, 0);
  if (v.is_number()) v = out.as_register(v);
  const Ref whole = s.result(inst);
  const bool extends =
      bits == 8 || (bits == 16 && sign) || bits < 32 * whole.count || (whole.count == 1 && bits == 64);
  const Ref d = extends ? out.new_register(bits == 64 ? 2 : 1) : whole;
  const std::string_view rounding = integral_word(inst);
  if (inst.type == Type::u8 && inst.stype == Type::f32 && v.plain() && !inst.mods.ftz &&
      out.has_form("F2IP")) {
    out.emit("F2IP", d, {zero(), v, zero()}, {{"s8", "U8"}, {"rnd", rounding}, {"ntz", "NTZ"}});
  } else {
    const bool nan_is_zero = inst.stype != Type::f64 && bits != 64;
    Instruction& i =
        out.emit(sized("F2I", "F2I.64", inst), d, {v},
                 {{"rnd", rounding}, {"ftz", inst.mods.ftz ? "FTZ" : ""}, {"ntz", nan_is_zero ? "NTZ" : ""}});
    out.set_field(i, "dst", integer_code(inst.type));
    out.set_field(i, "src", float_code(inst.stype));
    out.set_field(i, "signed", sign ? 1 : 0);
  }
  if (extends) extend(s, whole, value_of(d), bits == 16 && !sign ? 16 : 32, {bits, result_bits(inst), sign});
}

// The sum or product before it saturates instead (Fold::operand).
bool saturates_before(Selector& s, const Inst& inst, const Value& v) {
  if (inst.fold != Fold::operand || !v.ref || !v.plain()) return false;
  std::vector<Instruction>& code = s.program().blocks[s.out().block()].code;
  for (std::size_t k = code.size(); k-- > 0;) {
    Instruction& i = code[k];
    if (i.code.operand_count() == 0 || !i.is_write(0) || i.refs[0] != v.ref) continue;
    if (i.guarded() || i.code.form->field("sat") < 0) return false;
    if (inst.mods.ftz && i.code.field("ftz") == 0) return false;
    s.out().set_field(i, "sat", 1);
    return true;
  }
  return false;
}

// A rounding to an integer, saturation, or flushing.
void within_type(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const Type type = inst.type;
  const bool single = type == Type::f32, real = type == Type::f64, integral = is_integral(inst.mods.rounding);
  Value v = single || real ? s.source(inst, 0) : s.plain_source(inst, 0);
  const Ref result = s.result(inst);
  const std::string_view ftz = inst.mods.ftz ? "FTZ" : "";
  if (integral) {
    refuse_bf16(s, type, type);
    const Ref d = inst.mods.sat ? out.new_register(real ? 2 : 1) : result;
    if (v.is_number()) v = out.as_register(v);
    Instruction& i =
        out.emit(sized("FRND", "FRND.64", inst), d, {v}, {{"rnd", integral_word(inst)}, {"ftz", ftz}});
    out.set_field(i, "dst", float_code(type));
    out.set_field(i, "src", float_code(type));
    v = value_of(d);
    if (!inst.mods.sat) return;
  }
  if (inst.mods.sat) {
    if (!integral && single && saturates_before(s, inst, v)) return out.move(result, v);
    return saturate_float(s, type, result, v, inst.mods.ftz);
  }
  if (single) {
    if (v.kind != Value::Kind::reg) v = out.as_register(v);
    out.emit("FADD", result, {v, negative_zero()}, {{"ftz", ftz}});
  } else if (type == Type::f16) {
    out.emit("HADD2", result, {v, negative_zero()}, {{"ftz", ftz}});
  } else {
    out.move(result, v);
  }
}

void widen_half(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  Value v = s.plain_source(inst, 0);
  const Ref result = s.result(inst);
  // f16 has no numbers that f32 would flush.
  const bool flushes = inst.mods.ftz && inst.stype == Type::bf16;
  const Ref d = inst.mods.sat || flushes ? out.new_register() : result;
  if (inst.stype == Type::bf16) {
    out.emit("SHF", d, {v, number(16), zero()}, {{"dir", "L"}, {"type", "U32"}});
  } else {
    constexpr std::uint8_t low_twice = 2;
    if (v.is_number()) v = out.as_register(v);
    v.half = low_twice;
    Value nothing = negative_zero();
    nothing.half = low_twice;
    out.emit("HADD2", d, {nothing, v}, {{"f32", "F32"}});
  }
  if (inst.mods.sat) return saturate_single(s, result, value_of(d), inst.mods.ftz);
  if (flushes) flush_single(s, result, value_of(d));
}

// To one half; F2FP puts zeros above it.
void narrow_single(Selector& s, const Inst& inst, Ref d) {
  Builder& out = s.out();
  const std::string_view rounding = rounding_word(inst);
  const bool to_bf16 = inst.type == Type::bf16;
  const bool directed = rounding == "RM" || rounding == "RP";
  if (out.has_form("F2FP") && !directed) {
    Instruction& i = out.emit("F2FP", d, {zero(), s.plain_source(inst, 0), zero()},
                              {{"merge", inst.mods.relu ? "MERGE_C" : "PACK_AB"},
                               {"relu", inst.mods.relu ? "RELU" : ""},
                               {"rnd", rounding}});
    return out.set_field(i, "dst", to_bf16 ? 1 : 0);
  }
  if (to_bf16 || inst.mods.relu) s.give_up("a conversion to halves on this generation");
  Value v = s.source(inst, 0);
  if (v.is_number()) v = out.as_register(v);
  if (rounding == "RZ" && v.plain() && v.kind == Value::Kind::reg) {
    constexpr std::uint8_t from_single = 1;
    const Ref twice = out.new_register();
    v.half = from_single;
    out.emit("HADD2", twice, {v, negative_zero()});
    return s.mask(d, value_of(twice), 16);
  }
  Instruction& i = out.emit("F2F", d, {v}, {{"rnd", rounding}, {"ftz", inst.mods.ftz ? "FTZ" : ""}});
  out.set_field(i, "dst", float_code(inst.type));
  out.set_field(i, "src", float_code(inst.stype));
}

// To nearest, ties away from zero: half a unit is added to what is finite.
void round_to_tf32(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  const Ref d = s.result(inst);
  if (inst.mods.rounding != Rounding::rna) {
    if (s.generation() < 90) s.give_up("a conversion to tf32 on this generation");
    constexpr unsigned tf32_format = 4, unpacks = 4;
    Instruction& i = out.emit(
        "F2FP", d, {zero(), s.plain_source(inst, 0), zero()},
        {{"merge", "MERGE_C"}, {"relu", inst.mods.relu ? "RELU" : ""}, {"rnd", rounding_word(inst)}});
    out.set_field(i, "dst", 1);
    out.set_field(i, "unknown", tf32_format);
    return out.set_field(i, "sat_unpack", unpacks);
  }
  if (inst.mods.relu || inst.mods.sat) s.give_up("a conversion to tf32 of this kind");
  Value v = s.in_register(inst, 0), size = v;
  size.absolute = true;
  const Ref sum = out.new_register(), rounded = out.new_register(), beyond = out.new_predicate();
  Instruction& test = out.emit("FSETP", {}, {size, number(0x7f800000u)}, {{"cmp", "GEU"}, {"bool", "AND"}});
  out.set_result(test, "Pd", beyond);
  out.emit("IADD3", sum, {v, number(0x1000), zero()});
  choose(s, rounded, {beyond}, v, value_of(sum));
  Instruction& i = out.emit("LOP3", d, {value_of(rounded), number(0xffffe000u), zero()});
  out.set_number(i, "lut", 0xc0);
}

void between_floats(Selector& s, const Inst& inst) {
  const Type to = inst.type, from = inst.stype;
  Builder& out = s.out();
  if (to == Type::tf32) return round_to_tf32(s, inst);
  if (to == from) return within_type(s, inst);
  if (is_integral(inst.mods.rounding)) s.give_up("a rounding to an integer of another type");
  if (to == Type::f32 && is_single_half(from)) return widen_half(s, inst);
  const Ref result = s.result(inst);
  const bool flushes = inst.mods.ftz && to == Type::f32;
  const bool more = inst.mods.sat || flushes;
  const Ref d = more ? out.new_register(to == Type::f64 ? 2 : 1) : result;
  if (is_single_half(to) && from == Type::f32) {
    narrow_single(s, inst, d);
  } else {
    if (inst.mods.relu) s.give_up("a conversion with .relu of these types");
    refuse_bf16(s, to, from);
    Value v = is_single_half(from) ? s.plain_source(inst, 0) : s.source(inst, 0);
    if (inst.mods.ftz && from == Type::f32) {
      const Ref flushed = out.new_register();
      flush_single(s, flushed, v);
      v = value_of(flushed);
    }
    if (v.is_number()) v = out.as_register(v);
    const std::string_view rounding = ptx::size_of(to) > ptx::size_of(from) ? "" : rounding_word(inst);
    Instruction& i = out.emit(sized("F2F", "F2F.64", inst), d, {v}, {{"rnd", rounding}});
    out.set_field(i, "dst", float_code(to));
    out.set_field(i, "src", float_code(from));
  }
  if (inst.mods.sat) return saturate_float(s, to, result, value_of(d), flushes);
  if (flushes) flush_single(s, result, value_of(d));
}

// ---- pairs ----

bool is_byte_pair(Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; }

// The first source is the upper element.
void pack_singles(Selector& s, const Inst& inst) {
  Builder& out = s.out();
  if (!out.has_form("F2FP") || inst.mods.sat) s.give_up("a conversion to a pair of halves of this kind");
  Instruction& i =
      out.emit("F2FP", s.result(inst), {s.plain_source(inst, 0), s.plain_source(inst, 1), zero()},
               {{"relu", inst.mods.relu ? "RELU" : ""}, {"rnd", rounding_word(inst)}});
  out.set_field(i, "dst", inst.type == Type::bf16x2 ? 1 : 0);
}

// Pairs of bytes; what the bits of F2FP mean: machine/semantics_convert.cpp
void convert_bytes(Selector& s, const Inst& inst) {
  if (s.generation() < 90) s.give_up("a conversion of fp8 on this generation");
  constexpr unsigned bytes = 1, unpacks = 4, merges = 8, finite = 2;
  Builder& out = s.out();
  const bool two = inst.src_count == 2, to_bytes = is_byte_pair(inst.type);
  const Value first = two ? s.plain_source(inst, 0) : zero(), second = s.plain_source(inst, two ? 1 : 0);
  Instruction& i = out.emit("F2FP", s.result(inst), {first, second, zero()},
                            {{"relu", inst.mods.relu ? "RELU" : ""},
                             {"rnd", rounding_word(inst)},
                             {"merge", two ? "MERGE_C" : "PACK_AB"}});
  if (to_bytes) {
    if (!two && inst.stype != Type::f16x2) s.give_up("a conversion to fp8 of this type");
    out.set_field(i, "dst", (inst.type == Type::e4m3x2 ? 1u : 0u) | (inst.mods.sat ? finite : 0u));
    out.set_field(i, "src", two ? 0 : 1);
    return out.set_field(i, "sat_unpack", bytes | merges | (two ? 0 : unpacks));
  }
  if (inst.type != Type::f16x2) s.give_up("a conversion of fp8 to this type");
  out.set_field(i, "src", inst.stype == Type::e4m3x2 ? 3 : 2);
  out.set_field(i, "sat_unpack", unpacks);
}

void convert(Selector& s, const Inst& inst) {
  if (is_byte_pair(inst.type) || is_byte_pair(inst.stype)) return convert_bytes(s, inst);
  if (is_half_pair(inst.type)) return pack_singles(s, inst);
  const bool from = is_integer(inst.stype), to = is_integer(inst.type);
  if (from) return to ? between_integers(s, inst) : integer_to_float(s, inst);
  return to ? float_to_integer(s, inst) : between_floats(s, inst);
}

}  // namespace

std::span<const SelectionRow> conversion_selections() {
  static const std::vector<SelectionRow> rows = [] {
    const std::span<const SelectionRow> halves = half_selections();
    std::vector<SelectionRow> all(halves.begin(), halves.end());
    all.push_back({Op::cvt, convert});
    return all;
  }();
  return rows;
}

}  // namespace simtlab::assembler
