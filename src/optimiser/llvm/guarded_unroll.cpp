#include "optimiser/llvm/guarded_unroll.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <memory>
#include <optional>
#include <vector>

namespace simtlab::optimiser {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using Predicate = llvm::CmpInst::Predicate;

// Rounds at a time, as ptxas has it, and instructions of LLVM in a loop at most: of the loops that ptxas was
// seen to treat so the largest has 47.
constexpr unsigned rounds = 4, largest = 50;

// A loop goes on while `tested` and `limit` compare so; `tested` changes by `step` a round.
struct Count {
  const llvm::SCEVAddRecExpr* tested = nullptr;
  Value* value = nullptr;  // `tested` of this round
  Value* limit = nullptr;
  Predicate goes_on = Predicate::BAD_ICMP_PREDICATE;
  std::uint64_t step = 0;  // without its sign
  bool down = false;
};

std::optional<Count> count_of(const llvm::Loop& loop, llvm::ScalarEvolution& se) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(loop.getLoopLatch()->getTerminator());
  if (branch == nullptr || !branch->isConditional()) return std::nullopt;
  auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (compare == nullptr || !compare->getOperand(0)->getType()->isIntegerTy()) return std::nullopt;
  Count out;
  out.goes_on =
      branch->getSuccessor(0) == loop.getHeader() ? compare->getPredicate() : compare->getInversePredicate();
  out.value = compare->getOperand(0);
  out.limit = compare->getOperand(1);
  if (!loop.isLoopInvariant(out.limit)) {
    std::swap(out.value, out.limit);
    out.goes_on = llvm::CmpInst::getSwappedPredicate(out.goes_on);
  }
  if (!loop.isLoopInvariant(out.limit)) return std::nullopt;
  out.tested = llvm::dyn_cast<llvm::SCEVAddRecExpr>(se.getSCEV(out.value));
  if (out.tested == nullptr || out.tested->getLoop() != &loop || !out.tested->isAffine()) return std::nullopt;
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(out.tested->getStepRecurrence(se));
  if (step == nullptr || step->isZero()) return std::nullopt;
  out.down = step->getAPInt().isNegative();
  const llvm::APInt size = step->getAPInt().abs();
  // What four rounds add is far from all that there is room for.
  if (size.getActiveBits() + 4 > size.getBitWidth() || size.getActiveBits() > 32) return std::nullopt;
  out.step = size.getZExtValue();
  switch (out.goes_on) {
    case Predicate::ICMP_NE: return out;
    case Predicate::ICMP_SLT:
    case Predicate::ICMP_ULT: return out.down ? std::nullopt : std::optional(out);
    case Predicate::ICMP_SGT:
    case Predicate::ICMP_UGT: return out.down ? std::optional(out) : std::nullopt;
    default: return std::nullopt;
  }
}

// Whether the loop goes on with this value and with those of so many more rounds. What it takes that is the
// same in every round goes to `before`.
Value* goes_on_for(const Count& c, Value* value, unsigned more, llvm::IRBuilder<>& before,
                   llvm::IRBuilder<>& at) {
  using N = llvm::Intrinsic::IndependentIntrinsics;
  llvm::Type* type = value->getType();
  Value* distance = llvm::ConstantInt::get(type, more * c.step);
  const auto limited = [&](Value* extreme, N farther) {
    Value* bound = before.CreateBinaryIntrinsic(farther, c.limit, extreme);
    return c.down ? before.CreateAdd(bound, distance) : before.CreateSub(bound, distance);
  };
  const unsigned bits = type->getIntegerBitWidth();
  const llvm::APInt far(bits, more * c.step);
  const auto number = [&](const llvm::APInt& n) { return llvm::ConstantInt::get(type, n); };
  switch (c.goes_on) {
    case Predicate::ICMP_NE: {
      Value* left = c.down ? at.CreateSub(value, c.limit) : at.CreateSub(c.limit, value);
      return at.CreateICmpUGT(left, distance);
    }
    case Predicate::ICMP_SLT:
      return at.CreateICmpSLT(value, limited(number(llvm::APInt::getSignedMinValue(bits) + far), N::smax));
    case Predicate::ICMP_ULT: return at.CreateICmpULT(value, limited(number(far), N::umax));
    case Predicate::ICMP_SGT:
      return at.CreateICmpSGT(value, limited(number(llvm::APInt::getSignedMaxValue(bits) - far), N::smin));
    default: return at.CreateICmpUGT(value, limited(number(llvm::APInt::getMaxValue(bits) - far), N::umin));
  }
}

// The number of rounds would take a division, if it is known at all.
bool is_dear(const llvm::SCEV* turns) {
  return llvm::isa<llvm::SCEVCouldNotCompute>(turns) ||
         llvm::SCEVExprContains(turns, [](const llvm::SCEV* part) {
           const auto* division = llvm::dyn_cast<llvm::SCEVUDivExpr>(part);
           if (division == nullptr) return false;
           const auto* by = llvm::dyn_cast<llvm::SCEVConstant>(division->getRHS());
           return by == nullptr || !by->getAPInt().isPowerOf2();
         });
}

bool is_candidate(const llvm::Loop& loop, llvm::ScalarEvolution& se) {
  if (!loop.isInnermost() || !loop.isLoopSimplifyForm() || loop.getExitingBlock() != loop.getLoopLatch() ||
      loop.getExitBlock() == nullptr || (llvm::hasUnrollTransformation(&loop) & llvm::TM_Disable) != 0 ||
      !is_dear(se.getBackedgeTakenCount(&loop)))
    return false;
  unsigned size = 0;
  for (const BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& i : *block) {
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
          call != nullptr && (call->isConvergent() || call->cannotDuplicate()))
        return false;
      if (!llvm::isa<llvm::PHINode>(i) && !llvm::isa<llvm::DbgInfoIntrinsic>(i)) ++size;
    }
  return size <= largest;
}

