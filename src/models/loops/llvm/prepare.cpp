#include <fmt/format.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>

#include <algorithm>
#include <map>
#include <set>

#include "c_types.h"
#include "calls.h"
#include "find.h"
#include "nest.h"
#include "passes.h"

namespace simtlab::models::loops {

Refusal at(const llvm::Instruction* where, std::string id, std::string message, std::string hint) {
  Refusal r{std::move(id), std::move(message), std::move(hint), {}, 0, 0};
  const auto take = [&](const llvm::Instruction* i) {
    const llvm::DebugLoc& place = i->getDebugLoc();
    if (!place || place.getLine() == 0) return false;
    r.file = place->getFilename().str();
    r.line = place.getLine();
    r.column = place.getCol();
    return true;
  };
  for (const llvm::Instruction* i = where; i != nullptr; i = i->getNextNode())
    if (take(i)) return r;
  for (const llvm::Instruction* i = where; i != nullptr; i = i->getPrevNode())
    if (take(i)) return r;
  for (const llvm::BasicBlock* before : llvm::predecessors(where->getParent()))
    if (take(before->getTerminator())) return r;
  return r;
}

Refusal at(const llvm::Loop* loop, std::string id, std::string message, std::string hint) {
  if (const llvm::DebugLoc place = loop->getStartLoc())
    return {std::move(id),   std::move(message), std::move(hint), place->getFilename().str(),
            place.getLine(), place.getCol()};
  return at(&loop->getHeader()->front(), std::move(id), std::move(message), std::move(hint));
}

// The variable whose value this is, by the records that debug information left.
const llvm::DILocalVariable* variable_of(llvm::Value* value) {
  llvm::SmallVector<llvm::DbgValueInst*> intrinsics;
  llvm::SmallVector<llvm::DbgVariableRecord*> records;
  llvm::findDbgValues(intrinsics, value, &records);
  // The one that was declared first: `for (int i = start; ...)` makes i a second name of start. Names in
  // functions that were called come last.
  const llvm::DILocalVariable* first = nullptr;
  bool first_inlined = true;
  for (const llvm::DbgVariableRecord* r : records) {
    if (r->getExpression()->getNumElements() != 0) continue;
    const bool inlined = r->getDebugLoc() && r->getDebugLoc()->getInlinedAt() != nullptr;
    if (first != nullptr && (inlined > first_inlined ||
                             (inlined == first_inlined && r->getVariable()->getLine() >= first->getLine())))
      continue;
    first = r->getVariable();
    first_inlined = inlined;
  }
  return first;
}

namespace {

// The member of a structure's variable whose value this is, where the structure lives in registers: "s.m".
std::string member_of(llvm::Value* value) {
  llvm::SmallVector<llvm::DbgValueInst*> intrinsics;
  llvm::SmallVector<llvm::DbgVariableRecord*> records;
  llvm::findDbgValues(intrinsics, value, &records);
  for (const llvm::DbgVariableRecord* r : records) {
    const auto part = r->getExpression()->getFragmentInfo();
    const llvm::DIType* type = r->getVariable()->getType();
    while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type))
      type = derived->getBaseType();
    const auto* structure = llvm::dyn_cast_or_null<llvm::DICompositeType>(type);
    if (!part || structure == nullptr) continue;
    for (const llvm::DINode* n : structure->getElements())
      if (const auto* m = llvm::dyn_cast<llvm::DIDerivedType>(n);
          m != nullptr && m->getOffsetInBits() == part->OffsetInBits)
        return r->getVariable()->getName().str() + "." + m->getName().str();
  }
  return {};
}

const llvm::DIGlobalVariable* declaration_of(const llvm::GlobalVariable& global) {
  llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> all;
  global.getDebugInfo(all);
  return all.empty() ? nullptr : all.front()->getVariable();
}

