#include "optimiser/llvm/coalesce.h"

#include <llvm/ADT/DenseSet.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "ptx/cfg.h"
#include "ptx/liveness.h"

namespace simtlab::optimiser {
namespace {

using ptx::Inst;
using ptx::no_pc;
using ptx::Op;
using ptx::Operand;
using ptx::OperandKind;

constexpr std::uint32_t none = 0xffffffffu;
// Registers that copies name, times blocks at whose begin they live; and pairs of those that live at once.
// Beyond it the copies stay.
constexpr std::size_t most_live_ins = std::size_t{1} << 23, most_pairs = std::size_t{1} << 23;

bool is_register(const Operand& o) { return o.kind == OperandKind::reg || o.kind == OperandKind::pred; }
bool is_copy(const Inst& inst) {
  return inst.op == Op::mov && inst.dst_count == 1 && inst.src_count == 1 && is_register(inst.dst[0]) &&
         is_register(inst.src[0]) && !inst.src[0].negated && !inst.frame_relative &&
         inst.dst[0].kind == inst.src[0].kind && inst.dst[0].bytes == inst.src[0].bytes;
}

// Numbers of which few are in it, below a limit.
class FewOf {
 public:
  explicit FewOf(std::size_t limit) : place_(limit, none) {}
  void add(std::uint32_t n) {
    if (place_[n] != none) return;
    place_[n] = static_cast<std::uint32_t>(members_.size());
    members_.push_back(n);
  }
  void remove(std::uint32_t n) {
    if (place_[n] == none) return;
    members_[place_[n]] = members_.back();
    place_[members_.back()] = place_[n];
    members_.pop_back();
    place_[n] = none;
  }
  void clear() {
    for (const std::uint32_t n : members_) place_[n] = none;
    members_.clear();
  }
  const std::vector<std::uint32_t>& members() const { return members_; }

 private:
  std::vector<std::uint32_t> members_, place_;
};

class Coalescer {
 public:
  explicit Coalescer(ptx::VirtualFunction& f) : f_(f), code_(f.fn.code), cfg_(ptx::build_cfg(f.fn)) {}

  void run() {
    number();
    if (registers_.empty() || !solve() || !interfere()) return;
    merge();
    rename();
  }

 private:
  // Registers of copies, in dense numbers.
  void number() {
    dense_.assign(f_.registers.size(), none);
    for (const Inst& inst : code_) {
      if (!is_copy(inst)) continue;
      for (const Operand& o : {inst.dst[0], inst.src[0]}) {
        if (dense_[o.index] != none) continue;
        dense_[o.index] = static_cast<std::uint32_t>(registers_.size());
        registers_.push_back(o.index);
      }
    }
    live_ = FewOf(registers_.size());
  }

  // What an instruction does to the set of live registers, backwards.
  void backwards(const Inst& inst) {
    ptx::accesses_of(f_.fn, inst, accesses_);
    if (inst.guard.kind == OperandKind::none)
      for (const std::uint32_t r : accesses_.writes)
        if (dense_[r] != none) live_.remove(dense_[r]);
    for (const std::uint32_t r : accesses_.reads)
      if (dense_[r] != none) live_.add(dense_[r]);
  }

  // Which live where blocks begin: from those that read one back to those that write it. False: too many.
  bool solve() {
    const std::size_t count = registers_.size();
    std::vector<std::vector<std::uint32_t>> readers(count), writers(count);
    for (std::uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      live_.clear();
      for (std::uint32_t pc = cfg_.blocks[b].last; pc-- > cfg_.blocks[b].first;) {
        backwards(code_[pc]);
        if (code_[pc].guard.kind != OperandKind::none) continue;
        for (const std::uint32_t r : accesses_.writes)
          if (const std::uint32_t d = dense_[r]; d != none && (writers[d].empty() || writers[d].back() != b))
            writers[d].push_back(b);
      }
      for (const std::uint32_t d : live_.members()) readers[d].push_back(b);
    }
    live_in_.resize(cfg_.blocks.size());
    std::vector<std::uint32_t> seen(cfg_.blocks.size() + 1, none);
    std::size_t sum = 0;
    for (std::uint32_t d = 0; d < count; ++d) {
      std::vector<std::uint32_t>& in = readers[d];
      for (const std::uint32_t b : in) live_in_[b].push_back(d);
      for (const std::uint32_t b : in) seen[b] = d;
      for (const std::uint32_t b : writers[d]) seen[b] = d;
      for (std::size_t k = 0; k < in.size(); ++k)
        for (std::uint32_t e = cfg_.predecessor_start[in[k]]; e < cfg_.predecessor_start[in[k] + 1]; ++e) {
          const std::uint32_t p = cfg_.predecessors[e];
          if (seen[p] == d) continue;
          seen[p] = d;
          live_in_[p].push_back(d);
          in.push_back(p);
        }
      if ((sum += in.size()) > most_live_ins) return false;
    }
    return true;
  }

