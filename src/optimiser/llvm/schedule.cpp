#include "optimiser/llvm/schedule.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <vector>

namespace simtlab::optimiser {
namespace {

using llvm::Instruction;
using llvm::Value;

// Cycles from issue to use, of the order of what all generations have; what counts is that global memory
// takes much longer than shared memory, and that longer than arithmetic.
constexpr unsigned global_latency = 300, shared_latency = 30, function_latency = 20, arithmetic_latency = 5;
// Registers that a block may hold even where fewer would do: fitted to what nvcc 13 gives the ten kernels of
// the SGEMM ladder (sm_86), where the kernel then has about 12 more (docs/lab/ladders.md).
constexpr int free_registers = 28;
// Blocks that are longer keep their order: each access is compared with those before it.
constexpr std::size_t most_instructions = 4096;

bool costs_nothing(const Instruction& i) {
  if (llvm::isa<llvm::BitCastInst>(i) || llvm::isa<llvm::FreezeInst>(i) ||
      llvm::isa<llvm::ExtractElementInst>(i) || llvm::isa<llvm::ExtractValueInst>(i) ||
      llvm::isa<llvm::InsertElementInst>(i) || llvm::isa<llvm::ShuffleVectorInst>(i))
    return true;
  const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(&i);
  return gep != nullptr && gep->hasAllConstantIndices();
}

// 32-bit registers of a value.
int rows(const Value& v) {
  const llvm::Type* t = v.getType();
  if (t->isVoidTy() || t->isIntegerTy(1)) return 0;
  if (const auto* i = llvm::dyn_cast<Instruction>(&v); i != nullptr && costs_nothing(*i) && t->isPointerTy())
    return 0;
  if (t->isPointerTy()) return 2;
  if (const auto* s = llvm::dyn_cast<llvm::StructType>(t)) return static_cast<int>(s->getNumElements());
  const auto bits = static_cast<int>(t->getPrimitiveSizeInBits().getFixedValue());
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(t)) {
    const int each = std::max(1, bits / 32 / static_cast<int>(vector->getNumElements()));
    // Of a vector in the making what is there already.
    const auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&v);
    const auto* at = insert == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    return each * static_cast<int>(at != nullptr ? at->getZExtValue() + 1 : vector->getNumElements());
  }
  return (bits + 31) / 32;
}

unsigned latency_of(const Instruction& i) {
  if (costs_nothing(i)) return 0;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
    const unsigned space = load->getPointerAddressSpace();
    return space == param_space || space == constant_space ? shared_latency
           : space == shared_space                         ? shared_latency
                                                           : global_latency;
  }
  if (llvm::isa<llvm::IntrinsicInst>(i)) return arithmetic_latency;
  if (llvm::isa<llvm::CallInst>(i)) return i.mayReadFromMemory() ? global_latency : function_latency;
  return arithmetic_latency;
}

// What an access touches: so many bytes at a distance from a pointer.
struct Touched {
  const Value* base = nullptr;
  std::int64_t offset = 0, bytes = 0;
  unsigned space = 0;
};
Touched touched_by(Instruction& i) {
  Touched out;
  Value* p = llvm::getLoadStorePointerOperand(&i);
  if (p == nullptr) return out;
  const llvm::DataLayout& layout = i.getModule()->getDataLayout();
  out.space = p->getType()->getPointerAddressSpace();
  out.base = llvm::GetPointerBaseWithConstantOffset(p, out.offset, layout);
  out.bytes = static_cast<std::int64_t>(layout.getTypeStoreSize(llvm::getLoadStoreType(&i)).getFixedValue());
  return out;
}
bool meet(const Touched& a, const Touched& b) {
  const auto anywhere = [](unsigned space) { return space == generic_space || space == local_space; };
  if (a.space != b.space) return anywhere(a.space) || anywhere(b.space);
  if (a.base != b.base) return true;
  return a.offset < b.offset ? a.offset + a.bytes > b.offset : b.offset + b.bytes > a.offset;
}

struct Node {
  Instruction* instruction = nullptr;
  Touched touched;
  std::vector<std::uint32_t> successors;
  unsigned waits = 0;  // predecessors
  unsigned left = 0;   // ... that are not placed yet
  unsigned latency = 0;
  unsigned priority = 0;  // cycles from here to the end of the block
  unsigned ready = 0;     // when its operands are there
  bool steps = false;     // what the next round of a loop begins with, or the test whether there is one
};

bool divides(const Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
  const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
  return callee != nullptr && callee->hasFnAttribute(divides_a_block);
}

