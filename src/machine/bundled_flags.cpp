#include "machine/bundled_flags.h"

#include "machine/semantics_floating.h"
#include "ptx/machine_ops.h"

namespace simtlab::machine {
namespace {

using ptx::Op;
using ptx::Type;

constexpr unsigned combinations = 8;

// Tests of zero, sign and overflow, in the order of their codes. Zero and sign together say NaN.
constexpr bool compares(unsigned test, bool z, bool s, bool o) {
  switch (test) {
    case 0: return false;            // F
    case 1: return (s && !z) != o;   // LT
    case 2: return z && !s;          // EQ
    case 3: return s != (z || o);    // LE
    case 4: return !z && s == o;     // GT
    case 5: return !z;               // NE
    case 6: return s == o;           // GE
    case 7: return !z || !s;         // NUM
    case 8: return z && s;           // NAN
    case 9: return s != o;           // LTU
    case 10: return z;               // EQU
    case 11: return z || s != o;     // LEU
    case 12: return !s != (z || o);  // GTU
    case 13: return !z || s;         // NEU
    case 14: return (!s || z) != o;  // GEU
    default: return true;            // T
  }
}

// Those of zero, sign or carry.
constexpr bool holds(unsigned test, bool z, bool s, bool c) {
  switch (test) {
    case 17: return !c;       // LO
    case 18: return !s;       // SFF
    case 19: return z || !c;  // LS
    case 20: return c && !z;  // HI
    case 21: return s;        // SFT
    default: return c;        // HS
  }
}

constexpr unsigned first_of_single = 16, not_overflow = 16, overflow = 23;

}  // namespace

ptx::Operand tested_flags(Translator& t, unsigned test) {
  if (test > overflow) t.refuse("tests flags that are not known");
  const ptx::Operand out = t.temporary_predicate();
  if (test == not_overflow || test == overflow) {
    t.emit(test == overflow ? Op::mov : Op::not_, Type::pred, {out}, {flag(Flag::overflow)});
    return out;
  }
  std::uint32_t table = 0;
  for (unsigned k = 0; k < combinations; ++k) {
    const bool z = (k & 4u) != 0, s = (k & 2u) != 0, last = (k & 1u) != 0;
    if (test < first_of_single ? compares(test, z, s, last) : holds(test, z, s, last)) table |= 1u << k;
  }
  t.emit(Op::plop3, Type::pred, {out, {.kind = ptx::OperandKind::sink}},
         {flag(Flag::zero), flag(Flag::sign), flag(test < first_of_single ? Flag::overflow : Flag::carry)})
      .mods.video = table;
  return out;
}

void set_flags_of(Translator& t, const ptx::Operand& value) {
  t.know_flags();
  t.emit(Op::setp, Type::u32, {flag(Flag::zero)}, {value, t.number(0)}).mods.compare = ptx::Compare::eq;
  t.emit(Op::setp, Type::s32, {flag(Flag::sign)}, {value, t.number(0)}).mods.compare = ptx::Compare::lt;
  t.emit(Op::mov, Type::pred, {flag(Flag::carry)}, {constant_predicate(t, false)});
  t.emit(Op::mov, Type::pred, {flag(Flag::overflow)}, {constant_predicate(t, false)});
  if (t.adds_three()) t.emit(Op::mov, Type::pred, {flag(Flag::second_carry)}, {constant_predicate(t, false)});
}

void set_signs_of_sum(Translator& t, const ptx::Operand& sum, const ptx::Operand& x, const ptx::Operand& y) {
  t.emit(Op::setp, Type::s32, {flag(Flag::sign)}, {sum, t.number(0)}).mods.compare = ptx::Compare::lt;
  // Both terms have another sign than the sum.
  const ptx::Operand from_x = t.temporary(), from_y = t.temporary();
  t.emit(Op::xor_, Type::b32, {from_x}, {sum, x});
  t.emit(Op::xor_, Type::b32, {from_y}, {sum, y});
  t.emit(Op::and_, Type::b32, {from_x}, {from_x, from_y});
  t.emit(Op::setp, Type::s32, {flag(Flag::overflow)}, {from_x, t.number(0)}).mods.compare = ptx::Compare::lt;
}

}  // namespace simtlab::machine
