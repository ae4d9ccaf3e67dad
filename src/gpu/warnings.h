// What a kernel does that makes its own results mean something else than they seem to.
#pragma once

#include <optional>

#include "ptx/module.h"
#include "result/table.h"

namespace simtlab::gpu {

// lowering: instructions fold (timing/lowering.h); null: nobody times them, clocks mean nothing. The table
// "warnings" of a kernel and of the functions that it calls; nothing if there is nothing to say. One row a
// place of the source.
std::optional<result::Table> warnings_of(const ptx::Module& module, const ptx::Function& kernel,
                                         std::optional<bool> lowering);

}  // namespace simtlab::gpu