// How often each value is used, by whatever block: values that many blocks use are counted once.
using UseCounts = llvm::DenseMap<const Value*, unsigned>;

UseCounts count_all_uses(const llvm::Function& function) {
  UseCounts out;
  for (const llvm::BasicBlock& block : function)
    for (const Instruction& i : block) out[&i] = i.getNumUses();
  return out;
}

// One block.
class Scheduler {
 public:
  Scheduler(llvm::BasicBlock& block, const UseCounts& all_uses) : block_(block), all_uses_(all_uses) {
    for (Instruction& i : block_)
      if (!llvm::isa<llvm::PHINode>(i) && !i.isTerminator() && !llvm::isa<llvm::AllocaInst>(i)) add(i);
  }

  std::size_t size() const { return nodes_.size(); }

  void run() {
    if (nodes_.size() < 4) return;
    depend();
    find_steps();
    rank();
    // As few as its own order or one that spares registers needs.
    const int own = peak();
    limit_ = free_registers;
    const int spared = place();
    limit_ = std::max(free_registers, std::min(own, spared));
    place();
    Instruction* end = block_.getTerminator();
    for (const std::uint32_t n : order_) nodes_[n].instruction->moveBefore(end);
  }

 private:
  void add(Instruction& i) {
    number_[&i] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({&i, touched_by(i), {}, 0, 0, latency_of(i), 0, 0});
  }
  void edge(std::uint32_t from, std::uint32_t to) {
    nodes_[from].successors.push_back(to);
    ++nodes_[to].waits;
  }

