// Instructions to words: what decode() reads.
#pragma once

#include "machine/instruction.h"

namespace simtlab::machine {

// The word of `instruction` at Instruction::address. Its operands and fields fit their bits.
Word encode(const Instruction& instruction);

}  // namespace simtlab::machine
