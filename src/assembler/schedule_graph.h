// Which instructions of a block must come before which, and how many cycles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assembler/control_effects.h"
#include "assembler/program.h"

namespace simtlab::assembler {

class ScheduleGraph {
 public:
  struct Edge {
    std::uint32_t to = 0;
    std::uint32_t cycles = 1;  // from issue to issue
  };

  ScheduleGraph(std::span<const Instruction> code, std::span<const Effects> effects);

  std::size_t size() const { return predecessors_.size(); }
  std::span<const Edge> after(std::size_t n) const {
    return std::span(edges_).subspan(starts_[n], starts_[n + 1] - starts_[n]);
  }
  std::uint32_t predecessors(std::size_t n) const { return predecessors_[n]; }
  // Cycles from an instruction's issue to the end of the block at least.
  std::vector<std::uint32_t> cycles_to_end() const;

 private:
  struct FullEdge {
    std::uint32_t from = 0, to = 0, cycles = 1;
  };
  class Builder;
  void fill(const std::vector<FullEdge>& all);

  std::vector<std::size_t> starts_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> predecessors_;
  std::vector<std::uint32_t> tails_;  // of results that nobody in the block reads
};

}  // namespace simtlab::assembler
