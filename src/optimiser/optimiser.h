// The optimiser of PTX, which is a library beside the program: LLVM is in it.
#pragma once

#include "ptx/module.h"

namespace simtlab::optimiser {

// For ptx::LoadOptions::optimise; the library is loaded once. Throws Error(unavailable, "optimiser-missing").
ptx::Optimiser load();
// Null if there is none; then `why` says why.
ptx::Optimiser load(std::string& why);

}  // namespace simtlab::optimiser
