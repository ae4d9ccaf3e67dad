// Conversions between integers. Registers of 8 and 16 bits hold their value zero-extended to 32 bits.
#include <algorithm>
#include <bit>
#include <utility>

#include "assembler/select_convert.h"

namespace simtlab::assembler {
namespace {

Extension extension_of(const Inst& inst) {
  const unsigned from = bits_of(inst.stype), to = bits_of(inst.type), whole = result_bits(inst);
  const bool sign = ptx::is_signed(inst.type);
  if (to <= from) return {to, whole, sign};
  return {from, sign ? whole : std::min(to, whole), ptx::is_signed(inst.stype)};
}

}  // namespace

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

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

// d = p ? a : b
void choose_word(Selector& s, Ref d, Condition p, Value a, Value b) {
  if (a.kind != Value::Kind::reg) {
    std::swap(a, b);
    p.inverted = !p.inverted;
  }
  Instruction& i = s.out().emit("SEL", d, {a, b});
  s.out().set_condition(i, "Pc", p);
}

namespace {

Ref ones_if(Selector& s, Ref p) {
  const Ref d = s.out().new_register();
  choose_word(s, d, {p}, number(0xffffffffu), zero());
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
    choose_word(s, d, {fits}, low, bound);
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
    choose_word(s, high ? s.high(d) : s.low(d), {negative, true}, half_of(a, high), bound);
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

}  // namespace

void convert_between_integers(Selector& s, const Inst& inst) {
  if (inst.mods.sat) return saturate_integer(s, inst);
  extend(s, s.result(inst), s.plain_source(inst, 0), zeros_from(s, inst.src[0]), extension_of(inst));
}

}  // namespace simtlab::assembler
