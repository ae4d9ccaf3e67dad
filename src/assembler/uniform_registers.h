// Values that are the same for all lanes go to uniform registers, and are computed once for a warp.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// From Turing on, where that saves registers or instructions of lanes. Convergence barriers are set. What is
// computed once for a warp is computed in blocks that all lanes run together: where lanes are apart, one of
// them would change what others still read.
void use_uniform_registers(Program& program);

}  // namespace simtlab::assembler
