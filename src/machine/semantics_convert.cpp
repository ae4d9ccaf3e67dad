// Conversions: F2F, F2I, I2F, FRND, and those that pack results (I2FP, F2FP, F2IP).
#include <tuple>
#include <utility>

#include "machine/semantics_floating.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Rounding;
using ptx::Type;

// The codes of floating formats in the fields `dst` and `src`.
Type float_type(Translator& t, unsigned code) {
  switch (code) {
    case 1: return Type::f16;
    case 2: return Type::f32;
    case 3: return Type::f64;
    case 4: return Type::bf16;
    default: t.refuse("has a format that is not known");
  }
}
bool is_half(Type type) { return type == Type::f16 || type == Type::bf16; }

struct IntegerType {
  Type type;
  unsigned bits;
};
// Those of integers: 8, 16, 32, 64 bits.
IntegerType integer_type(unsigned code, bool is_signed) {
  static constexpr Type types[2][4] = {{Type::u8, Type::u16, Type::u32, Type::u64},
                                       {Type::s8, Type::s16, Type::s32, Type::s64}};
  return {types[is_signed ? 1 : 0][code], 8u << code};
}

// The source of a conversion from `type`, with its || and -. Of a register with halves, `part` says which.
ptx::Operand float_source(Translator& t, Type type) {
  const Operand& source = t.source(0);
  if (source.part > (is_half(type) ? 1 : 0)) t.refuse("takes a part of the register that is not known");
  if (type == Type::f64) return real_source(t, source);
  if (type == Type::f32) return single_source(t, source);
  ptx::Operand value = t.raw(source);
  if (source.part == 1 || t.field("h1") != 0) {
    const ptx::Operand high = t.temporary();
    t.emit(Op::shr, Type::b32, {high}, {value, t.number(16)});
    value = high;
  }
  return with_signs(t, value, source.absolute, source.negated, sign16, 4);
}

// cvt to `to`: halves and narrow integers get a register of their own, zero- or sign-extended to 32 bits.
ptx::Inst& convert(Translator& t, Type to, Type from, const ptx::Operand& result, const ptx::Operand& value) {
  ptx::Inst& inst = t.emit(Op::cvt, to, {result}, {value});
  inst.stype = from;
  return inst;
}

template <class Write>  // write(result)
void write_result(Translator& t, bool wide, Write write) {
  if (!wide) {
    write(t.result("Rd"));
    return;
  }
  const ptx::Operand value = t.temporary_wide();
  write(value);
  t.store_wide(t.operand("Rd"), value);
}

void float_to_float(Translator& t) {
  const Type to = float_type(t, t.field("dst")), from = float_type(t, t.field("src"));
  const ptx::Operand value = float_source(t, from);
  write_result(t, to == Type::f64, [&](const ptx::Operand& result) {
    ptx::Mods& mods = convert(t, to, from, result, value).mods;
    // Widening is exact.
    const bool narrows = ptx::size_of(to) < ptx::size_of(from) || (is_half(to) && is_half(from));
    mods.rounding = narrows ? roundings[t.field("rnd")] : Rounding::none;
    mods.ftz = t.field("ftz") != 0;
    mods.sat = t.field("sat") != 0;
  });
}

void round_to_integral(Translator& t) {
  const Type type = float_type(t, t.field("dst"));
  if (t.field("src") != t.field("dst")) t.refuse("rounds to another format, which is not known");
  const ptx::Operand value = float_source(t, type);
  write_result(t, type == Type::f64, [&](const ptx::Operand& result) {
    ptx::Mods& mods = convert(t, type, type, result, value).mods;
    mods.rounding = integral_roundings[t.field("rnd")];
    mods.ftz = t.field("ftz") != 0;
    mods.sat = t.field("sat") != 0;
  });
}

