// LLVM's passes in the order that the analysis wants them.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

namespace simtlab::loops {

struct Analyses {
  Analyses();
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

// Variables into registers; loops stay as they are written.
void simplify(llvm::Function& function, Analyses& analyses);
// Preheaders, dedicated exits, closed form.
void canonical_loops(llvm::Function& function, Analyses& analyses);
// And what does not change in a loop is moved before it.
void hoist_invariants(llvm::Function& function, Analyses& analyses);

}  // namespace simtlab::loops
