// Tidies code over virtual registers that comes out of SSA form: copies whose registers can be one, and jumps
// to jumps.
#pragma once

#include "ptx/decode.h"

namespace simtlab::optimiser {

// Makes one register of the two of a copy wherever their lives do not overlap, inner loops first.
void coalesce(ptx::VirtualFunction& f);
// Branches lead past jumps, a branch around a jump becomes one branch, and code that nothing leads to goes.
void straighten(ptx::VirtualFunction& f);

}  // namespace simtlab::optimiser
