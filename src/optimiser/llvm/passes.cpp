#include "optimiser/llvm/passes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/BDCE.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/InferAlignment.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopStrengthReduce.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/LowerConstantIntrinsics.h>
#include <llvm/Transforms/Scalar/NaryReassociate.h>
#include <llvm/Transforms/Scalar/Reassociate.h>
#include <llvm/Transforms/Scalar/SCCP.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SeparateConstOffsetFromGEP.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/Sink.h>
#include <llvm/Transforms/Scalar/StraightLineStrengthReduce.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

#include <string>

#include "optimiser/llvm/float_classes.h"
#include "optimiser/llvm/guarded_unroll.h"

namespace simtlab::optimiser {
namespace {

using llvm::Value;

// What LLVM asks of a target: a GPU whose accesses take a register and an offset, whose registers are plenty
// and whose branches may diverge.
class Gpu : public llvm::TargetTransformInfoImplCRTPBase<Gpu> {
  using Base = llvm::TargetTransformInfoImplCRTPBase<Gpu>;

 public:
  explicit Gpu(const llvm::DataLayout& layout) : Base(layout) {}
  bool hasBranchDivergence(const llvm::Function* = nullptr) const { return true; }
  bool isLegalAddressingMode(llvm::Type*, llvm::GlobalValue*, std::int64_t offset, bool, std::int64_t scale,
                             unsigned, llvm::Instruction* = nullptr, std::int64_t = 0) const {
    return scale <= 1 && offset >= -(1 << 23) && offset < (1 << 23);
  }
  unsigned getLoadStoreVecRegBitWidth(unsigned) const { return 128; }
  bool isLegalToVectorizeLoadChain(unsigned bytes, llvm::Align alignment, unsigned) const {
    return fits(bytes, alignment);
  }
  bool isLegalToVectorizeStoreChain(unsigned bytes, llvm::Align alignment, unsigned) const {
    return fits(bytes, alignment);
  }
  bool isTypeLegal(llvm::Type* t) const {
    return t->isFloatTy() || t->isDoubleTy() || t->isIntegerTy(32) || t->isIntegerTy(64);
  }
  unsigned getNumberOfRegisters(unsigned) const { return 255; }
  llvm::TypeSize getRegisterBitWidth(llvm::TargetTransformInfo::RegisterKind) const {
    return llvm::TypeSize::getFixed(32);
  }
  void getUnrollingPreferences(llvm::Loop*, llvm::ScalarEvolution&,
                               llvm::TargetTransformInfo::UnrollingPreferences& up,
                               llvm::OptimizationRemarkEmitter*) const {
    // In instructions of LLVM. As nvcc 13 and its assembler leave the loops of the SGEMM ladder: up to 16
    // copies in all, of which its front end has made four already.
    up.Threshold = 1000;
    up.PartialThreshold = 160;
    up.Partial = up.Runtime = true;
    up.DefaultUnrollRuntimeCount = 4;
    up.MaxCount = 16;
    up.UnrollRemainder = false;
  }

