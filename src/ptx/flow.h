// Control flow of a function from instruction to instruction, and the registers that each touches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ptx/cfg.h"
#include "ptx/module.h"

namespace simtlab::ptx {

class Flow {
 public:
  explicit Flow(const Function& function);
  std::span<const std::uint32_t> after(std::uint32_t pc) const { return list(after_, after_start_, pc); }
  std::span<const std::uint32_t> before(std::uint32_t pc) const { return list(before_, before_start_, pc); }

 private:
  using Pcs = std::vector<std::uint32_t>;
  static std::span<const std::uint32_t> list(const Pcs& all, const Pcs& start, std::uint32_t pc) {
    return {all.data() + start[pc], all.data() + start[pc + 1]};
  }
  Pcs after_start_, after_, before_start_, before_;
};

// Calls f(row) for each 32-bit register row of an operand.
template <class F>
void for_each_row(const Operand& operand, const F& f) {
  if (operand.kind != OperandKind::reg) return;
  for (std::uint32_t row = 0; row < std::max(1u, operand.bytes / 4u); ++row) f(operand.index + row);
}
template <class F>
void for_each_destination_row(const Inst& inst, const F& f) {
  for (unsigned i = 0; i < inst.dst_count; ++i) for_each_row(inst.dst[i], f);
}
template <class F>
void for_each_source_row(const Inst& inst, const F& f) {
  for (unsigned i = 0; i < inst.src_count; ++i) for_each_row(inst.src[i], f);
}

}  // namespace simtlab::ptx
