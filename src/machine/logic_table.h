// Tables of logic over three inputs (LOP3, PLOP3): bit a << 2 | b << 1 | c.
#pragma once

namespace simtlab::machine {

// The table over the others where input 0, 1 or 2 (a, b, c) is a constant; it is read as 0 from then on.
constexpr unsigned with_constant(unsigned table, unsigned input, bool value) {
  unsigned out = 0;
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned bit = 1u << (2 - input), from = value ? k | bit : k & ~bit;
    out |= (table >> from & 1u) << k;
  }
  return out;
}

}  // namespace simtlab::machine
