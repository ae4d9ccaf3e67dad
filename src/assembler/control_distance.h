// How far away the next instruction is that reads or writes a register.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "assembler/control_parts.h"

namespace simtlab::assembler {

inline constexpr std::uint32_t no_occurrence = 0xffffffffu;

// Of an instruction whose results or operands need a scoreboard, in cycles of its block as estimated.
struct LateUse {
  std::uint32_t result = no_occurrence;   // when a result is read or overwritten for the first time
  std::uint32_t operand = no_occurrence;  // ... an operand is overwritten
};

class Distances {
 public:
  Distances(const Program& program, const std::vector<BlockEffects>& effects);

  // When an instruction issues, counted from the begin of its block; at the end: how long the block takes.
  std::uint32_t issue(std::uint32_t block, std::size_t instruction) const {
    return issue_[block][instruction];
  }
  std::uint32_t end(std::uint32_t block) const { return issue_[block].back(); }
  const LateUse& use(std::uint32_t block, std::size_t instruction) const { return uses_[block][instruction]; }

 private:
  using PerPlace = std::array<std::uint16_t, place_count>;  // cycles, saturated; 0xffff: no_occurrence
  struct Touches {
    PerPlace any, write;
    bool operator==(const Touches&) const = default;
  };
  static constexpr std::uint16_t not_at_all = 0xffff, far_away = 0xfffe;

  void estimate(const Block& block, const BlockEffects& effects);
  Touches first_in(std::uint32_t block, const BlockEffects& effects) const;
  Touches behind(const Program& program, std::uint32_t block) const;
  void spread(const Program& program, const std::vector<BlockEffects>& effects);
  void find_uses(const Program& program, std::uint32_t block, const BlockEffects& effects);

  std::vector<std::vector<std::uint32_t>> issue_;  // one more than instructions
  std::vector<std::vector<LateUse>> uses_;
  std::vector<Touches> entry_;
};

}  // namespace simtlab::assembler
