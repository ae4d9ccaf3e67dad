// One operand of an instruction as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "machine/print.h"

namespace simtlab::machine {

std::string register_name(unsigned number);
std::string operand_text(const Instruction& instruction, std::size_t operand, const NameOfCode& name_of);
// The words that stand behind an operand.
std::string suffix_of(const Instruction& instruction, const OperandText& text);
// An operand that is written only where it says something, and does not.
bool is_left_out(const Instruction& instruction, std::size_t operand);

// Of instructions in bundles: the number that an immediate stands for, and an operand with its modifiers.
std::int64_t bundled_value(const Instruction& instruction, const OperandForm& form, const Operand& operand);
std::string bundled_text(const Instruction& instruction, std::size_t operand, std::string plain);

}  // namespace simtlab::machine
