// llvm.is.fpclass, which InstCombine makes of comparisons with NaN and infinity, as comparisons of bits.
#pragma once

#include <llvm/IR/PassManager.h>

namespace simtlab::optimiser {

class FloatClasses : public llvm::PassInfoMixin<FloatClasses> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager&);
};

}  // namespace simtlab::optimiser
