// What does not change in a loop is computed in front of it.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// The optimiser has done so with PTX. What selection and expansion add is left: numbers and parameters in
// registers, reciprocals of divisors. Equal ones become one. Loops get a block that leads to them alone.
void hoist(Program& program);

}  // namespace simtlab::assembler
