// The order of instructions within blocks.
#pragma once

#include "optimiser/llvm/lift.h"

namespace simtlab::optimiser {

// Loads come early and what needs them late, as far as registers allow: PTX is issued in order, so that an
// instruction that waits holds up all behind it.
void schedule(Lifted& lifted);

}  // namespace simtlab::optimiser
