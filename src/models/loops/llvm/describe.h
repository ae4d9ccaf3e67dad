// What simtlab wants to know about a nest, as JSON.
#pragma once

#include "expression.h"
#include "nest.h"
#include "passes.h"

namespace simtlab::models::loops {

// The loops that become threads at most: the outermost one, and each that is all that is in the one around
// it.
std::vector<llvm::Loop*> prefix_of(const llvm::LoopInfo& loops);
// The induction variable of a canonical loop; null if it has none. Throws Refused if the outermost loop has
// none.
struct Induction {
  llvm::PHINode* phi = nullptr;
  llvm::BinaryOperator* next = nullptr;
  bool tested = false;  // the loop goes on by a comparison of it, and by nothing else
};
Induction induction_of(const llvm::Loop& loop);

Json describe(Nest& nest, Analyses& analyses);

}  // namespace simtlab::models::loops
