// Tests of bits are one instruction.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// LOP3 says by itself whether its result is 0: the comparison behind it is left out, where nobody else wants
// the result. Before registers have numbers.
void test_bits(Program& program);

}  // namespace simtlab::assembler
