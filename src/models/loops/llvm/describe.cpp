#include "describe.h"

#include <fmt/format.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/DependenceAnalysis.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/raw_ostream.h>

#include "c_types.h"
#include "calls.h"
#include "instructions.h"

namespace simtlab::models::loops {
namespace {

struct Access {
  llvm::Instruction* instruction = nullptr;
  llvm::Value* pointer = nullptr;
  int argument = -1;  // that the pointer comes from; -1: memory of the thread itself
  std::uint64_t bytes = 0;
  bool store = false;
  llvm::Type* element = nullptr;
};

bool has_effect(const llvm::Instruction& i) {
  if (llvm::isa<llvm::DbgInfoIntrinsic>(i) || llvm::isa<llvm::LifetimeIntrinsic>(i)) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
      call && (!library_name(*call).empty() || !call->mayWriteToMemory()))
    return false;
  return i.mayHaveSideEffects();
}

bool is_long_double(const llvm::Instruction& i) {
  const auto is = [](const llvm::Value* v) {
    return v->getType()->isX86_FP80Ty() || v->getType()->isFP128Ty();
  };
  return is(&i) || llvm::any_of(i.operands(), [&](const llvm::Use& u) { return is(u.get()); });
}

// Intrinsics that become calls of a library which a GPU does not have.
bool device_has(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::lround:
    case llvm::Intrinsic::llround:
    case llvm::Intrinsic::lrint:
    case llvm::Intrinsic::llrint:
    case llvm::Intrinsic::frexp:
    case llvm::Intrinsic::powi: return false;
    default: return true;
  }
}

class Describer {
 public:
  Describer(Nest& nest, Analyses& analyses)
      : nest_(nest),
        f_(*nest.function),
        loops_(analyses.functions.getResult<llvm::LoopAnalysis>(f_)),
        evolution_(analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(f_)),
        dependences_(analyses.functions.getResult<llvm::DependenceAnalysis>(f_)),
        layout_(nest.module->getDataLayout()) {
    for (const llvm::Loop* l : loops_.getLoopsInPreorder())
      numbering_.loops.emplace(l, static_cast<unsigned>(numbering_.loops.size()));
  }

  Json run() {
    Json out{{"function", nest_.parent},
             {"file", nest_.file},
             {"line", nest_.line},
             {"column", nest_.column},
             {"inlined", nest_.inlined}};
    prefix_ = prefix_of(loops_);
    check_outermost();
    collect();
    out["inputs"] = inputs();
    out["variables"] = Json::array();
    for (const Variable& v : nest_.variables)
      out["variables"].push_back({{"name", v.name}, {"type", v.type}, {"value", v.value}});
    out["loops"] = loops();
    out["accesses"] = accesses();
    out["blocks"] = blocks();
    out["dependences"] = dependences();
    return out;
  }

 private:
  void check_outermost() {
    const llvm::Loop* outer = prefix_.front();
    if (const Induction i = induction_of(*outer); i.phi == nullptr || !i.tested) {
      Refusal r = at(outer, "loop-form",
                     "the loop does not count: no variable that changes by the same step decides alone "
                     "whether it goes on",
                     "write it as for (int i = a; i < b; i += c), without changing i in its body");
      for (llvm::PHINode& phi : outer->getHeader()->phis())
        if (&phi != i.phi && !evolution_.isSCEVable(phi.getType())) r = carried(*outer, phi);
      throw Refused{{r}};
    }
    for (llvm::PHINode& phi : outer->getHeader()->phis())
      if (&phi != induction_of(*outer).phi) throw Refused{{carried(*outer, phi)}};
  }

  static Refusal carried(const llvm::Loop& loop, const llvm::PHINode& phi) {
    std::string name = phi.getName().str();
    name = name.substr(0, name.find('.'));
    return at(&loop, "loop-carried", fmt::format("'{}' goes from one iteration to the next", name),
              "a thread doesn't know the one before: compute it from the loop's variable, or store what each "
              "iteration contributes and combine afterwards");
  }