// What a value is before it becomes an argument, which knows no more than its bits.
Input describe_input(llvm::Value* value, const llvm::DataLayout& layout) {
  Input in;
  in.name = value->getName().str();
  if (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value))
    if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(cast->getOperand(0))) {
      in.name = global->getName().str();
      in.object = "global";
      in.object_bytes = layout.getTypeAllocSize(global->getValueType());
      if (const auto* v = declaration_of(*global)) in.type = c_pointer_to(v->getType());
      return in;
    }
  if (const llvm::DILocalVariable* v = variable_of(value)) {
    in.name = v->getName().str();
    in.type = llvm::isa<llvm::AllocaInst>(value) ? c_pointer_to(v->getType()) : c_type(v->getType());
  }
  if (in.type.empty())
    if (std::string member = member_of(value); !member.empty()) in.name = std::move(member);
  if (in.type.empty() && value->getType()->isPointerTy())  // an element of something that has a name
    if (const llvm::DILocalVariable* v =
            variable_of(const_cast<llvm::Value*>(llvm::getUnderlyingObject(value, 0))))
      in.name = v->getName().str() + "_part";
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value))
    if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(load->getPointerOperand())) {
      in.name = global->getName().str();
      if (const auto* v = declaration_of(*global)) in.type = c_type(v->getType());
    }
  if (const auto* a = llvm::dyn_cast<llvm::Argument>(value)) in.is_restrict = a->hasNoAliasAttr();
  if (const auto* local = llvm::dyn_cast<llvm::AllocaInst>(value)) {
    in.object = "local";
    if (const auto bytes = local->getAllocationSize(layout)) in.object_bytes = bytes->getFixedValue();
  }
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(value); call && call->returnDoesNotAlias())
    in.object = "heap";
  return in;
}

// A scalar that only plain loads and stores of this file know: nobody changes it behind the nest's back.
bool is_private_scalar(const llvm::GlobalVariable& g) {
  if (!g.getValueType()->isIntegerTy() && !g.getValueType()->isFloatingPointTy()) return false;
  return std::ranges::all_of(g.users(), [&](const llvm::User* u) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(u)) return !load->isVolatile();
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(u);
    return store != nullptr && store->getValueOperand() != &g && !store->isVolatile();
  });
}

// Scalars that the nest only reads are read once, before it.
void read_scalars_before(const llvm::Loop& loop) {
  std::map<llvm::GlobalVariable*, std::vector<llvm::LoadInst*>> loads;
  std::set<const llvm::Value*> stored;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : *block) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) stored.insert(store->getPointerOperand());
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i))
        if (auto* g = llvm::dyn_cast<llvm::GlobalVariable>(load->getPointerOperand());
            g && is_private_scalar(*g) && load->getType() == g->getValueType())
          loads[g].push_back(load);
    }
  for (auto& [g, all] : loads) {
    if (stored.contains(g)) continue;
    auto* before = new llvm::LoadInst(g->getValueType(), g, g->getName(),
                                      loop.getLoopPreheader()->getTerminator()->getIterator());
    for (llvm::LoadInst* l : all) {
      l->replaceAllUsesWith(before);
      l->eraseFromParent();
    }
  }
}

// Global arrays become values that are computed before the nest, so that the extractor makes them arguments.
void lift_globals(llvm::Function& parent, const llvm::Loop& loop) {
  std::set<llvm::GlobalVariable*> globals;
  llvm::SmallVector<llvm::Constant*> constants;
  for (llvm::GlobalVariable& g : parent.getParent()->globals()) constants.push_back(&g);
  llvm::convertUsersOfConstantsToInstructions(constants, &parent, /*RemoveDeadConstants=*/false);
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : *block)
      for (llvm::Value* v : i.operands())
        if (auto* g = llvm::dyn_cast<llvm::GlobalVariable>(v)) globals.insert(g);
  llvm::Instruction* before = loop.getLoopPreheader()->getTerminator();
  for (llvm::GlobalVariable* g : globals) {
    auto* lifted = new llvm::BitCastInst(g, g->getType(), g->getName() + ".lifted", before->getIterator());
    for (llvm::BasicBlock* block : loop.blocks())
      for (llvm::Instruction& i : *block) i.replaceUsesOfWith(g, lifted);
  }
}

bool is_arithmetic(const llvm::Instruction& i) {
  return llvm::isa<llvm::GetElementPtrInst>(i) || llvm::isa<llvm::CastInst>(i) ||
         (llvm::isa<llvm::BinaryOperator>(i) && i.getType()->isIntegerTy() && !i.isIntDivRem());
}

// Parts of addresses that are computed before the nest are computed again in it: its inputs are then the
// program's variables.
void take_in(const llvm::Loop& loop) {
  llvm::BasicBlock* header = loop.getHeader();
  const auto next = [&]() -> llvm::Instruction* {
    for (llvm::BasicBlock* block : loop.blocks())
      for (llvm::Instruction& i : *block) {
        if (llvm::isa<llvm::PHINode>(i)) continue;
        for (llvm::Value* v : i.operands())
          if (auto* o = llvm::dyn_cast<llvm::Instruction>(v);
              o != nullptr && !loop.contains(o) && is_arithmetic(*o) && variable_of(o) == nullptr)
            return o;
      }
    return nullptr;
  };
  while (llvm::Instruction* outside = next()) {
    llvm::Instruction* copy = outside->clone();
    copy->insertBefore(*header, header->getFirstInsertionPt());
    copy->setName(outside->getName());
    outside->replaceUsesWithIf(copy, [&](llvm::Use& u) {
      auto* user = llvm::cast<llvm::Instruction>(u.getUser());
      return loop.contains(user) && !llvm::isa<llvm::PHINode>(user);
    });
  }
}

