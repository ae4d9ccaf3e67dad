#include "kernel.h"

#include <fmt/format.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <array>

#include "calls.h"
#include "describe.h"

namespace simtlab::models::loops {
namespace {

constexpr std::array<std::array<llvm::Intrinsic::ID, 3>, 3> places = {{
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x},
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y},
    {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z,
     llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z},
}};

llvm::Value* thread_of(unsigned dimension, llvm::IRBuilder<>& at) {
  std::array<llvm::Value*, 3> read{};
  for (unsigned i = 0; i < 3; ++i) read[i] = at.CreateIntrinsic(places[dimension][i], {}, {});
  return at.CreateAdd(at.CreateMul(read[0], read[1]), read[2], "thread");
}

// `i != n` of a loop that counts up means `i < n`; threads beyond the end would take it for true.
void mend_test(llvm::BranchInst& branch, const llvm::Loop& loop, llvm::Value* iv, llvm::Value* step) {
  auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch.getCondition());
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (test != nullptr && !test->isEquality()) return;
  const bool known = test != nullptr && (test->getOperand(0) == iv || test->getOperand(1) == iv);
  if (!known || constant == nullptr)
    throw Refused{{at(&loop, "loop-form",
                      "the loop's condition doesn't compare its variable, or its step is no constant",
                      "write it as for (i = a; i < b; i += c) with a number for c")}};
  const bool up = !constant->isNegative();
  const bool ends_when_equal =
      (test->getPredicate() == llvm::CmpInst::ICMP_EQ) == loop.contains(branch.getSuccessor(1));
  if (!ends_when_equal)
    throw Refused{{at(&loop, "loop-form", "the loop goes on only while its variable equals something",
                      "write it as for (i = a; i < b; i += c)")}};
  const bool first = test->getOperand(0) == iv;
  llvm::IRBuilder<> builder(test);
  const auto go_on = up == first ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_SGT;
  llvm::Value* less = builder.CreateICmp(
      test->getPredicate() == llvm::CmpInst::ICMP_NE ? go_on : llvm::CmpInst::getInversePredicate(go_on),
      test->getOperand(0), test->getOperand(1));
  branch.setCondition(less);
}

void map_loop(const llvm::Loop& loop, unsigned dimension) {
  const Induction i = induction_of(loop);
  llvm::BasicBlock *header = loop.getHeader(), *latch = loop.getLoopLatch();
  auto* branch = llvm::cast<llvm::BranchInst>(header->getTerminator());
  llvm::Value* step = i.next->getOperand(i.next->getOperand(0) == i.phi ? 1 : 0);
  mend_test(*branch, loop, i.phi, step);
  llvm::IRBuilder<> builder(&*header->getFirstInsertionPt());
  llvm::Value* thread = builder.CreateZExtOrTrunc(thread_of(dimension, builder), i.phi->getType());
  llvm::Value* value = builder.CreateAdd(i.phi->getIncomingValueForBlock(loop.getLoopPreheader()),
                                         builder.CreateMul(thread, step), i.phi->getName());
  llvm::BasicBlock* exit = branch->getSuccessor(loop.contains(branch->getSuccessor(0)) ? 1 : 0);
  i.phi->replaceAllUsesWith(value);
  i.phi->eraseFromParent();
  // No way back: the iteration ends where the loop ended.
  latch->getTerminator()->eraseFromParent();
  llvm::BranchInst::Create(exit, latch);
}

// Mathematics by the device's names.
void name_library(llvm::Function& f) {
  std::vector<std::pair<llvm::CallBase*, std::string>> calls;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&i))
      if (const std::string name = device_function(library_name(*call)); !name.empty())
        calls.emplace_back(call, name);
  for (auto& [call, name] : calls) {
    llvm::FunctionCallee callee = f.getParent()->getOrInsertFunction(name, call->getFunctionType());
    if (auto* declared = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
      declared->setMemoryEffects(llvm::MemoryEffects::none());
      declared->addFnAttr(llvm::Attribute::NoUnwind);
    }
    call->setCalledFunction(callee);
    call->setAttributes({});
  }
}

// Only the kernel stays.
void strip_rest(llvm::Module& module, llvm::Function& kernel) {
  for (llvm::Function& f : module)
    if (&f != &kernel && !f.isDeclaration()) f.deleteBody();
  for (llvm::GlobalVariable& g : llvm::make_early_inc_range(module.globals())) {
    g.removeDeadConstantUsers();
    if (g.use_empty()) g.eraseFromParent();
  }
  for (llvm::Function& f : llvm::make_early_inc_range(module))
    if (&f != &kernel && f.use_empty()) f.eraseFromParent();
}

void become_kernel(llvm::Module& module, llvm::Function& f, const std::string& name) {
  module.setTargetTriple("nvptx64-nvidia-cuda");
  module.setDataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64");
  llvm::AttributeList kept;
  for (unsigned i = 0; i < f.arg_size(); ++i)
    if (f.getArg(i)->hasNoAliasAttr())
      kept = kept.addParamAttribute(f.getContext(), i, llvm::Attribute::NoAlias);
  f.setAttributes(kept);
  f.addFnAttr(llvm::Attribute::NoUnwind);
  f.setName(name);
  f.setLinkage(llvm::GlobalValue::ExternalLinkage);
  f.setVisibility(llvm::GlobalValue::DefaultVisibility);
  f.setDSOLocal(false);
  llvm::LLVMContext& c = module.getContext();
  llvm::Metadata* entry[] = {
      llvm::ValueAsMetadata::get(&f), llvm::MDString::get(c, "kernel"),
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(c), 1))};
  module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(c, entry));
}

// Of the debug information only the lines: PTX with .loc and nothing else.
void keep_lines(llvm::Module& module) {
  llvm::stripNonLineTableDebugInfo(module);
  llvm::NamedMDNode* units = module.getNamedMetadata("llvm.dbg.cu");
  if (units == nullptr || units->getNumOperands() == 0) return;
  const auto* old = llvm::cast<llvm::DICompileUnit>(units->getOperand(0));
  auto* lines = llvm::DICompileUnit::getDistinct(
      module.getContext(), old->getSourceLanguage(), old->getFile(), old->getProducer(), true, "", 0, "",
      llvm::DICompileUnit::DebugDirectivesOnly, nullptr, nullptr, nullptr, nullptr, nullptr, 0, false, false,
      llvm::DICompileUnit::DebugNameTableKind::None, false, "", "");
  units->clearOperands();
  units->addOperand(lines);
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  for (llvm::DISubprogram* s : finder.subprograms())
    if (s->getUnit() != nullptr) s->replaceUnit(lines);
}

}  // namespace

void make_kernel(Nest& nest, const std::vector<unsigned>& levels, const std::string& name,
                 Analyses& analyses) {
  llvm::Function& f = *nest.function;
  auto& loops = analyses.functions.getResult<llvm::LoopAnalysis>(f);
  const std::vector<llvm::Loop*> prefix = prefix_of(loops);
  for (std::size_t d = 0; d < levels.size(); ++d) {
    if (levels[d] >= prefix.size())
      throw Refused{
          {at(prefix.front(), "loop-form",
              fmt::format("the nest has {} loops that can become threads, and the mapping names another",
                          prefix.size()),
              "see the mappings in the report")}};
    map_loop(*prefix[levels[d]], static_cast<unsigned>(d));
  }
  analyses.functions.invalidate(f, llvm::PreservedAnalyses::none());
  name_library(f);
  // The program's half is of another machine.
  strip_rest(*nest.module, f);
  become_kernel(*nest.module, f, name);
  keep_lines(*nest.module);
}

}  // namespace simtlab::models::loops