// NaN give 0 with .NTZ, else the bits of the most negative integer. PTX's conversion gives the first for f16
// and f32 to integers of up to 32 bits and the second for the rest, and ptxas sets .NTZ just so.
void float_to_integer(Translator& t) {
  const Type from = float_type(t, t.field("src"));
  const auto [to, bits] = integer_type(t.field("dst"), t.field("signed") != 0);
  const ptx::Operand value = float_source(t, from);
  const bool wide = bits == 64, zero = t.field("ntz") != 0;
  // Before Volta there is no modifier, and compiled code is what PTX says.
  const bool as_ptx = zero == (from != Type::f64 && bits != 64) || t.instruction().form->bundled();
  write_result(t, wide, [&](const ptx::Operand& result) {
    const ptx::Operand out = as_ptx ? result : wide ? t.temporary_wide() : t.temporary();
    ptx::Mods& mods = convert(t, to, from, out, value).mods;
    mods.rounding = integral_roundings[t.field("rnd")];
    mods.ftz = t.field("ftz") != 0;
    if (as_ptx) return;
    const ptx::Operand nan = t.temporary_predicate();
    t.emit(Op::setp, from, {nan}, {value, value}).mods.compare = ptx::Compare::nan;
    const std::uint64_t lowest = ~std::uint64_t{0} << (bits - 1);
    const std::uint64_t of_nan = zero ? 0 : t.field("signed") != 0 ? lowest : std::uint64_t{1} << (bits - 1);
    t.emit(Op::selp, wide ? Type::b64 : Type::b32, {result},
           {t.number(wide ? of_nan : of_nan & 0xffffffffu, wide ? 8 : 4), out, nan});
  });
}

// || and - of an integer, in 64 bits, which hold all those of 32 bits with another sign. Of 64 bits, only the
// most negative one has no other sign: its absolute value is one without sign.
std::pair<ptx::Operand, Type> signs_changed(Translator& t, const Operand& source, const ptx::Operand& value,
                                            Type from) {
  const bool is_signed = from == Type::s8 || from == Type::s16 || from == Type::s32 || from == Type::s64;
  const ptx::Operand wide = t.temporary_wide();
  t.emit(Op::cvt, is_signed ? Type::s64 : Type::u64, {wide}, {value}).stype = from;
  if (source.absolute && is_signed) t.emit(Op::abs, Type::s64, {wide}, {wide});
  if (source.negated) t.emit(Op::neg, Type::s64, {wide}, {wide});
  return {wide, source.negated ? Type::s64 : source.absolute ? Type::u64 : Type::s64};
}

// `sub`: which byte or half of the register a narrow integer is.
void integer_to_float(Translator& t) {
  const Operand& source = t.source(0);
  const auto [from, bits] = integer_type(t.field("src"), t.field("signed") != 0);
  const Type to = float_type(t, t.field("dst"));
  // Before Volta it counts bytes.
  const unsigned unit = t.instruction().form->bundled() ? 8 : bits, sub = t.field("sub");
  if (sub * unit + bits > 32 && sub != 0) t.refuse("takes a part of the register that is not known");
  // A 64-bit immediate is the upper half: ptxas writes I2F.U64 R, 0x80000 for 2^51.
  ptx::Operand value = bits != 64 ? t.raw(source)
                       : source.kind == OperandKind::immediate
                           ? t.number(std::uint64_t{static_cast<std::uint32_t>(source.value)} << 32, 8)
                           : t.raw_wide(source);
  if (sub != 0) {
    const ptx::Operand part = t.temporary();
    t.emit(Op::shr, Type::b32, {part}, {value, t.number(unit * sub)});
    value = part;
  }
  Type type = from;
  if (source.negated || source.absolute) std::tie(value, type) = signs_changed(t, source, value, from);
  write_result(t, to == Type::f64, [&](const ptx::Operand& result) {
    convert(t, to, type, result, value).mods.rounding = roundings[t.field("rnd")];
  });
}

// ---- F2FP ----

