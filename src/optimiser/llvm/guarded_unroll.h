// Loops that count by a constant and whose number of rounds LLVM does not know, for nothing says that the
// count does not wrap, or would have to divide for: `i < n; i += 32`.
//
// Before such a loop comes another that makes four rounds without a test between them, as long as so many are
// certainly left; the loop itself makes the rest. ptxas does the same.
#pragma once

#include <llvm/IR/PassManager.h>

namespace simtlab::optimiser {

class GuardedUnroll : public llvm::PassInfoMixin<GuardedUnroll> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace simtlab::optimiser
