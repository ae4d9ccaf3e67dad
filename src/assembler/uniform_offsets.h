// Addresses of a register pair and a uniform register.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Turing adds a uniform register to the address of an access: [R2.64+UR4]. Where accesses alone read a pair
// plus a parameter of 64 bits, they read the pair, and a ULDC in front of them brings the parameter. Later
// generations have a descriptor in its place. Convergence barriers are set; before registers have numbers.
void use_uniform_offsets(Program& program);

}  // namespace simtlab::assembler