// What the fields of F2FP mean from sm_89 on; before, only pairs of f16 and bf16 exist.
struct Packing {
  Type to;       // of one result
  Type from;     // f32, or pairs of f16, e4m3, e5m2
  bool finite;   // results beyond the largest number are that
  bool unpacks;  // a pair from Rb
  bool high;     // ... in its upper half
  bool merges;   // the result is the lower part, the rest comes from Rc
};

constexpr unsigned wide_format_bit = 0x4;  // bit 86, of `unknown`
constexpr unsigned byte_format_bit = 0x1, high_bit = 0x2, unpack_bit = 0x4, merge_bit = 0x8;  // 87 to 90

Packing packing_of(Translator& t) {
  const unsigned dst = t.field("dst"), more = t.field("sat_unpack"), format = t.field("unknown");
  if (format != 0 && format != wide_format_bit) t.refuse("has bits whose meaning is not known");
  Packing p{};
  const bool second = (dst & 1u) != 0;
  p.finite = (dst & 2u) != 0;
  if (format == wide_format_bit) {
    if (!second || (more & byte_format_bit) != 0) t.refuse("has a format that is not known");
    p.to = Type::tf32;
  } else if ((more & byte_format_bit) != 0) {
    p.to = second ? Type::e4m3x2 : Type::e5m2x2;
  } else {
    p.to = second ? Type::bf16x2 : Type::f16x2;
  }
  static constexpr Type sources[] = {Type::f32, Type::f16x2, Type::e5m2x2, Type::e4m3x2};
  p.from = sources[t.field("src")];
  p.unpacks = (more & unpack_bit) != 0;
  p.high = (more & high_bit) != 0;
  p.merges = (more & merge_bit) != 0;
  return p;
}

// f32 within the numbers of f16 or bf16; NaN stay.
ptx::Operand bounded(Translator& t, Type type, const ptx::Operand& value) {
  const std::uint32_t largest = type == Type::f16x2 ? 0x477fe000u : 0x7f7f0000u;
  const ptx::Operand out = t.temporary();
  t.emit(Op::min, Type::f32, {out}, {value, t.number(largest)}).mods.nan = true;
  t.emit(Op::max, Type::f32, {out}, {out, t.number(largest | sign32)}).mods.nan = true;
  return out;
}

ptx::Inst& convert_packed(Translator& t, const Packing& p, Type to, const ptx::Operand& result,
                          std::initializer_list<ptx::Operand> values) {
  ptx::Inst& inst = t.emit(Op::cvt, to, {result}, values);
  inst.stype = p.from;
  inst.mods.rounding = roundings[t.field("rnd")];
  inst.mods.relu = t.field("relu") != 0;
  inst.mods.sat = p.finite && (p.to == Type::e4m3x2 || p.to == Type::e5m2x2);
  return inst;
}

// Values as they are: F2FP changes no signs.
ptx::Operand packed_source(Translator& t, const Packing& p, const Operand& source) {
  const ptx::Operand value = t.raw(source);
  const bool bounds = p.finite && (p.to == Type::f16x2 || p.to == Type::bf16x2);
  return bounds ? bounded(t, p.to, value) : value;
}

// The lower half of `low` under the lower half of Rc; 16 bits of each.
void merge(Translator& t, const ptx::Operand& low, const Operand& rest) {
  t.emit(Op::prmt, Type::b32, {t.result("Rd")}, {low, t.raw(rest), t.number(0x5410)});
}

// One result, .MERGE_C: the lower half, zeros above. What Rc adds is not known: ptxas gives RZ.
void pack_one(Translator& t, const Packing& p, const Operand& b, const Operand& rest) {
  if (known_bits(rest) != 0u) t.refuse("merges with a register, which is not known");
  if (t.field("h1") != 0) t.refuse("writes the upper half, which is not known");
  const Type one = p.to == Type::f16x2 ? Type::f16 : p.to == Type::bf16x2 ? Type::bf16 : Type::none;
  if (one == Type::none || p.from != Type::f32) t.refuse("has formats that are not known");
  const ptx::Operand value = packed_source(t, p, b);
  convert_packed(t, p, one, t.result("Rd"), {value});
}

