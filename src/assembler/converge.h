// Where the lanes of a warp meet again after a branch: BSSY and BSYNC.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

void converge(Program& program);

}  // namespace simtlab::assembler
