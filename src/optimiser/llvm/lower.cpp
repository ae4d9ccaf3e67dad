// Blocks, branches and the copies that phis become.
#include "optimiser/llvm/lower.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

#include <algorithm>

#include "optimiser/llvm/lowerer.h"

namespace simtlab::optimiser {
void Lowerer::run() {
  lay_out_frame();
  order_blocks();
  for (llvm::BasicBlock* block : order_)
    for (llvm::PHINode& phi : block->phis()) values_[&phi] = registers_for(phi.getType());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (predicated_.contains(order_[i])) continue;
    next_ = nullptr;
    for (std::size_t k = i + 1; k < order_.size() && next_ == nullptr; ++k)
      if (!predicated_.contains(order_[k])) next_ = order_[k];
    block(*order_[i]);
  }
  for (const auto& [pc, target] : branches_) code_[pc].target = start_.at(target);
}

void Lowerer::order_blocks() {
  const llvm::DominatorTree tree(function_);
  const llvm::LoopInfo loops(tree);
  std::map<const llvm::BasicBlock*, bool> seen;
  struct Visit {
    llvm::BasicBlock* block;
    std::vector<llvm::BasicBlock*> left;  // successors, the last one is visited first
  };
  std::vector<Visit> stack;
  const auto enter = [&](llvm::BasicBlock* b) {
    if (seen[b]) return;
    seen[b] = true;
    Visit v{b, {}};
    for (llvm::BasicBlock* s : llvm::successors(b)) v.left.push_back(s);
    std::stable_sort(v.left.begin(), v.left.end(),
                     [&](auto* x, auto* y) { return loops.getLoopDepth(x) > loops.getLoopDepth(y); });
    stack.push_back(std::move(v));
  };
  enter(&function_.getEntryBlock());
  while (!stack.empty()) {
    if (stack.back().left.empty()) {
      order_.push_back(stack.back().block);
      stack.pop_back();
      continue;
    }
    llvm::BasicBlock* s = stack.back().left.back();
    stack.back().left.pop_back();
    enter(s);
  }
  std::reverse(order_.begin(), order_.end());
}

void Lowerer::store(ptx::VirtualFunction& f) {
  f.fn.code = std::move(code_);
  f.fn.constants = std::move(constants_);
  f.registers = std::move(types_);
  f.fn.frame_bytes = frame_bytes_;
  f.fn.branch_tables.clear();
  f.fn.call_sites.clear();
  f.callees.clear();
  f.shared_uses.clear();
}

bool Lowerer::can_predicate(const llvm::BasicBlock& block, const llvm::BasicBlock& other) const {
  if (block.getSinglePredecessor() == nullptr || block.getSingleSuccessor() != &other || &block == &other)
    return false;
  unsigned count = 0;
  for (const llvm::Instruction& i : block) {
    if (llvm::isa<llvm::PHINode>(i)) return false;
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) {
      const Inst* op = operation(*call);
      if (op == nullptr && !llvm::isa<llvm::IntrinsicInst>(call)) return false;
      if (op != nullptr && call->isConvergent() && op->op != Op::st && op->op != Op::atom &&
          op->op != Op::red)
        return false;
    }
    if (++count > 8) return false;
  }
  return true;
}

void Lowerer::block(llvm::BasicBlock& b) {
  start_[&b] = static_cast<std::uint32_t>(code_.size());
  body(b);
  llvm::Instruction& end = *b.getTerminator();
  at(end);
  if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&end)) {
    if (branch->isUnconditional()) {
      phi_copies(b, *branch->getSuccessor(0));
      jump(*branch->getSuccessor(0));
      return;
    }
    return conditional(b, *branch);
  }
  if (llvm::isa<llvm::ReturnInst>(end)) {
    code_.push_back(finished(begin(Op::ret, Type::none)));
    return;
  }
  if (llvm::isa<llvm::UnreachableInst>(end)) {
    code_.push_back(finished(begin(Op::trap, Type::none)));
    return;
  }
  give_up("a terminator of an unusual kind");
}

Inst Lowerer::finished(Inst inst) {
  inst.op_class = ptx::OpClass::control;
  return inst;
}

void Lowerer::jump(llvm::BasicBlock& target, const Operand& guard) {
  if (&target == next_ && guard.kind == OperandKind::none) return;
  Inst inst = begin(Op::bra, Type::none);
  inst.guard = guard;
  branches_.emplace_back(static_cast<std::uint32_t>(code_.size()), &target);
  code_.push_back(finished(inst));
}

