// LLVM's passes in the order that the analysis wants them.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

namespace simtlab::models::loops {

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
// The loops that stay loops of a thread test at their end, as the optimiser would have it, and what does not
// change in them is moved before them.
void hoist_invariants(llvm::Function& function, Analyses& analyses);

}  // namespace simtlab::models::loops