 private:
  static bool fits(unsigned bytes, llvm::Align alignment) {
    return (bytes == 4 || bytes == 8 || bytes == 16) && alignment.value() >= bytes;
  }
};

// Accesses through generic addresses whose space is known, and addresses of the frame that went through
// integers.
class Addresses : public llvm::PassInfoMixin<Addresses> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
    bool changed = false;
    std::vector<llvm::Instruction*> all;
    for (llvm::BasicBlock& block : f)
      for (llvm::Instruction& i : block) all.push_back(&i);
    for (llvm::Instruction* i : all) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(i)) changed |= back(*call);
      Value* p = llvm::getLoadStorePointerOperand(i);
      if (p == nullptr) continue;
      if (Value* better = place(*i, p)) {
        i->setOperand(llvm::isa<llvm::LoadInst>(i) ? 0 : 1, better);
        changed = true;
      }
    }
    return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
  }

 private:
  static bool calls(const Value* v, llvm::StringRef name) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(v);
    return call != nullptr && call->getCalledFunction() != nullptr &&
           call->getCalledFunction()->getName() == name;
  }
  static bool is_sum(const Value* v) {
    const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(v);
    return op != nullptr && (op->getOpcode() == llvm::Instruction::Add ||
                             (op->getOpcode() == llvm::Instruction::Or &&
                              llvm::cast<llvm::PossiblyDisjointInst>(op)->isDisjoint()));
  }
  // A leaf of a sum, and the sums that lead to it, outermost first. Sums may share parts, so that the search
  // has a budget.
  struct Leaf {
    Value* value = nullptr;  // null: none was found
    std::vector<std::pair<llvm::BinaryOperator*, unsigned>> way;
  };
  template <class Wanted>
  static bool search(Value* v, const Wanted& wanted, unsigned& budget, Leaf& out) {
    if (budget == 0) return false;
    --budget;
    if (wanted(v)) {
      out.value = v;
      return true;
    }
    if (!is_sum(v)) return false;
    auto* op = llvm::cast<llvm::BinaryOperator>(v);
    for (const unsigned side : {0u, 1u}) {
      out.way.emplace_back(op, side);
      if (search(op->getOperand(side), wanted, budget, out)) return true;
      out.way.pop_back();
    }
    return false;
  }
  template <class Wanted>
  static Leaf leaf(Value* v, const Wanted& wanted) {
    Leaf out;
    unsigned budget = 64;
    search(v, wanted, budget, out);
    return out;
  }
  // The sum with 0 (null) or another value in the place of that leaf.
  static Value* replaced(llvm::IRBuilder<>& b, const Leaf& leaf, Value* by) {
    for (auto step = leaf.way.rbegin(); step != leaf.way.rend(); ++step) {
      Value* other = step->first->getOperand(1 - step->second);
      by = by == nullptr ? other : b.CreateAdd(by, other);
    }
    return by;
  }

  // cvta.to.shared(cvta.shared(a) + b) is a + b.
  static bool back(llvm::CallInst& call) {
    for (const char* space : {"shared", "local"}) {
      if (!calls(&call, std::string("cvta.to.") + space)) continue;
      Value* a = call.getArgOperand(0);
      const Leaf found = leaf(a, [&](Value* v) { return calls(v, std::string("cvta.") + space); });
      if (found.value == nullptr) return false;
      llvm::IRBuilder<> b(&call);
      Value* sum = replaced(b, found, llvm::cast<llvm::CallInst>(found.value)->getArgOperand(0));
      call.replaceAllUsesWith(sum);
      return true;
    }
    return false;
  }

  static Value* frame_of(Value* v) {
    auto* cast = llvm::dyn_cast<llvm::PtrToIntInst>(v);
    if (cast == nullptr) return nullptr;
    Value* p = cast->getPointerOperand();
    while (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(p)) p = gep->getPointerOperand();
    return llvm::isa<llvm::AllocaInst>(p) ? cast->getPointerOperand() : nullptr;
  }

  // Null: it stays.
  static Value* place(llvm::Instruction& access, Value* p) {
    std::vector<Value*> indices;
    Value* at = p;
    while (auto* gep = llvm::dyn_cast<llvm::GEPOperator>(at)) {
      if (gep->getNumIndices() != 1 || !gep->getSourceElementType()->isIntegerTy(8)) return nullptr;
      indices.push_back(gep->getOperand(1));
      at = gep->getPointerOperand();
    }
    auto* base = llvm::dyn_cast<llvm::IntToPtrInst>(at);
    if (base == nullptr) return nullptr;
    indices.push_back(base->getOperand(0));
    const bool generic = base->getType()->getPointerAddressSpace() == generic_space;
    llvm::IRBuilder<> b(&access);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      Value* index = indices[i];
      const auto shared = [&](Value* v) { return generic && calls(v, "cvta.shared"); };
      const auto frame = [&](Value* v) {
        if (generic)
          return calls(v, "cvta.local") &&
                 frame_of(llvm::cast<llvm::CallInst>(v)->getArgOperand(0)) != nullptr;
        return frame_of(v) != nullptr;
      };
      Value* rest = nullptr;
      Value* pointer = nullptr;
      if (const Leaf found = leaf(index, shared); found.value != nullptr) {
        rest = replaced(b, found, llvm::cast<llvm::CallInst>(found.value)->getArgOperand(0));
        pointer = space_variable(*access.getModule(), "space.shared", shared_space);
      } else if (const Leaf of_frame = leaf(index, frame); of_frame.value != nullptr) {
        rest = replaced(b, of_frame, nullptr);
        pointer =
            frame_of(generic ? llvm::cast<llvm::CallInst>(of_frame.value)->getArgOperand(0) : of_frame.value);
      } else {
        continue;
      }
      if (rest != nullptr) pointer = b.CreateGEP(b.getInt8Ty(), pointer, rest);
      for (std::size_t k = indices.size(); k-- > 0;)
        if (k != i) pointer = b.CreateGEP(b.getInt8Ty(), pointer, indices[k]);
      return pointer;
    }
    return nullptr;
  }
};

// A pass whose time grows with the square of a block's accesses, where no block has very many.
template <class P>
class Bounded : public llvm::PassInfoMixin<Bounded<P>> {
 public:
  Bounded(P pass, Lifted& lifted) : pass_(std::move(pass)), lifted_(lifted) {}
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
    constexpr unsigned most = 2000;
    for (const llvm::BasicBlock& block : f) {
      unsigned accesses = 0;
      for (const llvm::Instruction& i : block) accesses += i.mayReadOrWriteMemory() ? 1 : 0;
      if (accesses <= most) continue;
      lifted_.leave_out("a block has more than 2,000 accesses, which are not merged");
      return llvm::PreservedAnalyses::all();
    }
    return pass_.run(f, analyses);
  }

 private:
  P pass_;
  Lifted& lifted_;
};

