// From LLVM IR back to a function over virtual registers.
#pragma once

#include "optimiser/llvm/lift.h"

namespace simtlab::optimiser {

// Replaces code, constants, registers and the frame of `f`, which `lifted` was made from. Throws GivenUp, and
// then `f` is as it was.
void lower(const Lifted& lifted, ptx::VirtualFunction& f);

}  // namespace simtlab::optimiser
