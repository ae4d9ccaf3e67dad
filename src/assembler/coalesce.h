// Copies go away where both of their registers can be one.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/liveness.h"
#include "assembler/program.h"

namespace simtlab::assembler {

// Afterwards instructions name fewer registers, and `lives` is that of those (in the gaps of the code before:
// copies that went away leave theirs). with_fixed: registers whose number is fixed take part, and live
// longer. Values of segments mean nothing any more. Registers that nothing names stay in Program::registers.
void coalesce(Program& program, Liveness& liveness, bool with_fixed = true);

}  // namespace simtlab::assembler
