// Conversions from and to floats.
#include "assembler/select_convert.h"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "base/immortal.h"

namespace simtlab::assembler {
namespace {

using ptx::Rounding;

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
    choose_word(s, high ? s.high(limited) : s.low(limited), {positive}, half_of(v, high), zero());
  constexpr std::uint64_t one = 0x3ff0000000000000ull;
  const Ref small = test(value_of(limited), "LT", number(one, true));
  for (const bool high : {false, true})
    choose_word(s, high ? s.high(d) : s.low(d), {small}, value_of(high ? s.high(limited) : s.low(limited)),
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

// The register of 32 bits whose lower or upper half a source of 16 bits is.
struct HalfPlace {
  Operand whole;
  bool high = false;
};
std::optional<HalfPlace> place_of_half(const Selector& s, const Operand& half) {
  const Inst* const made = s.definition(half);
  if (made == nullptr || made->src_count != 1) return std::nullopt;
  const Operand& whole = made->src[0];
  // Written once: it still holds the same.
  if (whole.kind != ptx::OperandKind::reg || whole.bytes != 4 || s.definition(whole) == nullptr)
    return std::nullopt;
  if (made->op == Op::mov && made->dst_count == 2 && ptx::size_of(made->type) == 4)
    return HalfPlace{whole, made->dst[1].kind == half.kind && made->dst[1].index == half.index};
  if (made->op != Op::cvt || made->mods.sat || !is_integer(made->type) || !is_integer(made->stype) ||
      ptx::size_of(made->type) != 2 || ptx::size_of(made->stype) != 4)
    return std::nullopt;
  const Inst& cut = *s.definition(whole);
  constexpr std::uint64_t upper_half_from = 16;
  if (cut.op == Op::shr && ptx::size_of(cut.type) == 4 && s.known(cut.src[1]) == upper_half_from &&
      cut.src[0].kind == ptx::OperandKind::reg && cut.src[0].bytes == 4 &&
      s.definition(cut.src[0]) != nullptr)
    return HalfPlace{cut.src[0], true};
  return HalfPlace{whole, false};
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
    constexpr std::uint8_t low_twice = 2, high_twice = 3;
    if (v.is_number()) v = out.as_register(v);
    v.half = low_twice;
    if (const auto place = place_of_half(s, inst.src[0])) {
      Inst from = inst;
      from.src[0] = place->whole;
      v = s.in_register(from, 0);
      v.half = place->high ? high_twice : low_twice;
    }
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
  choose_word(s, rounded, {beyond}, v, value_of(sum));
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
  if (from) return to ? convert_between_integers(s, inst) : integer_to_float(s, inst);
  return to ? float_to_integer(s, inst) : between_floats(s, inst);
}

}  // namespace

std::span<const SelectionRow> conversion_selections() {
  static const Immortal<std::vector<SelectionRow>> rows([] {
    const std::span<const SelectionRow> halves = half_selections();
    std::vector<SelectionRow> all(halves.begin(), halves.end());
    all.push_back({Op::cvt, convert});
    return all;
  }());
  return *rows;
}

}  // namespace simtlab::assembler
