// Lanes that wait for others let them go first.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// From Ampere on, YIELD at the head of each loop in which the PTX has an atomic operation: a round may wait
// for lanes of its own warp. Loops that stand for one operation of the PTX have none. Before registers have
// numbers.
void yield_in_loops(Program& program);

}  // namespace simtlab::assembler
