// Goes over a block backwards and knows which units live.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/program.h"

namespace simtlab::assembler {

// A unit may live only where a predicate holds: its readers from there on have that guard. A write with the
// same guard ends its life; one with the opposite guard does not touch it.
class LiveScan {
 public:
  LiveScan(const std::vector<std::uint32_t>& first_unit, std::uint32_t units)
      : first_unit_(first_unit), states_(units, dead), waiting_(units) {}

  bool lives(std::uint32_t unit) const { return states_[unit] != dead; }
  void make_live(std::uint32_t unit) { set(unit, always); }
  void clear();
  // Units that lived since clear(); some are in it twice.
  const std::vector<std::uint32_t>& touched() const { return touched_; }

  // on_write(unit, lived behind the instruction, lives before it), on_read(unit): its life ends here.
  template <class OnWrite, class OnRead>
  void step(const Instruction& instruction, const OnWrite& on_write, const OnRead& on_read);

 private:
  using State = std::uint32_t;  // from 2 on: 2 + 2 * unit of the predicate + negated
  static constexpr State dead = 0, always = 1, unknown = 0xffffffffu;

  void set(std::uint32_t unit, State state) {
    if (states_[unit] == dead) touched_.push_back(unit);
    states_[unit] = state;
    if (state >= 2) wait(unit, state);
  }
  void wait(std::uint32_t unit, State state);
  void predicate_changes(std::uint32_t predicate);
  State condition_of(const Instruction& instruction) const;
  State before_write(State behind, State guard) const;

  const std::vector<std::uint32_t>& first_unit_;
  std::vector<State> states_;
  std::vector<std::vector<std::uint32_t>> waiting_;  // of a predicate: units that live where it holds or not
  std::vector<std::uint32_t> touched_, predicates_;
};

template <class OnWrite, class OnRead>
void LiveScan::step(const Instruction& instruction, const OnWrite& on_write, const OnRead& on_read) {
  const State guard = condition_of(instruction);
  const auto each = [&](bool writes, const auto& f) {
    for_each_ref(instruction, [&](const Ref& ref, bool is_write) {
      if (is_write != writes) return;
      const std::uint32_t first = first_unit_[ref.reg] + ref.part;
      for (std::uint32_t unit = first; unit < first + ref.count; ++unit) f(unit);
    });
  };
  // The guards of later instructions are other values than this one's.
  each(true, [&](std::uint32_t unit) { predicate_changes(unit); });
  each(true, [&](std::uint32_t unit) {
    const State behind = states_[unit];
    const State before = before_write(behind, guard);
    if (before != behind) set(unit, before);
    on_write(unit, behind != dead, before != dead);
  });
  each(false, [&](std::uint32_t unit) {
    const bool is_guard = instruction.guard && first_unit_[instruction.guard.reg] == unit;
    const State needed = is_guard || guard == unknown ? always : guard;
    const State state = states_[unit];
    if (state == dead) on_read(unit);
    if (state == dead)
      set(unit, needed);
    else if (state != needed)
      states_[unit] = always;
  });
}

}  // namespace simtlab::assembler
