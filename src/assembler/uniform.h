// Values that are the same for all lanes of a warp.
#pragma once

#include <vector>

#include "assembler/flow.h"

namespace simtlab::assembler {

// Of each register (none of its parts differs between lanes that run together), and of each block that ends
// in a guarded branch, whether lanes may go apart there.
struct Uniformity {
  std::vector<bool> differs;   // by register
  std::vector<bool> diverges;  // by block
};
Uniformity find_uniform(const Program& program, const Flow& flow);

}  // namespace simtlab::assembler
