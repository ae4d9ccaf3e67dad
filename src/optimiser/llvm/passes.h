// The passes of LLVM that a kernel goes through, and what they are told of a GPU.
#pragma once

#include "optimiser/llvm/lift.h"

namespace simtlab::optimiser {

void run_passes(Lifted& lifted);

}  // namespace simtlab::optimiser