void Lowerer::conditional(llvm::BasicBlock& b, llvm::BranchInst& branch) {
  llvm::BasicBlock &yes = *branch.getSuccessor(0), &no = *branch.getSuccessor(1);
  Operand p = operand(branch.getCondition());
  Operand not_p = p;
  not_p.negated = !p.negated;
  if (&yes == &no) {
    phi_copies(b, yes);
    return jump(yes);
  }
  for (const bool first : {true, false}) {
    llvm::BasicBlock &inside = first ? yes : no, &other = first ? no : yes;
    if (start_.contains(&inside) || !can_predicate(inside, other)) continue;
    predicated_.insert({&inside, 1});
    guard_ = first ? p : not_p;
    body(inside);
    Parts to, from;
    collect_copies(inside, other, to, from);
    Parts to_direct, from_direct;
    guard_ = first ? not_p : p;
    collect_copies(b, other, to_direct, from_direct);
    parallel(to_direct, from_direct);
    guard_ = first ? p : not_p;
    parallel(to, from);
    guard_ = {};
    return jump_behind(other, inside);
  }
  // Edges into blocks with phis are no critical ones: the copies of an edge belong to a block of its own.
  if (has_phis(yes) || has_phis(no)) give_up("a critical edge");
  if (&yes == next_) return jump(no, not_p);
  jump(yes, p);
  jump(no);
}

void Lowerer::jump_behind(llvm::BasicBlock& target, const llvm::BasicBlock& taken) {
  if (next_ == &taken) {
    const auto it = std::find(order_.begin(), order_.end(), &taken);
    next_ = nullptr;
    for (auto k = it + 1; k != order_.end() && next_ == nullptr; ++k)
      if (!predicated_.contains(*k)) next_ = *k;
  }
  jump(target);
}

void Lowerer::collect_copies(const llvm::BasicBlock& from, llvm::BasicBlock& to, Parts& targets,
                             Parts& sources) {
  for (llvm::PHINode& phi : to.phis()) {
    const Value* v = phi.getIncomingValueForBlock(&from);
    if (llvm::isa<llvm::UndefValue>(v)) continue;
    const Parts value = parts(v);
    const Parts& target = values_.at(&phi);
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (target[i] == value[i]) continue;
      targets.push_back(target[i]);
      sources.push_back(value[i]);
    }
  }
}

void Lowerer::phi_copies(const llvm::BasicBlock& from, llvm::BasicBlock& to) {
  Parts targets, sources;
  collect_copies(from, to, targets, sources);
  parallel(targets, sources);
}

void Lowerer::parallel(Parts& targets, Parts& sources) {
  const auto same = [](const Operand& a, const Operand& b) {
    const auto reg = [](const Operand& o) {
      return o.kind == OperandKind::reg || o.kind == OperandKind::pred;
    };
    return reg(a) && reg(b) && a.index == b.index;
  };
  std::map<std::uint32_t, unsigned> readers;
  for (const Operand& s : sources)
    if (s.kind == OperandKind::reg || s.kind == OperandKind::pred) ++readers[s.index];
  std::vector<std::size_t> ready;
  std::vector<bool> done(targets.size(), false);
  std::map<std::uint32_t, std::size_t> writer;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    writer[targets[i].index] = i;
    if (!readers.contains(targets[i].index)) ready.push_back(i);
  }
  std::size_t left = targets.size(), scan = 0;
  while (left > 0) {
    while (!ready.empty()) {
      const std::size_t i = ready.back();
      ready.pop_back();
      copy(targets[i], sources[i]);
      done[i] = true;
      --left;
      const Operand& s = sources[i];
      if (s.kind != OperandKind::reg && s.kind != OperandKind::pred) continue;
      if (--readers[s.index] == 0 && writer.contains(s.index) && !done[writer[s.index]])
        ready.push_back(writer[s.index]);
    }
    if (left == 0) break;
    while (done[scan]) ++scan;
    // A cycle: keep the value that this copy would destroy.
    const Operand old = targets[scan];
    const Operand kept = old.kind == OperandKind::pred ? new_predicate() : new_register(old.bytes);
    copy(kept, old);
    for (std::size_t k = 0; k < sources.size(); ++k)
      if (!done[k] && same(sources[k], old)) {
        const bool negated = sources[k].negated;
        sources[k] = kept;
        sources[k].negated = negated;
      }
    readers[kept.index] = readers[old.index];
    readers[old.index] = 0;
    ready.push_back(scan);
  }
}

void Lowerer::body(llvm::BasicBlock& b) {
  for (llvm::Instruction& i : b) {
    if (i.isTerminator() || llvm::isa<llvm::PHINode>(i)) continue;
    at(i);
    instruction(i);
  }
}

void lower(const Lifted& lifted, ptx::VirtualFunction& f) {
  Lowerer lowerer(lifted);
  lowerer.run();
  lowerer.store(f);
}

}  // namespace simtlab::optimiser
