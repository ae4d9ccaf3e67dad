// One operand of an instruction as text.
#pragma once

#include <cstddef>
#include <string>

#include "machine/print.h"

namespace simtlab::machine {

std::string operand_text(const Instruction& instruction, std::size_t operand, const NameOfCode& name_of);
// An operand that is written only where it says something, and does not.
bool is_left_out(const Instruction& instruction, std::size_t operand);

}  // namespace simtlab::machine