// Loops times instructions: what passes that reason about loops take grows with it, for what is known of the
// values behind a loop is worked out anew whenever one is changed.
std::size_t loop_work(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  return analyses.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder().size() * f.getInstructionCount();
}

// Unrolling, where that is not too much.
template <class P>
class OfFewLoops : public llvm::PassInfoMixin<OfFewLoops<P>> {
 public:
  OfFewLoops(P pass, Lifted& lifted) : pass_(std::move(pass)), lifted_(lifted) {}
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
    constexpr std::size_t most = 100'000;
    if (loop_work(f, analyses) <= most) return pass_.run(f, analyses);
    lifted_.leave_out("it has too many loops for its size, which are not unrolled");
    return llvm::PreservedAnalyses::all();
  }

 private:
  P pass_;
  Lifted& lifted_;
};

// As llvm::BreakCriticalEdgesPass, which keeps the tree of dominators right with each of thousands of edges:
// nobody asks for it any more.
class SplitCriticalEdges : public llvm::PassInfoMixin<SplitCriticalEdges> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
    llvm::SplitAllCriticalEdges(f, llvm::CriticalEdgeSplittingOptions());
    return llvm::PreservedAnalyses::none();
  }
};

void add_tidy(llvm::FunctionPassManager& p) {
  p.addPass(llvm::InstCombinePass());
  p.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(false)));
  p.addPass(llvm::EarlyCSEPass(true));
}

void add_end(llvm::FunctionPassManager& p) {
  p.addPass(FloatClasses());
  p.addPass(llvm::EarlyCSEPass(true));
  p.addPass(llvm::BDCEPass());
  p.addPass(llvm::ADCEPass());
  p.addPass(llvm::SimplifyCFGPass());
  p.addPass(llvm::LowerSwitchPass());
  p.addPass(SplitCriticalEdges());
}

// Without what reasons about loops.
llvm::FunctionPassManager short_pipeline() {
  llvm::FunctionPassManager p;
  p.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  add_tidy(p);
  p.addPass(Addresses());
  p.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  p.addPass(llvm::SCCPPass());
  add_tidy(p);
  add_end(p);
  return p;
}

llvm::FunctionPassManager pipeline(Lifted& lifted) {
  llvm::FunctionPassManager p;
  const auto tidy = [&] { add_tidy(p); };
  const auto loops = [&](auto pass, bool memory_ssa = false) {
    p.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(pass), memory_ssa));
  };
  p.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  tidy();
  p.addPass(Addresses());
  p.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  p.addPass(llvm::SCCPPass());
  p.addPass(llvm::CorrelatedValuePropagationPass());
  tidy();
  p.addPass(llvm::LoopSimplifyPass());
  p.addPass(llvm::LCSSAPass());
  loops(llvm::LoopRotatePass(false), true);
  loops(llvm::LICMPass(llvm::LICMOptions()), true);
  p.addPass(llvm::InstCombinePass());
  p.addPass(llvm::LoopSimplifyPass());
  p.addPass(llvm::LCSSAPass());
  loops(llvm::IndVarSimplifyPass(true));
  loops(llvm::LoopDeletionPass());
  loops(llvm::LoopFullUnrollPass(3, false, true));
  p.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  tidy();
  p.addPass(Addresses());
  p.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  p.addPass(llvm::GVNPass());
  p.addPass(Bounded(llvm::DSEPass(), lifted));
  p.addPass(llvm::LoopSimplifyPass());
  p.addPass(llvm::LCSSAPass());
  p.addPass(OfFewLoops(GuardedUnroll(), lifted));
  p.addPass(OfFewLoops(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(3)), lifted));
  tidy();
  p.addPass(llvm::SeparateConstOffsetFromGEPPass(false));
  p.addPass(llvm::StraightLineStrengthReducePass());
  p.addPass(llvm::EarlyCSEPass(true));
  p.addPass(llvm::GVNPass());
  p.addPass(llvm::LoopSimplifyPass());
  p.addPass(llvm::LCSSAPass());
  loops(llvm::LICMPass(llvm::LICMOptions()), true);
  p.addPass(llvm::InferAlignmentPass());
  p.addPass(Bounded(llvm::LoadStoreVectorizerPass(), lifted));
  add_end(p);
  return p;
}

}  // namespace

void run_passes(Lifted& lifted) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder;
  fam.registerPass([] {
    return llvm::TargetIRAnalysis(
        [](const llvm::Function& f) { return llvm::TargetTransformInfo(Gpu(f.getDataLayout())); });
  });
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  constexpr std::size_t most = 1'000'000;
  if (loop_work(*lifted.function, fam) > most) {
    lifted.leave_out("it has too many loops for its size, which are left as they are");
    short_pipeline().run(*lifted.function, fam);
    return;
  }
  pipeline(lifted).run(*lifted.function, fam);
}

}  // namespace simtlab::optimiser
