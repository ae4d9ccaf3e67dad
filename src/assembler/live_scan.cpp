#include "assembler/live_scan.h"

namespace simtlab::assembler {

void LiveScan::clear() {
  for (const std::uint32_t unit : touched_) states_[unit] = dead;
  for (const std::uint32_t predicate : predicates_) waiting_[predicate].clear();
  touched_.clear();
  predicates_.clear();
}

void LiveScan::wait(std::uint32_t unit, State state) {
  std::vector<std::uint32_t>& list = waiting_[state / 2 - 1];
  if (list.empty()) predicates_.push_back(state / 2 - 1);
  list.push_back(unit);
}

LiveScan::State LiveScan::condition_of(const Instruction& instruction) const {
  if (instruction.guard)
    return 2 * (1 + first_unit_[instruction.guard.reg]) + (instruction.code.guard_negated ? 1 : 0);
  return instruction.code.always() ? always : unknown;
}

LiveScan::State LiveScan::before_write(State behind, State guard) const {
  if (behind == dead || guard == always || behind == guard) return dead;
  if (guard == unknown || behind != always) return behind;
  // Where the guard does not hold, it lives on.
  return guard ^ 1u;
}

}  // namespace simtlab::assembler
