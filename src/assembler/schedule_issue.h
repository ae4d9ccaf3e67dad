// When the instructions of a block issue if nothing else runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "assembler/schedule_graph.h"

namespace simtlab::assembler {

// When instructions issue, one after another: dependences and pipelines make them wait.
class IssueTimes {
 public:
  IssueTimes(std::span<const Instruction> code, const ScheduleGraph& graph)
      : graph_(graph), ready_(code.size(), 0) {
    pipes_.reserve(code.size());
    stalls_.reserve(code.size());
    for (const Instruction& i : code) {
      pipes_.push_back(pipe_of(i.code));
      stalls_.push_back(least_stall(i.code));
    }
  }

  PipeKind pipe(std::uint32_t n) const { return pipes_[n].kind; }
  std::uint32_t ready(std::uint32_t n) const { return ready_[n]; }
  std::uint32_t free(PipeKind kind) const {
    return kind == PipeKind::none ? 0 : free_[static_cast<std::size_t>(kind)];
  }
  std::uint32_t now() const { return now_; }
  // Until something may issue.
  void pass_to(std::uint32_t time) { now_ = std::max(now_, time); }
  void issue(std::uint32_t n) {
    now_ = std::max({now_, ready_[n], free(pipe(n))});
    free_[static_cast<std::size_t>(pipe(n))] = now_ + pipes_[n].cycles;
    for (const ScheduleGraph::Edge& e : graph_.after(n))
      ready_[e.to] = std::max(ready_[e.to], now_ + e.cycles);
    now_ += stalls_[n];
  }

 private:
  const ScheduleGraph& graph_;
  std::vector<PipeUse> pipes_;
  std::vector<std::uint32_t> stalls_, ready_;
  std::array<std::uint32_t, static_cast<std::size_t>(PipeKind::count_)> free_{};
  std::uint32_t now_ = 0;
};

inline std::uint32_t cycles_in_order(std::span<const Instruction> code, const ScheduleGraph& graph) {
  IssueTimes times(code, graph);
  for (std::uint32_t n = 0; n < code.size(); ++n) times.issue(n);
  return times.now();
}

}  // namespace simtlab::assembler