  // Every access of memory, and what the pointer comes from.
  void collect() {
    Refused refused;
    for (llvm::Instruction& i : llvm::instructions(f_)) {
      Access a;
      a.instruction = &i;
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
        a.pointer = load->getPointerOperand();
        a.element = load->getType();
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
        a.pointer = store->getPointerOperand();
        a.element = store->getValueOperand()->getType();
        a.store = true;
      } else {
        if (auto* call = llvm::dyn_cast<llvm::MemIntrinsic>(&i))
          refused.all.push_back(at(
              call, "loop-call",
              "the nest copies or clears memory as a whole (memcpy, memset or an assignment of a structure)",
              "write the elements one by one"));
        else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
                 call != nullptr && !device_has(*call))
          refused.all.push_back(
              at(&i, "loop-call",
                 fmt::format("the nest calls '{}', which the device has not",
                             call->getCalledFunction()->getName().split('.').second.split('.').first.str()),
                 "express it by other functions of the library"));
        else if (i.mayWriteToMemory() && has_effect(i))
          refused.all.push_back(at(&i, "loop-call",
                                   "the nest has an operation on memory that a kernel doesn't know",
                                   "plain loads and stores only"));
        if (is_long_double(i))
          refused.all.push_back(
              at(&i, "loop-call", "the nest computes with long double, which a GPU has not", "double"));
        continue;
      }
      a.bytes = layout_.getTypeStoreSize(a.element);
      const llvm::Value* object = llvm::getUnderlyingObject(a.pointer, 0);
      if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object))
        a.argument = static_cast<int>(argument->getArgNo());
      else if (!llvm::isa<llvm::AllocaInst>(object)) {
        refused.all.push_back(at(&i, "loop-pointer",
                                 "the nest follows a pointer that it reads or chooses itself",
                                 "arrays of pointers and linked data can't be copied to a GPU as they are: "
                                 "use one flat array, a[i * columns + j]"));
        continue;
      }
      numbering_.accesses.emplace(&i, static_cast<unsigned>(accesses_.size()));
      accesses_.push_back(a);
    }
    if (!refused.all.empty()) throw refused;
  }

  Json place(const llvm::Instruction& i) const {
    const Refusal r = at(&i, "", "", "");
    return {r.line, r.column, r.file == nest_.file ? std::string() : r.file};
  }
  int loop_of(const llvm::BasicBlock* block) const {
    const llvm::Loop* l = loops_.getLoopFor(block);
    return l == nullptr ? -1 : static_cast<int>(numbering_.loops.at(l));
  }

  Json inputs() const {
    Json out = Json::array();
    for (unsigned i = 0; i < f_.arg_size(); ++i) {
      const llvm::Argument* a = f_.getArg(i);
      const Input& in = nest_.inputs[i];
      const llvm::Type* t = a->getType();
      out.push_back({{"name", in.name},
                     {"type", in.type},
                     {"pointer", t->isPointerTy()},
                     {"float", t->isFloatingPointTy()},
                     {"bits", t->isPointerTy() ? 64u : t->getPrimitiveSizeInBits().getFixedValue()},
                     {"restrict", a->hasNoAliasAttr()},
                     {"object", in.object},
                     {"object_bytes", in.object_bytes}});
    }
    return out;
  }

  Json loops() {
    Json out = Json::array();
    for (llvm::Loop* l : loops_.getLoopsInPreorder()) {
      const llvm::DebugLoc place = l->getStartLoc();
      const llvm::Loop* parent = l->getParentLoop();
      const auto level = std::ranges::find(prefix_, l);
      const llvm::SCEV* count = evolution_.getBackedgeTakenCount(l);
      const llvm::SCEV* most = evolution_.getSymbolicMaxBackedgeTakenCount(l);
      // A loop of one block tests there, but after its work.
      const bool header_exit = l->getExitingBlock() == l->getHeader() && l->getLoopLatch() != l->getHeader();
      // A loop that tests at its end runs once more than it goes back.
      const auto trips = [&](const llvm::SCEV* backs) -> Json {
        if (llvm::isa<llvm::SCEVCouldNotCompute>(backs)) return nullptr;
        return to_json(
            header_exit ? backs : evolution_.getAddExpr(backs, evolution_.getOne(backs->getType())),
            numbering_, evolution_);
      };
      const Induction induction = induction_of(*l);
      std::string name = induction.phi ? induction.phi->getName().str() : "", type;
      if (const llvm::DILocalVariable* v = induction.phi ? variable_of(induction.phi) : nullptr) {
        name = v->getName().str();
        type = c_type(v->getType());
      }
      Json entry{{"parent", parent ? static_cast<int>(numbering_.loops.at(parent)) : -1},
                 {"level", level == prefix_.end() ? -1 : static_cast<int>(level - prefix_.begin())},
                 {"line", place ? place.getLine() : 0u},
                 {"column", place ? place.getCol() : 0u},
                 {"name", name.substr(0, name.find('.'))},
                 {"type", type},
                 {"trips", trips(count)},
                 {"most_trips", trips(most)},
                 {"block", index_of(l->getHeader())}};
      if (induction.phi != nullptr && evolution_.isSCEVable(induction.phi->getType()))
        entry["iv"] = to_json(evolution_.getSCEV(induction.phi), numbering_, evolution_);
      out.push_back(entry);
    }
    return out;
  }

  unsigned index_of(const llvm::BasicBlock* block) const {
    return static_cast<unsigned>(
        std::distance(static_cast<const llvm::Function&>(f_).begin(), block->getIterator()));
  }

  Json accesses() {
    Json out = Json::array();
    for (const Access& a : accesses_) {
      const llvm::Loop* l = loops_.getLoopFor(a.instruction->getParent());
      Json entry{{"place", place(*a.instruction)},
                 {"store", a.store},
                 {"bytes", a.bytes},
                 {"input", a.argument},
                 {"float", a.element->isFloatingPointTy()},
                 {"loop", loop_of(a.instruction->getParent())},
                 {"block", index_of(a.instruction->getParent())}};
      if (a.argument >= 0) {
        const llvm::SCEV* address = evolution_.getSCEVAtScope(a.pointer, l);
        const llvm::SCEV* base = evolution_.getSCEV(f_.getArg(static_cast<unsigned>(a.argument)));
        const llvm::SCEV* offset = evolution_.getMinusSCEV(address, base);
        entry["offset"] = to_json(offset, numbering_, evolution_);
      }
      out.push_back(entry);
    }
    return out;
  }

  Json blocks() {
    Json out = Json::array();
    const InstructionTable table(f_, layout_);
    for (llvm::BasicBlock& b : f_) {
      const llvm::Loop* l = loops_.getLoopFor(&b);
      Json successors = Json::array();
      for (const llvm::BasicBlock* s : llvm::successors(&b)) successors.push_back(index_of(s));
      Json entry{{"loop", loop_of(&b)},
                 {"successors", successors},
                 {"instructions", table.of_block(b, numbering_)},
                 {"outgoing", table.outgoing(b)}};
      if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(b.getTerminator());
          branch && branch->isConditional())
        entry["condition"] = condition_to_json(branch->getCondition(), l, numbering_, evolution_);
      out.push_back(entry);
    }
    return out;
  }

  // Every pair with a store in it: what LLVM's analysis can prove. The directions are of the loops around
  // both, outermost first.
  Json dependences() {
    Json out = Json::array();
    for (unsigned i = 0; i < accesses_.size(); ++i)
      for (unsigned j = i; j < accesses_.size(); ++j) {
        const Access &a = accesses_[i], &b = accesses_[j];
        if ((!a.store && !b.store) || a.argument < 0 || b.argument < 0) continue;
        const auto d = dependences_.depends(a.instruction, b.instruction, true);
        if (d == nullptr) continue;
        Json directions = Json::array();
        for (unsigned level = 1; level <= d->getLevels(); ++level)
          directions.push_back(d->isScalar(level) ? 7u : d->getDirection(level));
        out.push_back({{"a", i}, {"b", j}, {"confused", d->isConfused()}, {"directions", directions}});
      }
    return out;
  }

  Nest& nest_;
  llvm::Function& f_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::DependenceInfo& dependences_;
  const llvm::DataLayout& layout_;
  Numbering numbering_;
  std::vector<llvm::Loop*> prefix_;
  std::vector<Access> accesses_;
};

}  // namespace

