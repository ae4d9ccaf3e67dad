// Addresses with a signed index of bytes.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// LEA.HI.X.SX32 adds the sign of a register to the upper word of a sum: the sign needs no instruction of its
// own. Before registers have numbers.
void add_signs(Program& program);

}  // namespace simtlab::assembler
