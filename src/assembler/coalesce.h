// Copies go away where both of their registers can be one.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/liveness.h"
#include "assembler/program.h"

namespace simtlab::assembler {

struct CoalesceLimits {
  // Registers whose number is fixed take part, and live longer.
  bool fixed = true;
  // Gaps in which a part of a register of four may live: long ones take room from others of four.
  std::uint32_t longest_part = none;
  // Only registers of one width.
  bool same_width = false;
};

// Afterwards instructions name fewer registers, and `lives` is that of those (in the gaps of the code before:
// copies that went away leave theirs). Values of segments mean nothing any more. Registers that nothing names
// stay in Program::registers.
void coalesce(Program& program, Liveness& liveness, const CoalesceLimits& limits = {});

}  // namespace simtlab::assembler