class Unroller {
 public:
  Unroller(llvm::Loop& loop, llvm::ScalarEvolution& se, llvm::DominatorTree& tree)
      : loop_(loop), se_(se), tree_(tree), f_(*loop.getHeader()->getParent()) {}

  bool run() {
    const std::optional<Count> count = count_of(loop_, se_);
    if (!count || !loop_.isLCSSAForm(tree_)) return false;
    BasicBlock *before = loop_.getLoopPreheader(), *header = loop_.getHeader(), *latch = loop_.getLoopLatch(),
               *exit = loop_.getExitBlock();
    llvm::SCEVExpander expander(se_, f_.getDataLayout(), "rounds");
    if (!expander.isSafeToExpandAt(count->tested->getStart(), before->getTerminator())) return false;
    copy();

    // Of the first round, and of as many behind it as are made without a test.
    llvm::IRBuilder<> at_begin(before->getTerminator());
    Value* first =
        expander.expandCodeFor(count->tested->getStart(), count->value->getType(), before->getTerminator());
    at_begin.SetInsertPoint(before->getTerminator());
    Value* enters = goes_on_for(*count, first, rounds - 2, at_begin, at_begin);

    BasicBlock* rest = BasicBlock::Create(f_.getContext(), "rest", &f_, header);
    llvm::IRBuilder<>(rest).CreateBr(header);
    BasicBlock* behind = BasicBlock::Create(f_.getContext(), "behind", &f_, rest);

    // The last copy decides on another turn; behind it the loop's own test says whether anything is left.
    BasicBlock *main = copied(0, header), *end = copied(rounds - 1, latch);
    Value* last = mapped(rounds - 1, count->value);
    end->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> at_end(end);
    at_end.SetCurrentDebugLocation(latch->getTerminator()->getDebugLoc());
    Value* again = goes_on_for(*count, last, rounds - 1, at_begin, at_end);
    at_end.CreateCondBr(again, main, behind);
    llvm::IRBuilder<> at_behind(behind);
    at_behind.SetCurrentDebugLocation(latch->getTerminator()->getDebugLoc());
    at_behind.CreateCondBr(at_behind.CreateICmp(count->goes_on, last, count->limit), rest, exit);

    before->getTerminator()->eraseFromParent();
    llvm::IRBuilder<>(before).CreateCondBr(enters, main, rest);

    for (llvm::PHINode& phi : header->phis()) {
      const int from = phi.getBasicBlockIndex(before);
      Value *start = phi.getIncomingValue(static_cast<unsigned>(from)),
            *next = mapped(rounds - 1, phi.getIncomingValueForBlock(latch));
      llvm::PHINode* left = llvm::PHINode::Create(phi.getType(), 2, "", rest->getTerminator()->getIterator());
      left->addIncoming(start, before);
      left->addIncoming(next, behind);
      phi.setIncomingBlock(static_cast<unsigned>(from), rest);
      phi.setIncomingValue(static_cast<unsigned>(from), left);
      llvm::cast<llvm::PHINode>(mapped(0, &phi))->addIncoming(next, end);
    }
    for (llvm::PHINode& phi : exit->phis())
      phi.addIncoming(mapped(rounds - 1, phi.getIncomingValueForBlock(latch)), behind);
    loop_.setLoopAlreadyUnrolled();
    return true;
  }

 private:
  using Map = llvm::ValueToValueMapTy;

  // The copies follow each other; each begins with what the one before leaves.
  void copy() {
    BasicBlock *header = loop_.getHeader(), *latch = loop_.getLoopLatch();
    for (unsigned k = 0; k < rounds; ++k) {
      maps_.push_back(std::make_unique<Map>());
      Map& map = *maps_.back();
      llvm::SmallVector<BasicBlock*, 8> blocks;
      for (BasicBlock* block : loop_.blocks()) {
        BasicBlock* made = llvm::CloneBasicBlock(block, map, ".round", &f_);
        map[block] = made;
        made->moveBefore(header);
        blocks.push_back(made);
      }
      for (llvm::PHINode& phi : header->phis()) {
        auto* made = llvm::cast<llvm::PHINode>(map[&phi]);
        if (k == 0) {
          made->removeIncomingValue(latch, false);
          continue;
        }
        map[&phi] = mapped(k - 1, phi.getIncomingValueForBlock(latch));
        made->eraseFromParent();
      }
      llvm::remapInstructionsInBlocks(blocks, map);
      if (k == 0) continue;
      llvm::Instruction* end = copied(k - 1, latch)->getTerminator();
      llvm::IRBuilder<> b(end);
      b.CreateBr(copied(k, header));
      end->eraseFromParent();
    }
  }
  Value* mapped(unsigned copy, Value* v) const {
    const auto found = maps_[copy]->find(v);
    return found == maps_[copy]->end() ? v : static_cast<Value*>(found->second);
  }
  BasicBlock* copied(unsigned copy, BasicBlock* block) const {
    return llvm::cast<BasicBlock>(mapped(copy, block));
  }

  llvm::Loop& loop_;
  llvm::ScalarEvolution& se_;
  llvm::DominatorTree& tree_;
  llvm::Function& f_;
  std::vector<std::unique_ptr<Map>> maps_;
};

}  // namespace

llvm::PreservedAnalyses GuardedUnroll::run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  auto& se = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
  auto& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(f);
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(f);
  std::vector<llvm::Loop*> chosen;
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    if (is_candidate(*loop, se)) chosen.push_back(loop);
  bool changed = false;
  for (llvm::Loop* loop : chosen) changed = Unroller(*loop, se, tree).run() || changed;
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace simtlab::optimiser
