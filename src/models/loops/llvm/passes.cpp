#include "passes.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopRotationUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <algorithm>

#include "describe.h"

namespace simtlab::models::loops {

Analyses::Analyses() {
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

void simplify(llvm::Function& function, Analyses& analyses) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  analyses.functions.invalidate(function, passes.run(function, analyses.functions));
}

void canonical_loops(llvm::Function& function, Analyses& analyses) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  analyses.functions.invalidate(function, passes.run(function, analyses.functions));
}

namespace {

void rotate_inner(llvm::Function& function, Analyses& analyses) {
  llvm::FunctionAnalysisManager& a = analyses.functions;
  auto& loops = a.getResult<llvm::LoopAnalysis>(function);
  const std::vector<llvm::Loop*> prefix = prefix_of(loops);
  llvm::SmallVector<llvm::Loop*> inner;
  const auto all = loops.getLoopsInPreorder();
  for (llvm::Loop* l : llvm::reverse(all))
    if (std::ranges::find(prefix, l) == prefix.end()) inner.push_back(l);
  const llvm::SimplifyQuery query = llvm::getBestSimplifyQuery(a, function);
  for (llvm::Loop* l : inner)
    llvm::LoopRotation(l, &loops, &a.getResult<llvm::TargetIRAnalysis>(function),
                       &a.getResult<llvm::AssumptionAnalysis>(function),
                       &a.getResult<llvm::DominatorTreeAnalysis>(function),
                       &a.getResult<llvm::ScalarEvolutionAnalysis>(function), nullptr, query,
                       /*RotationOnly=*/false, /*Threshold=*/64, /*IsUtilMode=*/false);
  a.invalidate(function, llvm::PreservedAnalyses::none());
}

}  // namespace

void hoist_invariants(llvm::Function& function, Analyses& analyses) {
  rotate_inner(function, analyses);
  llvm::FunctionPassManager passes;
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  analyses.functions.invalidate(function, passes.run(function, analyses.functions));
}

}  // namespace simtlab::models::loops
