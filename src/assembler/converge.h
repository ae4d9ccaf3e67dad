// Where the lanes of a warp meet again after a branch: BSSY and BSYNC.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

void converge(Program& program);

// A block that does nothing but end. Who goes there can end where it is: then it needs no place to meet the
// others at.
bool only_exits(const Block& block);

}  // namespace simtlab::assembler
