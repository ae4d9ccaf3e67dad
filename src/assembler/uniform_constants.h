// Constants that the lanes of a warp read from one uniform register.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Where instructions of lanes do not read constant banks (reads_constants()): a word of a bank, or a number
// of f64, goes to a uniform register if all that read it have room for one. It is loaded where all lanes run
// together. Convergence barriers are set; before registers have numbers. So do numbers of blocks
// (Register::first_factor).
void use_uniform_constants(Program& program);

}  // namespace simtlab::assembler
