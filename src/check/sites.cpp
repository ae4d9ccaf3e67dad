#include "check/sites.h"

#include <algorithm>

namespace simtlab::check {

bool waits_in_loop(const ptx::Function& function, std::uint32_t pc) {
  for (std::size_t end = pc; end < function.code.size(); ++end) {
    const ptx::Inst& branch = function.code[end];
    if (branch.op != ptx::Op::bra || branch.target > pc) continue;
    return std::none_of(function.code.begin() + branch.target,
                        function.code.begin() + static_cast<std::ptrdiff_t>(end), [&](const ptx::Inst& inst) {
                          return &inst != &function.code[pc] &&
                                 (inst.op == ptx::Op::st || inst.op == ptx::Op::atom ||
                                  inst.op == ptx::Op::red || inst.op == ptx::Op::bar ||
                                  inst.op == ptx::Op::call);
                        });
  }
  return false;
}

bool is_guess(const ptx::Function& function, std::uint32_t pc) {
  constexpr std::size_t farthest = 64;
  const ptx::Inst& load = function.code[pc];
  if (load.dst_count != 1 || load.src[0].kind != ptx::OperandKind::reg) return false;
  std::vector<ptx::Operand> same{load.dst[0]};  // registers that hold what was loaded
  const auto holds = [&](const ptx::Operand& o) { return std::ranges::find(same, o) != same.end(); };
  const std::size_t end = std::min<std::size_t>(function.code.size(), pc + farthest);
  for (std::size_t at = pc + 1; at < end; ++at) {
    const ptx::Inst& inst = function.code[at];
    if (inst.op == ptx::Op::atom && inst.mods.atom == ptx::AtomOp::cas && inst.src[0] == load.src[0] &&
        inst.imm_offset == load.imm_offset && holds(inst.src[1]))
      return true;
    const bool copies =
        inst.op == ptx::Op::mov && inst.dst_count == 1 && inst.src_count == 1 && holds(inst.src[0]);
    for (unsigned k = 0; k < inst.dst_count; ++k) {
      if (inst.dst[k] == load.src[0]) return false;
      std::erase(same, inst.dst[k]);
    }
    if (copies) same.push_back(inst.dst[0]);
    if (same.empty()) return false;
  }
  return false;
}

std::uint32_t Sites::add(const Site& site) {
  std::vector<Site>& list = site.late ? late_ : sites_;
  if (list.size() == late_bit) {
    full_ = true;
    return 0;
  }
  list.push_back(site);
  return static_cast<std::uint32_t>(list.size() - 1) | (site.late ? late_bit : 0);
}

void Sites::clear() {
  sites_.resize(1);
  late_.resize(1);
}

}  // namespace simtlab::check
