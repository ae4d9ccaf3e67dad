// The optimiser of PTX, which is a library beside the program: LLVM is in it.
#pragma once

#include "ptx/module.h"

namespace simtlab::optimiser {

// For ptx::LoadOptions::optimise; the library is loaded once. Throws Error(missing_tool,
// "optimiser-missing").
ptx::Optimiser load();

}  // namespace simtlab::optimiser
