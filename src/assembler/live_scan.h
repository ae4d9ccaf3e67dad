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
  // From 2 on: 2 * (1 + unit of the predicate) + whether it is negated.
  using State = std::uint32_t;
  static constexpr State dead = 0, always = 1, unknown = 0xffffffffu;

  LiveScan(const std::vector<std::uint32_t>& first_unit, std::uint32_t units)
      : first_unit_(first_unit), states_(units, dead), waiting_(units) {}

  bool lives(std::uint32_t unit) const { return states_[unit] != dead; }
  State state(std::uint32_t unit) const { return states_[unit]; }
  void make_live(std::uint32_t unit, State where = always) { set(unit, where); }
  // Where an instruction is executed.
  State condition_of(const Instruction& instruction) const;
  void clear();
  // Units that lived since clear(); some are in it twice.
  const std::vector<std::uint32_t>& touched() const { return touched_; }

  // on_write(unit, state behind the instruction, state before it); on_change(unit, the same): other changes.
  template <class OnWrite, class OnChange>
  void step(const Instruction& instruction, const OnWrite& on_write, const OnChange& on_change);
  void step(const Instruction& instruction) {
    const auto nothing = [](std::uint32_t, State, State) {};
    step(instruction, nothing, nothing);
  }

 private:
  void set(std::uint32_t unit, State state) {
    if (states_[unit] == dead) touched_.push_back(unit);
    states_[unit] = state;
    if (state >= 2) wait(unit, state);
  }
  void wait(std::uint32_t unit, State state);
  template <class OnChange>
  void predicate_changes(std::uint32_t predicate, const OnChange& on_change);
  State before_write(State behind, State guard) const;

  const std::vector<std::uint32_t>& first_unit_;
  std::vector<State> states_;
  std::vector<std::vector<std::uint32_t>> waiting_;  // of a predicate: units that live where it holds or not
  std::vector<std::uint32_t> touched_, predicates_;
};

template <class OnChange>
void LiveScan::predicate_changes(std::uint32_t predicate, const OnChange& on_change) {
  std::vector<std::uint32_t>& list = waiting_[predicate];
  for (const std::uint32_t unit : list) {
    const State state = states_[unit];
    if (state < 2 || state / 2 != predicate + 1) continue;
    states_[unit] = always;
    on_change(unit, state, always);
  }
  list.clear();
}

template <class OnWrite, class OnChange>
void LiveScan::step(const Instruction& instruction, const OnWrite& on_write, const OnChange& on_change) {
  const State guard = condition_of(instruction);
  const auto each = [&](bool writes, const auto& f) {
    for_each_ref(instruction, [&](const Ref& ref, bool is_write) {
      if (is_write != writes) return;
      const std::uint32_t first = first_unit_[ref.reg] + ref.part;
      for (std::uint32_t unit = first; unit < first + ref.count; ++unit) f(unit);
    });
  };
  // The guards of later instructions are other values than this one's.
  each(true, [&](std::uint32_t unit) { predicate_changes(unit, on_change); });
  // A copy reads where its result is read.
  State reads_where = guard;
  if (instruction.copy && guard == always)
    each(true, [&](std::uint32_t unit) { reads_where = states_[unit] >= 2 ? states_[unit] : always; });
  each(true, [&](std::uint32_t unit) {
    const State behind = states_[unit];
    const State before = before_write(behind, guard);
    if (before != behind) set(unit, before);
    on_write(unit, behind, before);
  });
  each(false, [&](std::uint32_t unit) {
    const bool is_guard = instruction.guard && first_unit_[instruction.guard.reg] == unit;
    const State needed = is_guard || guard == unknown ? always : reads_where;
    const State behind = states_[unit];
    const State before = behind == dead || behind == needed ? needed : always;
    if (before == behind) return;
    set(unit, before);
    on_change(unit, behind, before);
  });
}

}  // namespace simtlab::assembler