void pack_floats(Translator& t) {
  const Packing p = packing_of(t);
  const Operand &a = t.source(0), &b = t.source(1), &rest = t.source(2);
  const bool one = t.field("merge") != 0, bytes = p.to == Type::e4m3x2 || p.to == Type::e5m2x2;
  if (p.to == Type::tf32) {
    if (!one || !p.unpacks || p.merges || p.high || p.from != Type::f32 || p.finite)
      t.refuse("has formats that are not known");
    convert_packed(t, p, Type::tf32, t.result("Rd"), {t.raw(b)});
    return;
  }
  if (p.from == Type::e4m3x2 || p.from == Type::e5m2x2) {
    if (!p.unpacks || p.merges || one || p.to != Type::f16x2 || p.finite)
      t.refuse("has formats that are not known");
    ptx::Operand value = t.raw(b);
    if (p.high) {
      const ptx::Operand high = t.temporary();
      t.emit(Op::shr, Type::b32, {high}, {value, t.number(16)});
      value = high;
    }
    convert_packed(t, p, p.to, t.result("Rd"), {value});
    return;
  }
  if (p.unpacks || p.high) t.refuse("has formats that are not known");
  if (p.merges) {
    // Two bytes: from two f32 (bit 78), or from a pair of f16.
    if (!bytes || one != (p.from == Type::f32)) t.refuse("has formats that are not known");
    const ptx::Operand low = t.temporary();
    if (p.from == Type::f32)
      convert_packed(t, p, p.to, low, {t.raw(a), t.raw(b)});
    else
      convert_packed(t, p, p.to, low, {t.raw(b)});
    merge(t, low, rest);
    return;
  }
  if (bytes || p.from != Type::f32) t.refuse("has formats that are not known");
  if (one) {
    pack_one(t, p, b, rest);
    return;
  }
  const ptx::Operand high = packed_source(t, p, a), low = packed_source(t, p, b);
  convert_packed(t, p, p.to, t.result("Rd"), {high, low});
}

// Two f32 to bytes: Ra to the second, Rb to the first; the lower half of Rc above them.
void pack_bytes(Translator& t) {
  const bool is_signed = t.field("s8") != 0;
  if (t.field("relu") != 0) t.refuse("has .RELU, which is not known");
  if (t.field("ntz") == 0) t.refuse("lacks .NTZ, which is not known");
  const auto byte = [&](const Operand& source) {
    const ptx::Operand out = t.temporary();
    convert(t, is_signed ? Type::s8 : Type::u8, Type::f32, out, t.raw(source)).mods.rounding =
        integral_roundings[t.field("rnd")];
    return out;
  };
  const ptx::Operand high = byte(t.source(0)), low = byte(t.source(1));
  t.emit(Op::prmt, Type::b32, {low}, {low, high, t.number(0x7740)});
  t.emit(Op::prmt, Type::b32, {t.result("Rd")}, {low, t.raw(t.source(2)), t.number(0x5410)});
}

}  // namespace

std::span<const SemanticsRow> conversion_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"F2F", float_to_float},     {"F2F.PASS", float_to_float},   {"F2F.ROUND", round_to_integral},
      {"F2F.64", float_to_float},  {"F2I", float_to_integer},      {"F2I.64", float_to_integer},
      {"I2F", integer_to_float},   {"I2F.64", integer_to_float},   {"I2FP", integer_to_float},
      {"FRND", round_to_integral}, {"FRND.64", round_to_integral}, {"F2FP", pack_floats},
      {"F2IP", pack_bytes},
  };
  return rows;
}

}  // namespace simtlab::machine
