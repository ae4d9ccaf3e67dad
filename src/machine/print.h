// Instructions as text, in the syntax that the vendor's disassembler made common.
#pragma once

#include <functional>
#include <string>

#include "machine/instruction.h"

namespace simtlab::machine {

// The name of the code at an address of the function: a label, a function; empty: the number is written.
using NameOfCode = std::function<std::string(std::uint64_t address)>;

// "@!P0 IMAD.WIDE R2, R0, R3, c[0x0][0x160]"
std::string text_of(const Instruction& instruction, const NameOfCode& name_of = {});
// "LDG.E.64": the mnemonic with its modifiers.
std::string opcode_text(const Instruction& instruction);
// "P0", "UP3", "PT"
std::string predicate_name(bool uniform, unsigned number);
// "SR_TID.X"; of unknown ones "SR123". Maxwell and Pascal have names of their own for some numbers.
std::string special_register_name(unsigned number, unsigned generation);
// "stall 4, yield, sets 0, waits for 1 2": what the assembler tells the hardware, in few characters of fixed
// width: "4 y w0 r- 12---- a--".
std::string text_of(const Control& control);

}  // namespace simtlab::machine
