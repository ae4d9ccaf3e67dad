#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "kernel.h"

namespace simtlab::models::loops {
namespace {

// Globals that the run time of the measured program knows (data/loops/run_time.c).
struct Counters {
  llvm::GlobalVariable *blocks, *low, *high, *written;
};

llvm::GlobalVariable* array_of(llvm::Module& m, std::uint64_t count, const char* name, std::uint64_t fill) {
  llvm::Type* word = llvm::Type::getInt64Ty(m.getContext());
  auto* type = llvm::ArrayType::get(word, std::max<std::uint64_t>(count, 1));
  const std::vector<std::uint64_t> values(std::max<std::uint64_t>(count, 1), fill);
  return new llvm::GlobalVariable(m, type, false, llvm::GlobalValue::ExternalLinkage,
                                  llvm::ConstantDataArray::get(m.getContext(), values), name);
}

void scalar_of(llvm::Module& m, std::uint64_t value, const char* name) {
  llvm::Type* word = llvm::Type::getInt64Ty(m.getContext());
  new llvm::GlobalVariable(m, word, true, llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantInt::get(word, value), name);
}

void count_block(llvm::BasicBlock& block, unsigned index, llvm::GlobalVariable* counts) {
  llvm::IRBuilder<> b(&*block.getFirstInsertionPt());
  llvm::Value* place = b.CreateConstInBoundsGEP2_64(counts->getValueType(), counts, 0, index);
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), place), b.getInt64(1)), place);
}

// The lowest and highest address that is reached from each argument.
void note_access(llvm::Instruction& i, llvm::Value* pointer, llvm::Type* element, bool store,
                 const Counters& c) {
  const auto* argument = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(pointer, 0));
  if (argument == nullptr) return;
  llvm::IRBuilder<> b(&i);
  llvm::Value* first = b.CreatePtrToInt(pointer, b.getInt64Ty());
  llvm::Value* end = b.CreateAdd(first, b.getInt64(i.getModule()->getDataLayout().getTypeStoreSize(element)));
  const auto place = [&](llvm::GlobalVariable* g) {
    return b.CreateConstInBoundsGEP2_64(g->getValueType(), g, 0, argument->getArgNo());
  };
  llvm::Value *low = place(c.low), *high = place(c.high);
  llvm::Value *old_low = b.CreateLoad(b.getInt64Ty(), low), *old_high = b.CreateLoad(b.getInt64Ty(), high);
  b.CreateStore(b.CreateSelect(b.CreateICmpULT(first, old_low), first, old_low), low);
  b.CreateStore(b.CreateSelect(b.CreateICmpUGT(end, old_high), end, old_high), high);
  if (store) b.CreateStore(b.getInt64(1), place(c.written));
}

llvm::Function* counting_copy(llvm::Function& nest) {
  llvm::Module& m = *nest.getParent();
  llvm::ValueToValueMapTy values;
  llvm::Function* copy = llvm::CloneFunction(&nest, values);
  copy->setName("simtlab_nest_counted");
  const Counters c{array_of(m, copy->size(), "simtlab_blocks", 0),
                   array_of(m, nest.arg_size(), "simtlab_low", ~std::uint64_t{0}),
                   array_of(m, nest.arg_size(), "simtlab_high", 0),
                   array_of(m, nest.arg_size(), "simtlab_written", 0)};
  scalar_of(m, copy->size(), "simtlab_block_count");
  scalar_of(m, nest.arg_size(), "simtlab_argument_count");
  std::vector<llvm::Instruction*> accesses;
  for (llvm::Instruction& i : llvm::instructions(*copy))
    if (llvm::isa<llvm::LoadInst>(i) || llvm::isa<llvm::StoreInst>(i)) accesses.push_back(&i);
  for (llvm::Instruction* i : accesses) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(i))
      note_access(*i, load->getPointerOperand(), load->getType(), false, c);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(i))
      note_access(*i, store->getPointerOperand(), store->getValueOperand()->getType(), true, c);
  }
  unsigned index = 0;
  for (llvm::BasicBlock& block : *copy) count_block(block, index++, c.blocks);
  return copy;
}

// Each argument as 64 bits.
llvm::Value* as_word(llvm::IRBuilder<>& b, llvm::Value* v) {
  llvm::Type* t = v->getType();
  if (t->isPointerTy()) return b.CreatePtrToInt(v, b.getInt64Ty());
  if (t->isIntegerTy()) return b.CreateZExtOrTrunc(v, b.getInt64Ty());
  if (t->isFloatTy()) return b.CreateZExt(b.CreateBitCast(v, b.getInt32Ty()), b.getInt64Ty());
  if (t->isDoubleTy()) return b.CreateBitCast(v, b.getInt64Ty());
  return b.getInt64(0);
}

}  // namespace

void instrument(Nest& nest) {
  llvm::Module& m = *nest.module;
  llvm::Function& f = *nest.function;
  auto* call = llvm::cast<llvm::CallInst>(*f.user_begin());
  llvm::Function* counted = counting_copy(f);
  llvm::LLVMContext& context = m.getContext();
  llvm::Type *none = llvm::Type::getVoidTy(context), *word = llvm::Type::getInt64Ty(context),
             *whole = llvm::Type::getInt32Ty(context);
  const auto note = m.getOrInsertFunction("simtlab_argument", none, whole, word);
  const auto enter = m.getOrInsertFunction("simtlab_enter", whole);
  const auto leave_counting = m.getOrInsertFunction("simtlab_counted", none);
  const auto before = m.getOrInsertFunction("simtlab_before", none);
  const auto after = m.getOrInsertFunction("simtlab_after", none);

  llvm::BasicBlock* here = call->getParent();
  llvm::BasicBlock* rest = here->splitBasicBlock(call, "nest.measured");
  llvm::BasicBlock* counting = llvm::BasicBlock::Create(context, "nest.counted", here->getParent(), rest);
  here->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> b(here);
  for (unsigned i = 0; i < call->arg_size(); ++i)
    b.CreateCall(note, {b.getInt32(i), as_word(b, call->getArgOperand(i))});
  b.CreateCondBr(b.CreateICmpNE(b.CreateCall(enter), b.getInt32(0)), counting, rest);
  b.SetInsertPoint(counting);
  b.CreateCall(counted, llvm::SmallVector<llvm::Value*>(call->args()));
  b.CreateCall(leave_counting);  // does not come back
  b.CreateUnreachable();
  b.SetInsertPoint(call);
  b.CreateCall(before);
  b.SetInsertPoint(call->getNextNode());
  b.CreateCall(after);
  llvm::StripDebugInfo(m);
}

}  // namespace simtlab::models::loops