  static std::uint64_t pair(std::uint32_t a, std::uint32_t b) {
    return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  }
  void together(std::uint32_t a, std::uint32_t b) {
    if (!pairs_.insert(pair(a, b)).second) return;
    with_[a].push_back(b);
    with_[b].push_back(a);
  }

  // Which live at once. False: too many.
  bool interfere() {
    with_.resize(registers_.size());
    for (std::size_t b = 0; b < cfg_.blocks.size(); ++b) {
      live_.clear();
      for (std::uint32_t e = cfg_.successor_start[b]; e < cfg_.successor_start[b + 1]; ++e)
        if (cfg_.successors[e] != cfg_.exit())
          for (const std::uint32_t d : live_in_[cfg_.successors[e]]) live_.add(d);
      for (std::uint32_t pc = cfg_.blocks[b].last; pc-- > cfg_.blocks[b].first;) {
        const Inst& inst = code_[pc];
        ptx::accesses_of(f_.fn, inst, accesses_);
        const std::uint32_t source =
            is_copy(inst) && inst.guard.kind == OperandKind::none ? dense_[inst.src[0].index] : none;
        for (const std::uint32_t r : accesses_.writes) {
          const std::uint32_t d = dense_[r];
          if (d == none) continue;
          for (const std::uint32_t other : live_.members())
            if (other != d && other != source) together(d, other);
          for (const std::uint32_t second : accesses_.writes)
            if (dense_[second] != none && dense_[second] != d) together(d, dense_[second]);
        }
        backwards(inst);
      }
      if (pairs_.size() > most_pairs) return false;
    }
    return true;
  }

  std::uint32_t root(std::uint32_t d) {
    while (parent_[d] != d) d = parent_[d] = parent_[parent_[d]];
    return d;
  }

  // How deep in loops each instruction is: branches that lead back over it.
  std::vector<std::uint32_t> depths() const {
    std::vector<std::int32_t> change(code_.size() + 1, 0);
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc)
      if (code_[pc].op == Op::bra && code_[pc].target <= pc) ++change[code_[pc].target], --change[pc + 1];
    std::vector<std::uint32_t> out(code_.size());
    std::int32_t depth = 0;
    for (std::size_t pc = 0; pc < code_.size(); ++pc)
      out[pc] = static_cast<std::uint32_t>(depth += change[pc]);
    return out;
  }

  void merge() {
    parent_.resize(registers_.size());
    std::iota(parent_.begin(), parent_.end(), 0u);
    name_ = parent_;
    const std::vector<std::uint32_t> depth = depths();
    std::vector<std::uint32_t> copies;
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc)
      if (is_copy(code_[pc])) copies.push_back(pc);
    std::stable_sort(copies.begin(), copies.end(), [&](auto a, auto b) { return depth[a] > depth[b]; });
    for (const std::uint32_t pc : copies) {
      const std::uint32_t a = root(dense_[code_[pc].dst[0].index]), b = root(dense_[code_[pc].src[0].index]);
      if (a == b || pairs_.contains(pair(a, b))) continue;
      const std::uint32_t kept = with_[a].size() < with_[b].size() ? b : a, gone = kept == a ? b : a;
      name_[kept] = name_[a];
      parent_[gone] = kept;
      // Who lives with it lives with both.
      for (const std::uint32_t other : std::exchange(with_[gone], {}))
        if (pairs_.insert(pair(kept, root(other))).second) with_[kept].push_back(root(other));
    }
  }

