#include "optimiser/llvm/written_once.h"

#include <cstdint>
#include <utility>

#include "ptx/cfg.h"
#include "ptx/liveness.h"

namespace simtlab::optimiser {
namespace {

constexpr std::uint32_t none = 0xffffffffu;
// So many may all be variables. LLVM then has phis in another order, which decides between instructions that
// do the same: one kernel in a hundred comes out longer without it.
constexpr std::size_t few = 8192;

// When a walk over the tree of dominators comes to a block and leaves it; 0: nothing leads there.
class Dominators {
 public:
  explicit Dominators(const ptx::Cfg& cfg) {
    const std::size_t count = cfg.blocks.size();
    std::vector<std::vector<std::uint32_t>> next(count), below(count);
    for (std::uint32_t b = 0; b < count; ++b)
      for (std::uint32_t e = cfg.successor_start[b]; e < cfg.successor_start[b + 1]; ++e)
        if (cfg.successors[e] != cfg.exit()) next[b].push_back(cfg.successors[e]);
    const std::vector<std::uint32_t> above = ptx::dominators(next, 0);
    for (std::uint32_t b = 1; b < count; ++b)
      if (above[b] != none) below[above[b]].push_back(b);
    walk(below);
  }
  bool dominates(std::uint32_t a, std::uint32_t b) const {
    return enter_[a] != 0 && enter_[a] <= enter_[b] && enter_[b] < leave_[a];
  }

 private:
  void walk(const std::vector<std::vector<std::uint32_t>>& below) {
    enter_.assign(below.size(), 0);
    leave_.assign(below.size(), 0);
    std::uint32_t clock = 1;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{0, 0}};
    enter_[0] = clock++;
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      if (next == below[b].size()) {
        leave_[b] = clock;
        stack.pop_back();
        continue;
      }
      const std::uint32_t child = below[b][next++];
      enter_[child] = clock++;
      stack.emplace_back(child, 0);
    }
  }

  std::vector<std::uint32_t> enter_, leave_;
};

}  // namespace

std::vector<bool> written_once(const ptx::VirtualFunction& f) {
  std::vector<bool> once(f.registers.size(), f.registers.size() > few);
  if (f.fn.code.empty() || f.registers.size() <= few) return once;
  const ptx::Cfg cfg = ptx::build_cfg(f.fn);
  const Dominators tree(cfg);
  std::vector<std::uint32_t> writer(f.registers.size(), none);
  ptx::Accesses accesses;
  for (std::uint32_t pc = 0; pc < f.fn.code.size(); ++pc) {
    const ptx::Inst& inst = f.fn.code[pc];
    ptx::accesses_of(f.fn, inst, accesses);
    for (const std::uint32_t r : accesses.reads) {
      const bool behind = writer[r] != none && tree.dominates(cfg.block_of[writer[r]], cfg.block_of[pc]);
      if (!behind) once[r] = false;
    }
    for (const std::uint32_t r : accesses.writes) {
      if (writer[r] != none || inst.guard.kind != ptx::OperandKind::none) once[r] = false;
      writer[r] = pc;
    }
  }
  return once;
}

}  // namespace simtlab::optimiser
