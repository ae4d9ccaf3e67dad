// Steps of loops that are products are computed in each round.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// ptxas has the product of two numbers of the launch (threads of a grid) in front of the only sum that reads
// it, in a loop as well. Of 32 bits it is one instruction with the sum (ptx/fold.h); of 64 bits it stands by
// itself. Where instructions of lanes read constant banks and IMAD multiplies: Volta to Ada. Behind hoist().
void compute_steps_in_loops(Program& program);

}  // namespace simtlab::assembler
