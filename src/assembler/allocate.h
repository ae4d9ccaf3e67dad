// Registers get numbers.
#pragma once

#include <string>

#include "assembler/program.h"

namespace simtlab::assembler {

// Thrown where there are too few uniform registers or predicates: they cannot be spilled.
struct NoUniformRegisters {};

// Copies whose two registers can be one go away; every register gets a number; what has no room in
// Program::most_registers goes to local memory. False: that cannot be done, for the reason in `why`.
bool allocate(Program& program, std::string& why);

}  // namespace simtlab::assembler