// Values that the same code after the nest needs as well are computed before it.
void hoist_shared(const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*> exits;
  loop.getUniqueExitBlocks(exits);
  for (llvm::BasicBlock* exit : exits)
    for (llvm::PHINode& phi : exit->phis())
      for (llvm::Value* v : phi.incoming_values())
        if (auto* i = llvm::dyn_cast<llvm::Instruction>(v);
            i != nullptr && loop.contains(i) && is_arithmetic(*i)) {
          bool changed = false;
          loop.makeLoopInvariant(v, changed);
        }
}

void refuse_live_out(const llvm::Loop& loop) {
  Refused refused;
  llvm::SmallVector<llvm::BasicBlock*> exits;
  loop.getUniqueExitBlocks(exits);
  if (exits.size() != 1 || loop.getExitingBlock() != loop.getHeader()) {
    llvm::SmallVector<llvm::BasicBlock*> exiting;
    loop.getExitingBlocks(exiting);
    const llvm::Instruction* where = &loop.getHeader()->front();
    for (const llvm::BasicBlock* b : exiting)
      if (b != loop.getHeader()) where = b->getTerminator();
    if (exiting.size() == 1)
      refused.all.push_back(at(&loop, "loop-form", "the loop tests its condition at the end or has none",
                               "write it as for (i = a; i < b; i += c)"));
    else
      refused.all.push_back(at(where, "loop-form",
                               "the nest is left from within (break, return, goto or exit)",
                               "iterations that run side by side can't end the others: let each compute a "
                               "flag, and look at the flags after the nest"));
    throw refused;
  }
  for (llvm::PHINode& phi : exits.front()->phis())
    for (llvm::Value* v : phi.incoming_values()) {
      auto* inside = llvm::dyn_cast<llvm::Instruction>(v);
      if (inside == nullptr || !loop.contains(inside)) continue;
      const llvm::DILocalVariable* variable = variable_of(inside);
      const std::string name = variable ? fmt::format("'{}'", variable->getName().str()) : "a scalar";
      refused.all.push_back(at(&loop, "loop-carried",
                               fmt::format("the value of {} is used after the nest", name),
                               "a sum or last value over all iterations is a reduction: store what each "
                               "iteration contributes, and combine afterwards"));
      break;
    }
  if (!refused.all.empty()) throw refused;
}

// Pointers that are known to be apart stay so in the new function.
void keep_aliasing(llvm::Function& nest, const std::vector<Input>& inputs) {
  bool all_known = true;
  for (unsigned i = 0; i < nest.arg_size(); ++i)
    if (nest.getArg(i)->getType()->isPointerTy() && !inputs[i].is_restrict && inputs[i].object.empty())
      all_known = false;
  for (unsigned i = 0; i < nest.arg_size(); ++i)
    if (nest.getArg(i)->getType()->isPointerTy() &&
        (inputs[i].is_restrict || inputs[i].object == "heap" || (all_known && !inputs[i].object.empty())))
      nest.addParamAttr(i, llvm::Attribute::NoAlias);
}

std::string text_of(const llvm::Constant* c) {
  if (const auto* i = llvm::dyn_cast<llvm::ConstantInt>(c)) return std::to_string(i->getSExtValue());
  const auto* f = llvm::dyn_cast<llvm::ConstantFP>(c);
  if (f == nullptr || !f->getValueAPF().isFinite()) return {};
  llvm::SmallString<32> digits;
  f->getValueAPF().toString(digits);
  if (digits.find_first_of(".Ee") == llvm::StringRef::npos) digits += ".0";
  return digits.str().str() + (f->getType()->isFloatTy() ? "f" : "");
}

// What debug information says of the function's variables just before the nest, in the order of the blocks
// that lead there.
std::vector<std::pair<const llvm::DILocalVariable*, llvm::Value*>> variables_before(
    llvm::BasicBlock& preheader, const llvm::DominatorTree& dominators) {
  std::vector<std::pair<const llvm::DILocalVariable*, llvm::Value*>> out;
  std::vector<llvm::BasicBlock*> way;
  for (const llvm::DomTreeNode* n = dominators.getNode(&preheader); n != nullptr; n = n->getIDom())
    way.push_back(n->getBlock());
  for (llvm::BasicBlock* block : llvm::reverse(way))
    for (llvm::Instruction& i : *block)
      for (llvm::DbgVariableRecord& r : llvm::filterDbgVars(i.getDbgRecordRange())) {
        std::erase_if(out, [&](const auto& x) { return x.first == r.getVariable(); });
        if (!r.isKillLocation() && r.getExpression()->getNumElements() == 0 &&
            r.getNumVariableLocationOps() == 1)
          out.emplace_back(r.getVariable(), r.getVariableLocationOp(0));
      }
  return out;
}

