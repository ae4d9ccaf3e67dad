// The flags of a thread on Maxwell and Pascal: what .CC sets, and .X, CSET, CSETP and branches ask.
//
// They are uniform predicates, which those generations do not have: UP0 the result was 0, UP1 it was
// negative, UP2 the carry, UP3 the overflow, in the order in which P2R.CC writes them. UP4 says that the last
// LEA.CC made the low word of an address in the window of shared memory, if its high word is that of the
// window.
// UP5 is the second carry of IADD3.CC, which IADD3.X adds, too.
#pragma once

#include "machine/translator.h"

namespace simtlab::machine {

enum class Flag : std::uint8_t { zero, sign, carry, overflow, window, second_carry };
inline constexpr unsigned flags_in_register = 4;

inline ptx::Operand flag(Flag which) {
  return {.kind = ptx::OperandKind::pred,
          .index = Layout::uniform_predicate + static_cast<std::uint32_t>(which)};
}

inline bool writes_flags(const Translator& t) { return t.field("cc") != 0; }
inline bool reads_flags(const Translator& t) { return t.field("x") != 0; }

// The field `test` of branches, CSET and CSETP where it asks nothing.
inline constexpr unsigned test_always = 15;

// A predicate of its own that says what a test finds.
ptx::Operand tested_flags(Translator& t, unsigned test);

// The flags of an integer result: no carry, no overflow.
void set_flags_of(Translator& t, const ptx::Operand& value);
// Overflow and sign of sum = x + y and a carry.
void set_signs_of_sum(Translator& t, const ptx::Operand& sum, const ptx::Operand& x, const ptx::Operand& y);

// What an instruction does whose flags are those of its result.
template <Semantics translate>
void with_flags(Translator& t) {
  translate(t);
  if (writes_flags(t)) set_flags_of(t, t.last_result());
}

}  // namespace simtlab::machine
