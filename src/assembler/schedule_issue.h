// When the instructions of a block issue if nothing else runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "assembler/control_reuse.h"
#include "assembler/schedule_graph.h"

namespace simtlab::assembler {

// When instructions issue, one after another: dependences, pipelines and, where registers have numbers, the
// banks of the register file make them wait.
class IssueTimes {
 public:
  IssueTimes(std::span<const Instruction> code, std::span<const Effects> effects, const ScheduleGraph& graph,
             bool numbered)
      : code_(code), effects_(effects), graph_(graph), ready_(code.size(), 0) {
    pipes_.reserve(code.size());
    beside_.reserve(code.size());
    stalls_.reserve(code.size());
    for (const Instruction& i : code) {
      pipes_.push_back(pipe_of(i.code));
      beside_.push_back(pipe_beside(i.code));
      stalls_.push_back(least_stall(i.code));
    }
    if (numbered) find_slots();
  }

  PipeKind pipe(std::uint32_t n) const { return pipes_[n].kind; }
  std::uint32_t ready(std::uint32_t n) const { return ready_[n]; }
  std::uint32_t free(PipeKind kind) const {
    return kind == PipeKind::none ? 0 : free_[static_cast<std::size_t>(kind)];
  }
  std::uint32_t now() const { return now_; }
  // Until something may issue.
  void pass_to(std::uint32_t time) { now_ = std::max(now_, time); }

  // Cycles that it would wait for the banks; `swapped`: with its factors the other way round.
  unsigned conflicts(std::uint32_t n, bool swapped = false) const {
    if (slots_.empty() || !has_slots_[n]) return 0;
    const OperandSlots slots = slots_of(n, swapped);
    const std::uint8_t kept = last_ != none && ready_[n] <= now_
                                  ? kept_slots(last_slots_, effects_[last_], slots)
                                  : std::uint8_t{0};
    return bank_conflicts(code_[n].code.generation, slots, kept, pipes_[n].cycles);
  }
  // A multiplication of two registers
  bool can_swap(std::uint32_t n) const;

  void issue(std::uint32_t n, bool swapped = false) {
    const unsigned waits = conflicts(n, swapped);
    now_ = std::max({now_, ready_[n], free(pipe(n))});
    free_[static_cast<std::size_t>(pipe(n))] = now_ + pipes_[n].cycles + waits;
    std::uint32_t& also = free_[static_cast<std::size_t>(beside_[n].kind)];
    also = std::max(also, now_ + beside_[n].cycles);
    for (const ScheduleGraph::Edge& e : graph_.after(n))
      ready_[e.to] = std::max(ready_[e.to], now_ + e.cycles);
    now_ += stalls_[n] + waits;
    last_ = none;
    if (slots_.empty() || !has_slots_[n]) return;
    last_ = n;
    last_slots_ = slots_of(n, swapped);
  }

 private:
  void find_slots() {
    for (std::size_t n = 0; n < code_.size(); ++n) {
      slots_.push_back(operand_slots(code_[n]));
      has_slots_.push_back(has_reuse(code_[n], effects_[n]));
    }
  }
  OperandSlots slots_of(std::uint32_t n, bool swapped) const {
    OperandSlots out = slots_[n];
    if (swapped) std::swap(out[0], out[1]);
    return out;
  }

  std::span<const Instruction> code_;
  std::span<const Effects> effects_;
  const ScheduleGraph& graph_;
  std::vector<PipeUse> pipes_, beside_;
  std::vector<std::uint32_t> stalls_, ready_;
  std::vector<OperandSlots> slots_;  // empty: registers have no numbers
  std::vector<char> has_slots_;
  std::array<std::uint32_t, static_cast<std::size_t>(PipeKind::count_)> free_{};
  std::uint32_t now_ = 0, last_ = none;
  OperandSlots last_slots_;
};

inline bool IssueTimes::can_swap(std::uint32_t n) const {
  const machine::Instruction& code = code_[n].code;
  return code.mnemonic() == "FFMA" && code.form->form == "RRR" && slots_[n][0].count == 1 &&
         slots_[n][1].count == 1;
}

inline std::uint32_t cycles_in_order(std::span<const Instruction> code, std::span<const Effects> effects,
                                     const ScheduleGraph& graph, bool numbered) {
  IssueTimes times(code, effects, graph, numbered);
  for (std::uint32_t n = 0; n < code.size(); ++n) times.issue(n);
  return times.now();
}

}  // namespace simtlab::assembler
