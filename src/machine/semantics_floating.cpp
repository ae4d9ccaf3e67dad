// f32: arithmetic, comparisons, approximations.
#include "machine/semantics_floating.h"

namespace simtlab::machine {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Op;
using ptx::Type;

std::optional<std::uint32_t> known_bits(const Operand& source) {
  if (source.kind == OperandKind::immediate) return static_cast<std::uint32_t>(source.value);
  if (source.kind == OperandKind::reg && source.number == zero_register) return 0;
  if (source.kind == OperandKind::ureg && source.number == zero_uniform) return 0;
  return std::nullopt;
}

// Sign bits are changed by logic, which leaves NaN as they are.
ptx::Operand with_signs(Translator& t, const ptx::Operand& value, bool absolute, bool negate,
                        std::uint64_t mask, unsigned bytes) {
  if (!absolute && !negate) return value;
  const Type type = bytes == 8 ? Type::b64 : Type::b32;
  const ptx::Operand out = bytes == 8 ? t.temporary_wide() : t.temporary();
  // -|x| sets the sign.
  const Op op = !absolute ? Op::xor_ : negate ? Op::or_ : Op::and_;
  const std::uint64_t all = bytes == 8 ? ~std::uint64_t{0} : 0xffffffffu;
  t.emit(op, type, {out}, {value, t.number(op == Op::and_ ? all & ~mask : mask, bytes)});
  return out;
}

ptx::Operand single_source(Translator& t, const Operand& source, bool negate) {
  negate ^= source.negated;
  if (const std::optional<std::uint32_t> bits = known_bits(source))
    return t.number((source.absolute ? *bits & ~sign32 : *bits) ^ (negate ? sign32 : 0));
  return with_signs(t, t.raw(source), source.absolute, negate, sign32, 4);
}

ptx::Operand real_source(Translator& t, const Operand& source, bool negate) {
  negate ^= source.negated;
  if (const std::optional<std::uint32_t> bits = known_bits(source)) {
    // An immediate is the upper half.
    const std::uint64_t value = std::uint64_t{source.absolute ? *bits & ~sign32 : *bits} << 32;
    return t.number(value ^ (negate ? sign64 : 0), 8);
  }
  return with_signs(t, t.raw_wide(source), source.absolute, negate, sign64, 8);
}

Compare comparison(unsigned code) {
  static constexpr Compare compares[] = {Compare::none, Compare::lt,  Compare::eq,  Compare::le,
                                         Compare::gt,   Compare::ne,  Compare::ge,  Compare::num,
                                         Compare::nan,  Compare::ltu, Compare::equ, Compare::leu,
                                         Compare::gtu,  Compare::neu, Compare::geu, Compare::none};
  return compares[code];
}

BoolOp combination(unsigned code) {
  static constexpr BoolOp operations[] = {BoolOp::and_, BoolOp::or_, BoolOp::xor_};
  return operations[code];
}

ptx::Operand constant_predicate(const Translator& t, bool value) {
  Operand p;
  p.kind = OperandKind::pred;
  p.number = true_predicate;
  p.inverted = !value;
  return t.predicate(p);
}

bool leaves_alone(const Translator& t, unsigned combine) {
  const Operand& p = t.operand("Pc");
  return combination(combine) == BoolOp::and_ ? t.is_true(p) : t.is_false(p);
}

namespace {

ptx::Operand opposite(ptx::Operand predicate) {
  predicate.negated = !predicate.negated;
  return predicate;
}

// What `value bool c` is.
ptx::Operand combined(const Translator& t, bool value, BoolOp op, const ptx::Operand& c) {
  switch (op) {
    case BoolOp::and_: return value ? c : constant_predicate(t, false);
    case BoolOp::or_: return value ? constant_predicate(t, true) : c;
    default: return value ? opposite(c) : c;
  }
}

bool is_constant(unsigned code) { return code == compare_never || code == compare_always; }

void move_predicate(Translator& t, const ptx::Operand& result, const ptx::Operand& value) {
  if (result.kind != ptx::OperandKind::sink) t.emit(Op::mov, Type::pred, {result}, {value});
}

ptx::Inst& emit_comparison(Translator& t, const Comparison& c, Op op,
                           std::initializer_list<ptx::Operand> results, const ptx::Operand& a,
                           const ptx::Operand& b) {
  ptx::Inst& inst = t.emit(op, c.type, results, {a, b});
  inst.mods.compare = comparison(c.code);
  inst.mods.ftz = c.ftz;
  if (!leaves_alone(t, c.combine)) {
    inst.mods.bool_op = combination(c.combine);
    inst.src[inst.src_count++] = t.predicate("Pc");
  }
  return inst;
}

}  // namespace

void compare_to(Translator& t, const Comparison& c, const ptx::Operand& predicate, const ptx::Operand& a,
                const ptx::Operand& b) {
  if (!is_constant(c.code)) {
    emit_comparison(t, c, Op::setp, {predicate}, a, b);
    return;
  }
  move_predicate(t, predicate,
                 combined(t, c.code == compare_always, combination(c.combine), t.predicate("Pc")));
}

void set_predicates(Translator& t, const Comparison& c, const ptx::Operand& a, const ptx::Operand& b) {
  const ptx::Operand p = t.predicate_result("Pd"), q = t.predicate_result("Pd2");
  if (!is_constant(c.code)) {
    if (q.kind == ptx::OperandKind::sink)
      emit_comparison(t, c, Op::setp, {p}, a, b);
    else
      emit_comparison(t, c, Op::setp, {p, q}, a, b);
    return;
  }
  // Pd may be Pc.
  const ptx::Operand before = t.temporary_predicate();
  move_predicate(t, before, t.predicate("Pc"));
  const bool value = c.code == compare_always;
  move_predicate(t, p, combined(t, value, combination(c.combine), before));
  move_predicate(t, q, combined(t, !value, combination(c.combine), before));
}

void refuse_fmz(Translator& t) {
  if (t.field("fmz") != 0) t.refuse("has .FMZ, which is of graphics code and not executed");
}

namespace {

void add(Translator& t) {
  const Operand &left = t.source(0), &right = t.source(1);
  // One - alone makes it a subtraction.
  const auto plain_negation = [](const Operand& o) { return o.negated && !o.absolute && !known_bits(o); };
  const bool subtract = plain_negation(right), swapped = !subtract && plain_negation(left);
  const ptx::Operand a = single_source(t, left, swapped), b = single_source(t, right, subtract);
  ptx::Inst& inst = t.emit(subtract || swapped ? Op::sub : Op::add, Type::f32, {t.result("Rd")},
                           {swapped ? b : a, swapped ? a : b});
  inst.mods.rounding = roundings[t.field("rnd")];
  inst.mods.ftz = t.field("ftz") != 0;
  inst.mods.sat = t.field("sat") != 0;
}

// Which factor takes the sign of the product: one that is known, one that is changed anyway, else the first.
struct Product {
  ptx::Operand a, b;
};
Product product(Translator& t, const Operand& a, const Operand& b) {
  const bool negate = a.negated != b.negated;
  const bool second = known_bits(b) || (b.absolute && !a.absolute && !known_bits(a));
  return {single_source(t, a, a.negated ^ (negate && !second)),
          single_source(t, b, b.negated ^ (negate && second))};
}

void fused(Translator& t) {
  refuse_fmz(t);
  const auto [a, b] = product(t, t.source(0), t.source(1));
  const ptx::Operand c = single_source(t, t.source(2));
  ptx::Mods& mods = t.emit(Op::fma, Type::f32, {t.result("Rd")}, {a, b, c}).mods;
  mods.rounding = roundings[t.field("rnd")];
  mods.ftz = t.field("ftz") != 0;
  mods.sat = t.field("sat") != 0;
}

// The product times a power of two, rounded once: doubles hold it exactly. The meaning is that of the
// modifier's name; ptxas was not seen to write one.
void scaled_multiply(Translator& t, const Product& factors, std::uint64_t scale) {
  const bool ftz = t.field("ftz") != 0;
  const auto widened = [&](const ptx::Operand& value) {
    const ptx::Operand wide = t.temporary_wide();
    ptx::Inst& inst = t.emit(Op::cvt, Type::f64, {wide}, {value});
    inst.stype = Type::f32;
    inst.mods.ftz = ftz;
    return wide;
  };
  const ptx::Operand a = widened(factors.a), b = widened(factors.b);
  t.emit(Op::mul, Type::f64, {a}, {a, b});
  t.emit(Op::mul, Type::f64, {a}, {a, t.number(scale, 8)});
  ptx::Inst& inst = t.emit(Op::cvt, Type::f32, {t.result("Rd")}, {a});
  inst.stype = Type::f64;
  inst.mods.rounding = roundings[t.field("rnd")];
  inst.mods.ftz = ftz;
  inst.mods.sat = t.field("sat") != 0;
}

void multiply(Translator& t) {
  refuse_fmz(t);
  const Product factors = product(t, t.source(0), t.source(1));
  // Bits of 1/8, 1/4, 1/2, 1, 2, 4, 8 as doubles; the code 0 is not valid.
  constexpr unsigned no_scale = 4;
  // Before Volta 0 is no scale, and the others go the other way round.
  constexpr unsigned bundled_scales[] = {4, 3, 2, 1, 7, 6, 5, 4};
  const bool bundled = t.instruction().form->bundled();
  if (const unsigned scale = bundled ? bundled_scales[t.field("scale")] : t.field("scale", no_scale);
      scale != no_scale) {
    scaled_multiply(t, factors, std::uint64_t{1023 + scale - no_scale} << 52);
    return;
  }
  ptx::Mods& mods = t.emit(Op::mul, Type::f32, {t.result("Rd")}, {factors.a, factors.b}).mods;
  mods.rounding = roundings[t.field("rnd")];
  mods.ftz = t.field("ftz") != 0;
  mods.sat = t.field("sat") != 0;
}

// The predicate says min. .XORSIGN takes the signs that stand before ||, which it needs.
void extremum(Translator& t) {
  const bool xorsign = t.field("xorsign") != 0;
  const auto source = [&](const Operand& o) {
    if (!xorsign) return single_source(t, o);
    if (!o.absolute && !known_bits(o)) t.refuse("has .XORSIGN of a source without ||, which is not known");
    Operand signed_source = o;
    signed_source.absolute = false;
    return single_source(t, signed_source);
  };
  const ptx::Operand a = source(t.source(0)), b = source(t.source(1));
  const auto write = [&](Op op, const ptx::Operand& out) {
    ptx::Mods& mods = t.emit(op, Type::f32, {out}, {a, b}).mods;
    mods.ftz = t.field("ftz") != 0;
    mods.nan = t.field("nan") != 0;
    mods.xorsign = xorsign;
    mods.abs = xorsign;
  };
  choose_extremum(t, write);
}

void select(Translator& t) {
  ptx::Operand a = single_source(t, t.source(0)), b = single_source(t, t.source(1));
  const bool ftz = t.field("ftz") != 0;
  const ptx::Operand chosen = ftz ? t.temporary() : t.result("Rd");
  t.emit(Op::selp, Type::b32, {chosen}, {a, b, t.predicate("sel")});
  if (!ftz) return;
  // neg.ftz flushes and leaves NaN as they are; the sign goes back.
  t.emit(Op::neg, Type::f32, {chosen}, {chosen}).mods.ftz = true;
  t.emit(Op::xor_, Type::b32, {t.result("Rd")}, {chosen, t.number(sign32)});
}

Comparison comparison_of(const Translator& t) {
  return {.type = Type::f32, .code = t.field("cmp"), .combine = t.field("bool"), .ftz = t.field("ftz") != 0};
}

void set_predicate(Translator& t) {
  const ptx::Operand a = single_source(t, t.source(0)), b = single_source(t, t.source(1));
  set_predicates(t, comparison_of(t), a, b);
}

// 1.0 or 0: every known form has .BF, and has no bit for it.
void set(Translator& t) {
  const ptx::Operand a = single_source(t, t.source(0)), b = single_source(t, t.source(1));
  const ptx::Operand p = t.temporary_predicate();
  compare_to(t, comparison_of(t), p, a, b);
  t.emit(Op::selp, Type::b32, {t.result("Rd")}, {t.number(0x3f800000u), t.number(0), p});
}

// Each lane of a quad has two bits of a constant: 0 a + b, 1 a - b, 2 b - a, 3 b. Shaders take derivatives
// with it, after a shuffle: CUDA programs have none, so this was not compared with PTX. .NDV is a hint for
// lanes that are not there.
void swizzled_add(Translator& t) {
  const ptx::Operand code = t.temporary(), sign = t.temporary(), a = t.temporary(), b = t.temporary();
  const ptx::Operand moves = t.temporary_predicate();
  const auto pattern = static_cast<std::uint32_t>(t.operand("pppp").value);
  t.emit(Op::and_, Type::b32, {code}, {t.special(ptx::Special::laneid), t.number(3)});
  t.emit(Op::add, Type::u32, {code}, {code, code});
  t.emit(Op::shr, Type::b32, {code}, {t.number(pattern), code});
  t.emit(Op::and_, Type::b32, {code}, {code, t.number(3)});
  t.emit(Op::setp, Type::u32, {moves}, {code, t.number(3)}).mods.compare = Compare::eq;
  // 3: -0 is what a sum does not see.
  t.emit(Op::and_, Type::b32, {sign}, {code, t.number(2)});
  t.emit(Op::shl, Type::b32, {sign}, {sign, t.number(30)});
  t.emit(Op::xor_, Type::b32, {a}, {t.raw(t.operand("Ra")), sign});
  t.emit(Op::selp, Type::b32, {a}, {t.number(sign32), a, moves});
  t.emit(Op::shl, Type::b32, {sign}, {code, t.number(31)});
  t.emit(Op::selp, Type::b32, {sign}, {t.number(0), sign, moves});
  t.emit(Op::xor_, Type::b32, {b}, {t.raw(t.operand("Rb")), sign});
  ptx::Mods& mods = t.emit(Op::add, Type::f32, {t.result("Rd")}, {a, b}).mods;
  mods.rounding = roundings[t.field("rnd")];
  mods.ftz = t.field("ftz") != 0;
}

// Whether a / b needs the slow division. The code that ptxas writes behind it (a reciprocal, six fused
// multiply-adds) does not tell the exact rule of the hardware, only what it has to exclude. This is the
// widest range in which that code rounds correctly:
//   b a normal number below 2^126, so that the reciprocal is normal, too;
//   a finite and not below 2^-102, so that the remainder a - q b is exact (this excludes zeros);
//   the exponents of a and b at most 125 apart below and 126 above, so that the quotient is normal and
//   finite.
// Where the hardware goes the other way, the result is the same and the time is not.
void check_division(Translator& t) {
  const ptx::Operand p = t.temporary_predicate();
  const auto exponent = [&](const Operand& source) {
    const ptx::Operand out = t.temporary();
    t.emit(Op::bfe, Type::u32, {out}, {t.raw(source), t.number(23), t.number(8)});
    return out;
  };
  const ptx::Operand a = exponent(t.source(0)), b = exponent(t.source(1));
  const ptx::Operand from = t.temporary();
  // value outside of first to last
  const auto outside = [&](const ptx::Operand& value, std::uint32_t first, std::uint32_t last, bool also,
                           const ptx::Operand& result) {
    t.emit(Op::sub, Type::u32, {from}, {value, t.number(first)});
    ptx::Inst& inst = t.emit(Op::setp, Type::u32, {result}, {from, t.number(last - first)});
    inst.mods.compare = Compare::hi;
    if (!also) return;
    inst.mods.bool_op = BoolOp::or_;
    inst.src[inst.src_count++] = p;
  };
  constexpr std::uint32_t bias = 127;
  outside(a, bias - 102, 254, false, p);
  outside(b, 1, bias + 125, true, p);
  t.emit(Op::sub, Type::u32, {a}, {a, b});
  outside(a, 0u - 125, 126, true, t.predicate_result("Pd"));
}

// ---- MUFU: the approximations that PTX's .approx forms have ----

enum class Function : std::uint8_t { cos, sin, ex2, lg2, rcp, rsq, rcp64h, rsq64h, sqrt, tanh };

Op operation_of(Function function) {
  switch (function) {
    case Function::cos: return Op::cos;
    case Function::sin: return Op::sin;
    case Function::ex2: return Op::ex2;
    case Function::lg2: return Op::lg2;
    case Function::rcp:
    case Function::rcp64h: return Op::rcp;
    case Function::rsq:
    case Function::rsq64h: return Op::rsqrt;
    case Function::sqrt: return Op::sqrt;
    case Function::tanh: return Op::tanh;
  }
  return Op::nop;
}

// The upper words of two doubles.
void approximate_double(Translator& t, Op op) {
  const ptx::Operand wide = t.temporary_wide();
  t.emit(Op::mov, Type::b64, {wide}, {t.number(0), single_source(t, t.source(0))});
  ptx::Mods& mods = t.emit(op, Type::f64, {wide}, {wide}).mods;
  mods.approx = true;
  mods.ftz = true;
  t.emit(Op::mov, Type::b64, {{.kind = ptx::OperandKind::sink, .bytes = 4}, t.result("Rd")}, {wide});
}

// One half, with its signs; the result has zeros above it. ex2 of bf16 flushes, as PTX says; the others do
// not.
void approximate_half(Translator& t, Function function) {
  if (function != Function::ex2 && function != Function::tanh) t.refuse("is not known for halves");
  const Operand& source = t.source(0);
  if (source.part > 1) t.refuse("takes a part of the register that is not known");
  ptx::Operand value = t.raw(source);
  if (source.part == 1) {
    const ptx::Operand high = t.temporary();
    t.emit(Op::shr, Type::b32, {high}, {value, t.number(16)});
    value = high;
  }
  value = with_signs(t, value, source.absolute, source.negated, sign16, 4);
  const bool bf16 = t.field("bf16") != 0;
  ptx::Mods& mods =
      t.emit(operation_of(function), bf16 ? Type::bf16 : Type::f16, {t.result("Rd")}, {value}).mods;
  mods.approx = true;
  mods.ftz = bf16 && function == Function::ex2;
}

// MUFU flushes subnormal numbers (ptxas scales around it where PTX keeps them), all but TANH, which PTX has
// without .ftz and ptxas without scaling. SIN and COS take turns: ptxas multiplies by 1 / (2 pi) before; or,
// of Maxwell and Pascal, what RRO makes.
void approximate(Translator& t) {
  const auto function = static_cast<Function>(t.field("op"));
  const Op op = operation_of(function);
  if (t.field("f16") != 0 || t.field("bf16") != 0) {
    approximate_half(t, function);
    return;
  }
  if (t.source(0).part != 0) t.refuse("takes a part of the register, which is not known");
  if (function == Function::rcp64h || function == Function::rsq64h) {
    approximate_double(t, op);
    return;
  }
  const ptx::Operand value = single_source(t, t.source(0));
  ptx::Mods& mods = t.emit(op, Type::f32, {t.result("Rd")}, {value}).mods;
  mods.approx = true;
  mods.ftz = function != Function::tanh;
  mods.turns = (function == Function::sin || function == Function::cos) && !t.instruction().form->bundled();
}

}  // namespace

std::span<const SemanticsRow> floating_semantics() {
  static constexpr SemanticsRow rows[] = {
      {"FADD", add},         {"FMUL", multiply},        {"FFMA", fused},
      {"FADD32I", add},      {"FMUL32I", multiply},     {"FFMA32I", fused},
      {"FMNMX", extremum},   {"FSEL", select},          {"FSETP", set_predicate},
      {"FSET", set},         {"FSWZADD", swizzled_add}, {"FCHK", check_division},
      {"MUFU", approximate},
  };
  return rows;
}

}  // namespace simtlab::machine
