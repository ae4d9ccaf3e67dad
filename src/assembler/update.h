// Variables of loops are changed in place.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// i + 1 comes behind what reads i, where the order of PTX keeps both: then one register is enough, and the
// round needs no copy. Before registers have numbers.
void update_in_place(Program& program);

}  // namespace simtlab::assembler
