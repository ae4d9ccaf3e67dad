// Instructions whose results nobody reads go away.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

void clean(Program& program);

// What does something else than writing registers.
bool acts(const Instruction& instruction);

}  // namespace simtlab::assembler
