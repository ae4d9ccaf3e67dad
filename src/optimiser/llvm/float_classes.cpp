#include "optimiser/llvm/float_classes.h"

#include <llvm/ADT/FloatingPointMode.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <array>
#include <cstdint>
#include <vector>

namespace simtlab::optimiser {
namespace {

// Bits of numbers of a class lie between two, both included.
struct Range {
  std::uint64_t first = 0, last = 0;
};

// Those of the classes in the mask, neighbours as one.
std::vector<Range> ranges_of(const llvm::Type& type, unsigned mask) {
  const unsigned bits = type.getScalarSizeInBits();
  const auto fraction = static_cast<unsigned>(type.getFPMantissaWidth() - 1);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1), least_normal = std::uint64_t{1} << fraction,
                      infinity = sign - least_normal, quiet = infinity | least_normal >> 1;
  // From zero up, of each sign.
  const std::array<std::uint64_t, 7> begins = {0, 1, least_normal, infinity, infinity + 1, quiet, sign};
  const std::array<std::array<unsigned, 6>, 2> classes = {
      {{llvm::fcPosZero, llvm::fcPosSubnormal, llvm::fcPosNormal, llvm::fcPosInf, llvm::fcSNan, llvm::fcQNan},
       {llvm::fcNegZero, llvm::fcNegSubnormal, llvm::fcNegNormal, llvm::fcNegInf, llvm::fcSNan,
        llvm::fcQNan}}};
  std::vector<Range> out;
  for (unsigned negative = 0; negative < 2; ++negative)
    for (std::size_t k = 0; k < classes[negative].size(); ++k) {
      if ((mask & classes[negative][k]) == 0) continue;
      const std::uint64_t base = negative * sign, first = base + begins[k], last = base + (begins[k + 1] - 1);
      if (!out.empty() && out.back().last + 1 == first)
        out.back().last = last;
      else
        out.push_back({first, last});
    }
  return out;
}

}  // namespace

llvm::PreservedAnalyses FloatClasses::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  std::vector<llvm::IntrinsicInst*> found;
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
          call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::is_fpclass &&
          !call->getType()->isVectorTy())
        found.push_back(call);
  for (llvm::IntrinsicInst* call : found) {
    llvm::IRBuilder<> b(call);
    llvm::Value* x = call->getArgOperand(0);
    llvm::Type* integer = b.getIntNTy(x->getType()->getScalarSizeInBits());
    llvm::Value* bits = b.CreateBitCast(x, integer);
    const auto mask =
        static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call->getArgOperand(1))->getZExtValue());
    llvm::Value* is = b.getFalse();
    for (const Range& r : ranges_of(*x->getType(), mask)) {
      llvm::Value* first = llvm::ConstantInt::get(integer, r.first);
      llvm::Value* within = llvm::ConstantInt::get(integer, r.last - r.first);
      is = b.CreateOr(is, r.first == r.last ? b.CreateICmpEQ(bits, first)
                                            : b.CreateICmpULE(b.CreateSub(bits, first), within));
    }
    call->replaceAllUsesWith(is);
    call->eraseFromParent();
  }
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace simtlab::optimiser
