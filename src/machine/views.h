// What models read of an instruction of machine code: a ptx::Inst with its class, registers, and the size and
// space of its access. It is never executed.
#pragma once

#include "machine/classes.h"
#include "machine/code.h"
#include "machine/instruction.h"

namespace simtlab::machine {

ptx::Inst view_of(const Instruction& instruction, const SassTable& classes, const Layout& layout);

// Registers that an operand takes, from its first on: 2 for a 64-bit value, 4 for 128 bits; 0: it is no
// register.
unsigned registers_of(const Instruction& instruction, std::size_t operand);

}  // namespace simtlab::machine