  void rename() {
    const auto renamed = [&](Operand& o) {
      if (is_register(o) && dense_[o.index] != none) o.index = registers_[name_[root(dense_[o.index])]];
    };
    for (Inst& inst : code_) {
      renamed(inst.guard);
      for (unsigned i = 0; i < inst.dst_count; ++i) renamed(inst.dst[i]);
      for (unsigned i = 0; i < inst.src_count; ++i) renamed(inst.src[i]);
      if (is_copy(inst) && inst.dst[0].index == inst.src[0].index) inst.op = Op::nop;
    }
  }

  ptx::VirtualFunction& f_;
  std::vector<Inst>& code_;
  const ptx::Cfg cfg_;
  std::vector<std::uint32_t> dense_, registers_, parent_;
  std::vector<std::uint32_t> name_;                  // of all that became one: whose register they get
  std::vector<std::vector<std::uint32_t>> live_in_;  // by block
  std::vector<std::vector<std::uint32_t>> with_;     // who lives when it does
  llvm::DenseSet<std::uint64_t> pairs_;              // the same
  FewOf live_{0};
  ptx::Accesses accesses_;
};

// Code without the instructions that do nothing; targets follow.
void drop(std::vector<Inst>& code, const std::vector<bool>& dead) {
  std::vector<std::uint32_t> place(code.size() + 1);
  std::uint32_t n = 0;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    place[pc] = n;
    if (!dead[pc]) ++n;
  }
  place[code.size()] = n;
  std::vector<Inst> kept;
  kept.reserve(n);
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    if (dead[pc]) continue;
    kept.push_back(code[pc]);
    if (kept.back().op == Op::bra) kept.back().target = place[kept.back().target];
  }
  code = std::move(kept);
}

bool is_jump(const Inst& inst) { return inst.op == Op::bra && inst.guard.kind == OperandKind::none; }
bool leaves(const Inst& inst) {
  return is_jump(inst) || ((inst.op == Op::ret || inst.op == Op::exit || inst.op == Op::trap) &&
                           inst.guard.kind == OperandKind::none);
}

// Where a branch to this place really goes.
std::uint32_t destination(const std::vector<Inst>& code, std::uint32_t pc) {
  for (int hops = 0; hops < 64 && pc < code.size() && is_jump(code[pc]); ++hops) pc = code[pc].target;
  return pc;
}

void mark_unreached(const std::vector<Inst>& code, std::vector<bool>& dead) {
  std::vector<bool> reached(code.size(), false);
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    std::uint32_t pc = open.back();
    open.pop_back();
    for (; pc < code.size() && !reached[pc]; ++pc) {
      reached[pc] = true;
      if (code[pc].op == Op::bra) open.push_back(code[pc].target);
      if (leaves(code[pc])) break;
    }
  }
  for (std::size_t pc = 0; pc < code.size(); ++pc)
    if (!reached[pc]) dead[pc] = true;
}

}  // namespace

void coalesce(ptx::VirtualFunction& f) { Coalescer(f).run(); }

void straighten(ptx::VirtualFunction& f) {
  std::vector<Inst>& code = f.fn.code;
  for (int round = 0; round < 4; ++round) {
    std::vector<bool> dead(code.size(), false);
    for (std::size_t pc = 0; pc < code.size(); ++pc) dead[pc] = code[pc].op == Op::nop;
    drop(code, dead);
    dead.assign(code.size(), false);
    bool changed = false;
    for (Inst& inst : code) {
      if (inst.op != Op::bra) continue;
      const std::uint32_t to = destination(code, inst.target);
      changed |= to != inst.target;
      inst.target = to;
    }
    for (std::uint32_t pc = 0; pc + 1 < code.size(); ++pc) {
      Inst &inst = code[pc], &next = code[pc + 1];
      if (inst.op != Op::bra) continue;
      if (inst.target == pc + 1 || (is_jump(inst) && inst.target == pc + 1)) {
        inst.op = Op::nop, changed = true;
      } else if (!is_jump(inst) && is_jump(next) && inst.target == pc + 2) {
        inst.guard.negated = !inst.guard.negated;
        inst.target = next.target;
        next.op = Op::nop, changed = true;
      }
    }
    mark_unreached(code, dead);
    changed |= std::ranges::any_of(dead, [](bool d) { return d; });
    drop(code, dead);
    if (!changed) break;
  }
  std::vector<bool> dead(code.size(), false);
  for (std::size_t pc = 0; pc < code.size(); ++pc) dead[pc] = code[pc].op == Op::nop;
  drop(code, dead);
}

}  // namespace simtlab::optimiser