Induction induction_of(const llvm::Loop& loop) {
  Induction out;
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  const auto* test = llvm::dyn_cast<llvm::BranchInst>(loop.getHeader()->getTerminator());
  if (latch == nullptr) return out;
  for (llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (!phi.getType()->isIntegerTy()) continue;
    auto* next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(latch));
    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add) continue;
    const bool first = next->getOperand(0) == &phi;
    if (!first && next->getOperand(1) != &phi) continue;
    if (!loop.isLoopInvariant(next->getOperand(first ? 1 : 0))) continue;
    const auto* compare = test != nullptr && test->isConditional()
                              ? llvm::dyn_cast<llvm::ICmpInst>(test->getCondition())
                              : nullptr;
    const auto is_it = [&](const llvm::Value* v) {  // i, or i + 1
      const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(v);
      return v == &phi || (sum != nullptr && (sum->getOperand(0) == &phi || sum->getOperand(1) == &phi));
    };
    const bool tested =
        compare != nullptr && (is_it(compare->getOperand(0)) || is_it(compare->getOperand(1)));
    if (out.phi == nullptr || tested) out = {&phi, next, tested};
  }
  return out;
}

std::vector<llvm::Loop*> prefix_of(const llvm::LoopInfo& loops) {
  std::vector<llvm::Loop*> out;
  if (loops.empty()) return out;
  llvm::Loop* l = *loops.begin();
  for (;;) {
    out.push_back(l);
    if (l->getSubLoops().size() != 1) return out;
    llvm::Loop* inner = l->getSubLoops().front();
    const Induction i = induction_of(*inner);
    const bool header_exit = inner->getExitingBlock() == inner->getHeader();
    if (i.phi == nullptr || !i.tested || !header_exit) return out;
    for (const llvm::PHINode& phi : inner->getHeader()->phis())
      if (&phi != i.phi) return out;
    for (const llvm::BasicBlock* b : l->blocks()) {
      if (inner->contains(b)) continue;
      for (const llvm::Instruction& x : *b)
        if (has_effect(x)) return out;
    }
    // What the inner loop hands on, or its being behind a condition, ties its iterations together.
    const llvm::BasicBlock* exit = inner->getExitBlock();
    if (exit == nullptr || !exit->phis().empty()) return out;
    l = inner;
  }
}

Json describe(Nest& nest, Analyses& analyses) { return Describer(nest, analyses).run(); }

}  // namespace simtlab::models::loops