  // Operands, and the order of accesses that may meet. Nothing passes what divides a block: the vendor's
  // assembler writes out quotients and roots before it orders instructions. A wall keeps its place among all
  // of them; operations that lanes do together keep theirs among each other.
  void depend() {
    std::vector<std::uint32_t> loads, stores;
    std::uint32_t wall = none, together = none, division = none, part = 0;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      Instruction& i = *nodes_[n].instruction;
      if (division != none) edge(division, n);
      if (divides(i)) {
        for (; part < n; ++part) edge(part, n);
        division = n;
      }
      for (const Value* o : i.operands())
        if (const auto it = number_.find(o); it != number_.end()) edge(it->second, n);
      const bool load = llvm::isa<llvm::LoadInst>(i), store = llvm::isa<llvm::StoreInst>(i);
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i)) {
        if (call->doesNotAccessMemory() && !call->isConvergent()) continue;
        if (wall != none) edge(wall, n);
        if (together != none) edge(together, n);
        together = n;
        if (call->onlyAccessesInaccessibleMemory()) continue;
        for (const auto* list : {&loads, &stores})
          for (const std::uint32_t m : *list) edge(m, n);
        loads.clear(), stores.clear();
        wall = n;
        continue;
      }
      if ((!load && !store) || i.hasMetadata(llvm::LLVMContext::MD_invariant_load)) continue;
      if (wall != none) edge(wall, n);
      for (const std::uint32_t m : stores)
        if (meet(nodes_[m].touched, nodes_[n].touched)) edge(m, n);
      if (store)
        for (const std::uint32_t m : loads)
          if (meet(nodes_[m].touched, nodes_[n].touched)) edge(m, n);
      (load ? loads : stores).push_back(n);
    }
  }

  // A variable of a loop plus what stays the same, and tests of that: PTX has them behind what reads the
  // variable as it was, and there is one register for both.
  void find_steps() {
    const auto changes = [](const Instruction& i, const Value* v) {
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(v);
      return phi != nullptr && llvm::is_contained(phi->incoming_values(), &i);
    };
    for (Node& node : nodes_) {
      const Instruction& i = *node.instruction;
      const bool adds = i.getOpcode() == Instruction::Add || llvm::isa<llvm::GetElementPtrInst>(i);
      if (!adds && !llvm::isa<llvm::CmpInst>(i)) continue;
      bool of_step = false, of_round = false;
      for (const Value* o : i.operands()) {
        const auto in_block = number_.find(o);
        if (in_block == number_.end())
          of_step = of_step || (adds && changes(i, o));
        else if (nodes_[in_block->second].steps)
          of_step = true;
        else
          of_round = true;
      }
      node.steps = of_step && !of_round;
    }
    // ... that nothing else in the block needs
    for (std::size_t n = nodes_.size(); n-- > 0;)
      for (const std::uint32_t s : nodes_[n].successors) nodes_[n].steps = nodes_[n].steps && nodes_[s].steps;
  }

  void rank() {
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      unsigned longest = 0;
      for (const std::uint32_t s : nodes_[n].successors) longest = std::max(longest, nodes_[s].priority);
      nodes_[n].priority = longest + nodes_[n].latency;
    }
  }

  // ---- registers ----

  void count_uses() {
    uses_.clear();
    live_ = 0;
    for (const Node& node : nodes_) {
      uses_.try_emplace(node.instruction, 0);
      for (const Value* o : node.instruction->operands())
        if (llvm::isa<Instruction>(o)) ++uses_[o];
    }
    for (auto& [value, uses] : uses_) {
      if (uses != all_uses_.lookup(value)) uses = never;
      if (!number_.contains(value)) live_ += rows(*value);
    }
  }
  // What placing the instruction does to the registers in use.
  int change(const Instruction& i) const {
    int out = uses_.lookup(&i) == 0 ? 0 : rows(i);
    llvm::SmallVector<const Value*, 4> seen;
    for (const Value* o : i.operands()) {
      const auto it = uses_.find(o);
      if (it == uses_.end() || it->second == never || std::ranges::find(seen, o) != seen.end()) continue;
      seen.push_back(o);
      const auto here = static_cast<unsigned>(
          std::ranges::count_if(i.operands(), [&](const llvm::Use& u) { return u.get() == o; }));
      if (it->second == here) out -= rows(*o);
    }
    return out;
  }
  void note(const Instruction& i) {
    live_ += change(i);
    for (const Value* o : i.operands())
      if (const auto it = uses_.find(o); it != uses_.end() && it->second != never && it->second > 0)
        --it->second;
  }
  int peak() {
    count_uses();
    int most = live_;
    for (const Node& node : nodes_) {
      note(*node.instruction);
      most = std::max(most, live_);
    }
    return most;
  }

  // ---- the order ----

  // Returns the most registers in use.
  int place() {
    count_uses();
    order_.clear();
    int most = live_;
    std::vector<std::uint32_t> open;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n].left = nodes_[n].waits;
      nodes_[n].ready = 0;
      if (nodes_[n].waits == 0) open.push_back(n);
    }
    unsigned now = 0;
    while (!open.empty()) {
      const std::size_t k = choose(open, now);
      const std::uint32_t n = open[k];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
      Node& node = nodes_[n];
      now = std::max(now, node.ready);
      note(*node.instruction);
      most = std::max(most, live_);
      order_.push_back(n);
      if (!costs_nothing(*node.instruction)) ++now;
      for (const std::uint32_t s : node.successors) {
        nodes_[s].ready = std::max(nodes_[s].ready, now + node.latency);
        if (--nodes_[s].left == 0) open.push_back(s);
      }
    }
    return most;
  }

  // Steps last. What frees registers while they are short; else what can issue now, of that what most depends
  // on; else what waits least. Ties keep the order of the code.
  std::size_t choose(const std::vector<std::uint32_t>& open, unsigned now) const {
    const bool is_short = live_ >= limit_;
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      const Node &x = nodes_[a], &y = nodes_[b];
      if (x.steps != y.steps) return y.steps;
      const bool free_x = costs_nothing(*x.instruction), free_y = costs_nothing(*y.instruction);
      if (free_x != free_y) return free_x;
      if (is_short) {
        const int p = change(*x.instruction), q = change(*y.instruction);
        if ((p > 0) != (q > 0)) return p <= 0;
        if (p > 0 && p != q) return p < q;
      }
      const unsigned wait_x = x.ready > now ? x.ready - now : 0, wait_y = y.ready > now ? y.ready - now : 0;
      if (wait_x != wait_y) return wait_x < wait_y;
      if (x.priority != y.priority) return x.priority > y.priority;
      return a < b;
    };
    std::size_t best = 0;
    for (std::size_t k = 1; k < open.size(); ++k)
      if (better(open[k], open[best])) best = k;
    return best;
  }

  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr unsigned never = 0xffffffffu;  // it lives on behind the block

  llvm::BasicBlock& block_;
  const UseCounts& all_uses_;
  std::vector<Node> nodes_;
  llvm::DenseMap<const Value*, std::uint32_t> number_;
  llvm::DenseMap<const Value*, unsigned> uses_;  // that are still to come
  std::vector<std::uint32_t> order_;
  int live_ = 0, limit_ = 0;
};

}  // namespace

void schedule(Lifted& lifted) {
  const UseCounts all_uses = count_all_uses(*lifted.function);
  for (llvm::BasicBlock& block : *lifted.function) {
    Scheduler scheduler(block, all_uses);
    if (scheduler.size() > most_instructions)
      lifted.leave_out("a block has more than 4,096 instructions, which keep their order");
    else
      scheduler.run();
  }
}

}  // namespace simtlab::optimiser
