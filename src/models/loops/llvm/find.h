// The loop at a line, by the places that debug information keeps.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

#include "nest.h"

namespace simtlab::models::loops {

// The function that the loop is in. Throws Refused (loop-missing) that names the lines where loops begin.
llvm::Function& find_function(llvm::Module& module, Request& request);
// The outermost loop that begins at the line; null if none does.
llvm::Loop* find_loop(const llvm::LoopInfo& loops, const Request& request);

}  // namespace simtlab::models::loops
