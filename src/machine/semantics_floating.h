// What the functions that know floating-point instructions share.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/translator.h"

namespace simtlab::machine {

// By the fields `rnd` of arithmetic; those of roundings to an integer (F2I, FRND) have the same codes.
inline constexpr ptx::Rounding roundings[] = {ptx::Rounding::rn, ptx::Rounding::rm, ptx::Rounding::rp,
                                              ptx::Rounding::rz};
inline constexpr ptx::Rounding integral_roundings[] = {ptx::Rounding::rni, ptx::Rounding::rmi,
                                                       ptx::Rounding::rpi, ptx::Rounding::rzi};

inline constexpr std::uint32_t sign32 = 0x80000000u, sign16 = 0x8000u;
inline constexpr std::uint64_t sign64 = 0x8000000000000000ull;

// A source's bits where the instruction says them: an immediate, RZ, URZ. Without - and ||.
std::optional<std::uint32_t> known_bits(const Operand& source);

// f32 with its || and -, and another - where `negate` says so: - of the first factor stands for that of the
// second, too. One operation at most.
ptx::Operand single_source(Translator& t, const Operand& source, bool negate = false);
// f64 likewise; register pairs are packed first.
ptx::Operand real_source(Translator& t, const Operand& source, bool negate = false);
// The signs in `value` changed: || first. mask: the sign bits; bytes: of the value.
ptx::Operand with_signs(Translator& t, const ptx::Operand& value, bool absolute, bool negate,
                        std::uint64_t mask, unsigned bytes);

// The field `cmp` of floating comparisons: 0 is false and 15 true whatever is compared.
inline constexpr unsigned compare_never = 0, compare_always = 15;
ptx::Compare comparison(unsigned code);

// Pd and Pd2 of a comparison: (a cmp b) bool Pc and its opposite !(a cmp b) bool Pc.
struct Comparison {
  ptx::Type type;
  unsigned code, combine;  // fields `cmp` and `bool`
  bool ftz = false;
};
void set_predicates(Translator& t, const Comparison& comparison, const ptx::Operand& a,
                    const ptx::Operand& b);
// predicate = (a cmp b) bool Pc, by operations on the predicate given (a temporary one, say).
void compare_to(Translator& t, const Comparison& comparison, const ptx::Operand& predicate,
                const ptx::Operand& a, const ptx::Operand& b);
// Whether `(anything) bool Pc` is what it was.
bool leaves_alone(const Translator& t, unsigned combine);
ptx::BoolOp combination(unsigned code);
ptx::Operand constant_predicate(const Translator& t, bool value);

// .FMZ (0 times anything is 0) is of graphics code.
void refuse_fmz(Translator& t);

// The minimum where the predicate `min` is true, else the maximum. write(op, result) emits one of them.
template <class Write>
void choose_extremum(Translator& t, const Write& write) {
  const Operand& min = t.operand("min");
  if (t.is_true(min) || t.is_false(min)) {
    write(t.is_true(min) ? ptx::Op::min : ptx::Op::max, t.result("Rd"));
    return;
  }
  const ptx::Operand least = t.temporary(), most = t.temporary();
  write(ptx::Op::min, least);
  write(ptx::Op::max, most);
  t.emit(ptx::Op::selp, ptx::Type::b32, {t.result("Rd")}, {least, most, t.predicate(min)});
}

}  // namespace simtlab::machine