llvm::CallInst* the_call(llvm::Function& f) { return llvm::cast<llvm::CallInst>(*f.user_begin()); }

void extract(Nest& nest, llvm::Function& parent, const Request& request, Analyses& analyses) {
  auto& dominators = analyses.functions.getResult<llvm::DominatorTreeAnalysis>(parent);
  auto& loops = analyses.functions.getResult<llvm::LoopAnalysis>(parent);
  llvm::Loop* loop = find_loop(loops, request);
  if (loop == nullptr) {
    Refusal r{"loop-form",
              "the loop does nothing that is needed: the compiler removes it",
              "use what it computes",
              request.file,
              request.line,
              1};
    throw Refused{{r}};
  }
  hoist_shared(*loop);
  refuse_live_out(*loop);
  const llvm::DebugLoc place = loop->getStartLoc();
  nest.file = place->getFilename().str();
  nest.line = place.getLine();
  nest.column = place.getCol();
  const auto variables = variables_before(*loop->getLoopPreheader(), dominators);
  read_scalars_before(*loop);
  take_in(*loop);
  lift_globals(parent, *loop);
  llvm::CodeExtractorAnalysisCache cache(parent);
  llvm::CodeExtractor extractor(loop->getBlocks(), &dominators, /*AggregateArgs=*/false, nullptr, nullptr,
                                &analyses.functions.getResult<llvm::AssumptionAnalysis>(parent), false,
                                /*AllowAlloca=*/true, nullptr, "nest");
  nest.function = extractor.isEligible() ? extractor.extractCodeRegion(cache) : nullptr;
  if (nest.function == nullptr)
    throw Refused{{at(loop, "loop-form", "the nest can't be taken out of its function",
                      "no goto into it, no setjmp, no variable arguments")}};
  for (llvm::Value* v : the_call(*nest.function)->args())
    nest.inputs.push_back(describe_input(v, nest.module->getDataLayout()));
  for (unsigned i = 0; i < nest.inputs.size(); ++i) {
    if (nest.inputs[i].name.empty()) nest.inputs[i].name = fmt::format("value{}", i);
    for (unsigned j = 0; j < i; ++j)
      if (nest.inputs[j].name == nest.inputs[i].name) nest.inputs[i].name += std::to_string(i);
    nest.function->getArg(i)->setName(nest.inputs[i].name);
  }
  for (const auto& [variable, value] : variables) {
    Variable v{variable->getName().str(), c_type(variable->getType()), {}};
    if (const auto* c = llvm::dyn_cast<llvm::Constant>(value)) v.value = text_of(c);
    for (unsigned i = 0; i < nest.inputs.size(); ++i)
      if (the_call(*nest.function)->getArgOperand(i) == value && nest.inputs[i].name != v.name)
        v.value = nest.inputs[i].name;
    if (!v.value.empty()) nest.variables.push_back(std::move(v));
  }
  keep_aliasing(*nest.function, nest.inputs);
  analyses.functions.invalidate(parent, llvm::PreservedAnalyses::none());
}

}  // namespace

Nest prepare(std::unique_ptr<llvm::Module> module, const Request& wanted) {
  Nest nest;
  nest.module = std::move(module);
  Request request = wanted;
  llvm::Function& parent = find_function(*nest.module, request);
  nest.parent = parent.getName().str();
  refuse_recursion(parent, request);
  Analyses analyses;
  for (llvm::Function& f : *nest.module)
    if (!f.isDeclaration()) simplify(f, analyses);
  nest.inlined = inline_calls(parent, request, analyses);
  simplify(parent, analyses);
  canonical_loops(parent, analyses);
  extract(nest, parent, request, analyses);
  simplify(*nest.function, analyses);
  canonical_loops(*nest.function, analyses);
  hoist_invariants(*nest.function, analyses);
  nest.function->setName("simtlab_nest");
  nest.function->removeFnAttr(llvm::Attribute::AlwaysInline);
  nest.function->addFnAttr(llvm::Attribute::NoInline);
  return nest;
}

}  // namespace simtlab::models::loops
