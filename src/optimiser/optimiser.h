// The optimiser of PTX, which is a library beside the program: LLVM is in it.
#pragma once

#include "ptx/module.h"

namespace simtlab::optimiser {

// Has ptx::load_module optimise kernels. The library is loaded when the first of them is: code that was kept
// from earlier runs needs none. Where there is none, options.not_optimised says so.
void use(ptx::LoadOptions& options);
// The library is loaded at once. Throws Error(unavailable, "optimiser-missing").
void need(ptx::LoadOptions& options);
bool can_load();

}  // namespace simtlab::optimiser
