// Registers that a kernel may read before it has written them.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace simtlab::check {

// Rows of registers of an entry that are read on some way through it on which nothing was written to them
// (a guarded write does not count). A way that the program never takes counts, too: what happens decides.
// Empty for functions whose graph is too large to look at.
std::vector<std::uint32_t> may_be_unset(const ptx::Function& entry);

}  // namespace simtlab::check
