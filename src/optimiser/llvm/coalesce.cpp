#include "optimiser/llvm/coalesce.h"

#include <algorithm>
#include <numeric>

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
// Of registers that copies name, and of those times blocks: beyond it the copies stay.
constexpr std::size_t most_registers = 8192, most_bits = std::size_t{1} << 28;

bool is_register(const Operand& o) { return o.kind == OperandKind::reg || o.kind == OperandKind::pred; }
bool is_copy(const Inst& inst) {
  return inst.op == Op::mov && inst.dst_count == 1 && inst.src_count == 1 && is_register(inst.dst[0]) &&
         is_register(inst.src[0]) && !inst.src[0].negated && !inst.frame_relative &&
         inst.dst[0].kind == inst.src[0].kind && inst.dst[0].bytes == inst.src[0].bytes;
}

class Bits {
 public:
  explicit Bits(std::size_t n = 0) : words_((n + 63) / 64, 0) {}
  bool test(std::size_t i) const { return (words_[i / 64] >> i % 64 & 1) != 0; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << i % 64; }
  void reset(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << i % 64); }
  bool merge(const Bits& other) {
    bool changed = false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint64_t now = words_[i] | other.words_[i];
      changed |= now != words_[i];
      words_[i] = now;
    }
    return changed;
  }
  template <class F>
  void for_each(const F& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
        f(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(__builtin_ctzll(left))));
  }

 private:
  std::vector<std::uint64_t> words_;
};

class Coalescer {
 public:
  explicit Coalescer(ptx::VirtualFunction& f) : f_(f), code_(f.fn.code), cfg_(ptx::build_cfg(f.fn)) {}

  void run() {
    number();
    if (registers_.empty() || registers_.size() > most_registers ||
        registers_.size() * cfg_.blocks.size() > most_bits)
      return;
    solve();
    interfere();
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
  }

  // What an instruction does to the set of live registers, backwards.
  void backwards(const Inst& inst, Bits& live) {
    ptx::accesses_of(f_.fn, inst, accesses_);
    if (inst.guard.kind == OperandKind::none)
      for (const std::uint32_t r : accesses_.writes)
        if (dense_[r] != none) live.reset(dense_[r]);
    for (const std::uint32_t r : accesses_.reads)
      if (dense_[r] != none) live.set(dense_[r]);
  }
  Bits live_out(std::uint32_t block) const {
    Bits out(registers_.size());
    for (std::uint32_t e = cfg_.successor_start[block]; e < cfg_.successor_start[block + 1]; ++e)
      if (cfg_.successors[e] < live_in_.size()) out.merge(live_in_[cfg_.successors[e]]);
    return out;
  }
  void solve() {
    live_in_.assign(cfg_.blocks.size(), Bits(registers_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = cfg_.blocks.size(); b-- > 0;) {
        Bits live = live_out(static_cast<std::uint32_t>(b));
        for (std::uint32_t pc = cfg_.blocks[b].last; pc-- > cfg_.blocks[b].first;) backwards(code_[pc], live);
        changed |= live_in_[b].merge(live);
      }
    }
  }

  void interfere() {
    with_.assign(registers_.size(), Bits(registers_.size()));
    for (std::size_t b = 0; b < cfg_.blocks.size(); ++b) {
      Bits live = live_out(static_cast<std::uint32_t>(b));
      for (std::uint32_t pc = cfg_.blocks[b].last; pc-- > cfg_.blocks[b].first;) {
        const Inst& inst = code_[pc];
        ptx::accesses_of(f_.fn, inst, accesses_);
        const std::uint32_t source =
            is_copy(inst) && inst.guard.kind == OperandKind::none ? dense_[inst.src[0].index] : none;
        for (const std::uint32_t r : accesses_.writes) {
          const std::uint32_t d = dense_[r];
          if (d == none) continue;
          live.for_each([&](std::uint32_t other) {
            if (other != d && other != source) with_[d].set(other), with_[other].set(d);
          });
          for (const std::uint32_t second : accesses_.writes)
            if (dense_[second] != none && dense_[second] != d)
              with_[d].set(dense_[second]), with_[dense_[second]].set(d);
        }
        backwards(inst, live);
      }
    }
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
    const std::vector<std::uint32_t> depth = depths();
    std::vector<std::uint32_t> copies;
    for (std::uint32_t pc = 0; pc < code_.size(); ++pc)
      if (is_copy(code_[pc])) copies.push_back(pc);
    std::stable_sort(copies.begin(), copies.end(), [&](auto a, auto b) { return depth[a] > depth[b]; });
    for (const std::uint32_t pc : copies) {
      const std::uint32_t a = root(dense_[code_[pc].dst[0].index]), b = root(dense_[code_[pc].src[0].index]);
      if (a == b || with_[a].test(b)) continue;
      parent_[b] = a;
      with_[b].for_each([&](std::uint32_t other) { with_[other].set(a); });
      with_[a].merge(with_[b]);
    }
  }

  void rename() {
    const auto renamed = [&](Operand& o) {
      if (is_register(o) && dense_[o.index] != none) o.index = registers_[root(dense_[o.index])];
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
  std::vector<Bits> live_in_, with_;
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
