// One lane of a warp does an atomic operation for all that name the same place.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Integer operations of 32 bits on an address that is the same for all lanes, as ptxas does them: lanes that
// do the same are counted, values that differ are reduced (REDUX, from Ampere on). Values that such a sum
// returns are those that lanes one after another would get. Not where `generation`, for which the program
// will be rewritten, makes loops of atomics on shared memory, nor a sum that is returned where it has no
// shuffles. Before registers have numbers.
void combine_atomics(Program& program, unsigned generation);

}  // namespace simtlab::assembler
