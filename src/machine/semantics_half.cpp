// f16 and bf16: pairs of halves.
//
// A source says which halves it gives: both as they are, the low one twice or the high one twice. Where all
// sources give one half twice, that half is computed and the result doubled.
#include "machine/semantics_floating.h"

namespace simtlab::machine {
namespace {

using ptx::Compare;
using ptx::Op;
using ptx::Type;

// Operand::half
constexpr unsigned as_they_are = 0, from_single = 1, low_twice = 2, high_twice = 3;
constexpr std::uint32_t both_signs = 0x80008000u;

bool is_bf16(const Translator& t) { return t.field("bf16") != 0 || t.field("ofmt") == 2; }
Type pair_type(const Translator& t) { return is_bf16(t) ? Type::bf16x2 : Type::f16x2; }
Type half_type(const Translator& t) { return is_bf16(t) ? Type::bf16 : Type::f16; }

// The two halves of a source that are known from the instruction, with their signs.
std::optional<std::uint32_t> known_halves(const Operand& source) {
  std::optional<std::uint32_t> bits = known_bits(source);
  if (!bits || (source.half == from_single && *bits != 0)) return std::nullopt;
  if (source.half == low_twice) *bits = (*bits & 0xffffu) * 0x10001u;
  if (source.half == high_twice) *bits = (*bits >> 16) * 0x10001u;
  if (source.absolute) *bits &= ~both_signs;
  if (source.negated) *bits ^= both_signs;
  return bits;
}

// .F32: the register holds an f32, which is cut to f16 (ptxas writes HADD2 R, R.F32, -RZ for cvt.rz.f16.f32
// on Volta and Turing), in the low bits.
ptx::Operand cut_single(Translator& t, const ptx::Operand& value) {
  if (is_bf16(t)) t.refuse("takes a source as f32 where it has bf16, which is not known");
  const ptx::Operand half = t.temporary();
  ptx::Inst& inst = t.emit(Op::cvt, Type::f16, {half}, {value});
  inst.stype = Type::f32;
  inst.mods.rounding = ptx::Rounding::rz;
  return half;
}

// A constant of Maxwell and Pascal is an f32: ptxas gives such values to sums with -0 that convert.
unsigned halves_of(const Translator& t, const Operand& source) {
  const bool single = source.kind == OperandKind::constant && t.instruction().form->bundled();
  return single ? from_single : source.half;
}

// Whether both halves of the source are the same.
bool is_doubled(const Translator& t, const Operand& source) {
  if (const auto bits = known_halves(source)) return *bits >> 16 == (*bits & 0xffffu);
  return halves_of(t, source) != as_they_are;
}

// The pair that a source gives, with its signs.
ptx::Operand pair_source(Translator& t, const Operand& source) {
  if (const auto bits = known_halves(source)) return t.number(*bits);
  ptx::Operand value = t.raw(source);
  const unsigned halves = halves_of(t, source);
  if (halves == from_single) value = cut_single(t, value);
  if (halves != as_they_are) {
    const ptx::Operand doubled = t.temporary();
    t.emit(Op::prmt, Type::b32, {doubled}, {value, value, t.number(halves == high_twice ? 0x3232 : 0x1010)});
    value = doubled;
  }
  return with_signs(t, value, source.absolute, source.negated, both_signs, 4);
}

// The one half of a doubled source, in the low bits; what is above them is not looked at.
ptx::Operand half_source(Translator& t, const Operand& source) {
  if (const auto bits = known_halves(source)) return t.number(*bits & 0xffffu);
  ptx::Operand value = t.raw(source);
  const unsigned halves = halves_of(t, source);
  if (halves == from_single) value = cut_single(t, value);
  if (halves == high_twice) {
    const ptx::Operand low = t.temporary();
    t.emit(Op::shr, Type::b32, {low}, {value, t.number(16)});
    value = low;
  }
  return with_signs(t, value, source.absolute, source.negated, sign16, 4);
}

bool all_doubled(const Translator& t) {
  for (unsigned i = 0; i < t.source_count(); ++i)
    if (!is_doubled(t, t.source(i))) return false;
  return true;
}

// What becomes of the result on Pascal: all of it, an f32, or one half of Rd, whose other half stays.
enum Merge : unsigned { all, single, low_half, high_half };

// Calls write(type, result, sources) for the pair, or for one half whose result is then doubled.
struct Sources {
  ptx::Operand of[3];
  unsigned count = 0;
};
template <class Write>
void by_halves(Translator& t, Write write) {
  Sources sources;
  sources.count = t.source_count();
  const bool doubled = all_doubled(t);
  for (unsigned i = 0; i < sources.count; ++i)
    sources.of[i] = doubled ? half_source(t, t.source(i)) : pair_source(t, t.source(i));
  const unsigned merge = t.field("merge");
  const ptx::Operand result = merge == all ? t.result("Rd") : t.temporary();
  if (doubled) {
    const ptx::Operand half = t.temporary();
    write(half_type(t), half, sources);
    t.emit(Op::prmt, Type::b32, {result}, {half, half, t.number(0x1010)});
  } else {
    write(pair_type(t), result, sources);
  }
  if (merge == all) return;
  t.emit(Op::prmt, Type::b32, {t.result("Rd")},
         {result, t.raw(t.operand("Rd")), t.number(merge == low_half ? 0x7610 : 0x3254)});
}

void set_modifiers(const Translator& t, ptx::Inst& inst) {
  inst.mods.ftz = t.field("ftz") != 0;
  inst.mods.sat = t.field("sat") != 0;
  inst.mods.relu = t.field("relu") != 0;
}

void add_sources(ptx::Inst& inst, const Sources& sources) {
  for (unsigned i = 0; i < sources.count; ++i) inst.src[inst.src_count++] = sources.of[i];
}

// A source of .F32 as f32: one half, so it must be clear which.
void widen(Translator& t, const Operand& source, const ptx::Operand& result) {
  if (halves_of(t, source) == from_single) t.refuse("gives an f32 of an f32, which is not known");
  if (!is_doubled(t, source)) t.refuse("gives an f32 of a pair of halves, which is not known");
  t.emit(Op::cvt, Type::f32, {result}, {half_source(t, source)}).stype = half_type(t);
}

// HADD2.F32 and so on: the result, rounded to f16 as ever (ptxas writes it for add.f16 and what widens the
// sum), is given as f32. Mostly -0 + x, which is a conversion.
void single_result(Translator& t, Op op) {
  const bool plain = t.field("ftz") == 0 && t.field("sat") == 0 && t.field("relu") == 0;
  if (op == Op::add && plain && known_halves(t.source(0)) == both_signs) {
    widen(t, t.source(1), t.result("Rd"));
    return;
  }
  if (op == Op::add && plain && known_halves(t.source(1)) == both_signs) {
    widen(t, t.source(0), t.result("Rd"));
    return;
  }
  if (!all_doubled(t)) t.refuse("gives an f32 of a pair of halves, which is not known");
  Sources sources;
  sources.count = t.source_count();
  for (unsigned i = 0; i < sources.count; ++i) {
    if (halves_of(t, t.source(i)) == from_single) t.refuse("gives an f32 of an f32, which is not known");
    sources.of[i] = half_source(t, t.source(i));
  }
  const ptx::Operand half = t.temporary();
  ptx::Inst& inst = t.emit(op, half_type(t), {half}, {});
  add_sources(inst, sources);
  set_modifiers(t, inst);
  t.emit(Op::cvt, Type::f32, {t.result("Rd")}, {half}).stype = half_type(t);
}

void arithmetic(Translator& t, Op op) {
  refuse_fmz(t);
  if (t.field("f32") != 0 || t.field("merge") == single) {
    single_result(t, op);
    return;
  }
  by_halves(t, [&](Type type, const ptx::Operand& result, const Sources& sources) {
    ptx::Inst& inst = t.emit(op, type, {result}, {});
    add_sources(inst, sources);
    set_modifiers(t, inst);
  });
}

bool is_nan(std::uint32_t half, bool bf16) { return (half & 0x7fffu) > (bf16 ? 0x7f80u : 0x7c00u); }

// HFMA2 R, -RZ, RZ, x, y: a constant, which ptxas loads so to spare the pipe of MOV.
bool is_constant(Translator& t) {
  const auto a = known_halves(t.source(0)), b = known_halves(t.source(1)), c = known_halves(t.source(2));
  const bool plain = t.field("ftz") == 0 && t.field("sat") == 0 && t.field("relu") == 0 &&
                     t.field("f32") == 0 && t.field("merge") == all;
  if (!plain || !a || !b || !c || (*a & ~both_signs) != 0 || (*b & ~both_signs) != 0) return false;
  if ((*a ^ *b) != both_signs || is_nan(*c & 0xffffu, is_bf16(t)) || is_nan(*c >> 16, is_bf16(t)))
    return false;
  t.emit(Op::mov, Type::b32, {t.result("Rd")}, {t.number(*c)});
  return true;
}

void fused(Translator& t) {
  refuse_fmz(t);
  // Bits 87 to 90 are 0 in what ptxas writes, and the vendor's disassembler prints nothing for them.
  if (t.has("Pr") &&
      (t.operand("Pr").inverted || (t.operand("Pr").number != 0 && !t.is_true(t.operand("Pr")))))
    t.refuse("has a predicate whose meaning is not known");
  if (!is_constant(t)) arithmetic(t, Op::fma);
}

// The predicate says min. .XORSIGN takes the signs that stand before ||, which it needs.
void write_extremum(Translator& t, Op op, Type type, const ptx::Operand& result, const Sources& sources) {
  ptx::Inst& inst = t.emit(op, type, {result}, {});
  add_sources(inst, sources);
  inst.mods.ftz = t.field("ftz") != 0;
  inst.mods.nan = t.field("nan") != 0;
  inst.mods.xorsign = inst.mods.abs = t.field("xorsign") != 0;
}

void extremum(Translator& t) {
  if (t.field("f32") != 0) t.refuse("gives an f32, which is not known");
  const bool xorsign = t.field("xorsign") != 0;
  Sources sources;
  for (unsigned i = 0; i < t.source_count(); ++i) {
    Operand source = t.source(i);
    if (xorsign) {
      if (!source.absolute && !known_bits(source))
        t.refuse("has .XORSIGN of a source without ||, which is not known");
      source.absolute = false;
    }
    sources.of[sources.count++] = pair_source(t, source);
  }
  const Type type = pair_type(t);
  // Three sources (VHMNMX): of the first two, then with the third.
  const auto write = [&](Op op, const ptx::Operand& result) {
    Sources two{{sources.of[0], sources.of[1]}, 2};
    if (sources.count == 3) {
      const ptx::Operand first = t.temporary();
      write_extremum(t, op, type, first, two);
      two.of[0] = first;
      two.of[1] = sources.of[2];
    }
    write_extremum(t, op, type, result, two);
  };
  choose_extremum(t, write);
}

// ---- comparisons ----

Comparison comparison_of(const Translator& t, Type type) {
  return {.type = type, .code = t.field("cmp"), .combine = t.field("bool"), .ftz = t.field("ftz") != 0};
}

// low and high: (a cmp b) bool Pc of the halves.
void compare_pairs(Translator& t, unsigned combine, const ptx::Operand& low, const ptx::Operand& high) {
  const ptx::Operand a = pair_source(t, t.source(0)), b = pair_source(t, t.source(1));
  Comparison c = comparison_of(t, pair_type(t));
  if (c.code == compare_never || c.code == compare_always) {
    c.combine = combine;
    compare_to(t, c, low, a, b);
    compare_to(t, c, high, a, b);
    return;
  }
  ptx::Inst& inst = t.emit(Op::setp, c.type, {low, high}, {a, b});
  inst.mods.compare = comparison(c.code);
  inst.mods.ftz = c.ftz;
  if (leaves_alone(t, combine)) return;
  inst.mods.bool_op = combination(combine);
  inst.src[inst.src_count++] = t.predicate("Pc");
}

// Pd is of the low halves and Pd2 of the high ones; with .H_AND, Pd is of both together and Pd2 its opposite.
void set_predicate(Translator& t) {
  const ptx::Operand p = t.predicate_result("Pd"), q = t.predicate_result("Pd2");
  const bool both = t.field("h_and") != 0;
  const Comparison c = comparison_of(t, half_type(t));
  const bool constant = c.code == compare_never || c.code == compare_always;
  if (!constant && q.kind == ptx::OperandKind::sink && all_doubled(t)) {
    set_predicates(t, c, half_source(t, t.source(0)), half_source(t, t.source(1)));
    return;
  }
  const ptx::Operand low = t.temporary_predicate(), high = t.temporary_predicate();
  if (!both) {
    compare_pairs(t, c.combine, low, high);
    if (p.kind != ptx::OperandKind::sink) t.emit(Op::mov, Type::pred, {p}, {low});
    if (q.kind != ptx::OperandKind::sink) t.emit(Op::mov, Type::pred, {q}, {high});
    return;
  }
  if (!leaves_alone(t, c.combine)) t.refuse("has .H_AND with a predicate, which is not known");
  compare_pairs(t, c.combine, low, high);
  t.emit(Op::and_, Type::pred, {low}, {low, high});
  if (p.kind != ptx::OperandKind::sink) t.emit(Op::mov, Type::pred, {p}, {low});
  if (q.kind != ptx::OperandKind::sink) t.emit(Op::not_, Type::pred, {q}, {low});
}

// 1.0 or 0 in each half (.BF), or all its bits.
void set(Translator& t) {
  const ptx::Operand low = t.temporary_predicate(), high = t.temporary_predicate();
  compare_pairs(t, t.field("bool"), low, high);
  const std::uint32_t yes = t.field("bf") == 0 ? 0xffffu : is_bf16(t) ? 0x3f80u : 0x3c00u;
  const ptx::Operand first = t.temporary(), second = t.temporary();
  t.emit(Op::selp, Type::b32, {first}, {t.number(yes), t.number(0), low});
  t.emit(Op::selp, Type::b32, {second}, {t.number(yes << 16), t.number(0), high});
  t.emit(Op::or_, Type::b32, {t.result("Rd")}, {first, second});
}

}  // namespace

std::span<const SemanticsRow> half_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"HADD2", [](Translator& t) { arithmetic(t, Op::add); }},
      {"HMUL2", [](Translator& t) { arithmetic(t, Op::mul); }},
      {"HFMA2", fused},
      {"HADD2_32I", [](Translator& t) { arithmetic(t, Op::add); }},
      {"HMUL2_32I", [](Translator& t) { arithmetic(t, Op::mul); }},
      {"HFMA2_32I", fused},
      {"HMNMX2", extremum},
      {"VHMNMX", extremum},
      {"HSETP2", set_predicate},
      {"HSET2", set},
  };
  return rows;
}

}  // namespace simtlab::machine
