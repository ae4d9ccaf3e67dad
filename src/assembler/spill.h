// Registers that do not fit: which ones, and the code without them.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/liveness.h"
#include "assembler/program.h"

namespace simtlab::assembler {

enum class Relief : std::uint8_t {
  none,
  stored,  // it is kept elsewhere: local memory, or a general register for a predicate
  remade,  // its instructions run again where it is read
};

struct SpillPlan {
  File file = File::general;
  std::uint32_t target = 0;             // as many numbers are enough then
  std::vector<Relief> reliefs;          // of a register
  std::vector<std::uint32_t> pressure;  // of a gap: numbers that live values take, with the plan
  bool any = false;
};

// So that no more than `target` numbers are alive in any gap, where that is possible. What costs least goes
// first: accesses, weighted by the loops around them, for the gaps that it frees. `liveness` is the
// program's.
SpillPlan plan_spills(const Program& program, const Liveness& liveness, File file, std::uint32_t target);

// Of all instructions, by the loops around them; accesses to local memory take longer.
double cost_of(const Program& program);

// Carries it out: every access of such a register has a register of its own; accesses in a row share one
// where there is room. General registers go to Program::frame_bytes of local memory, whose begin is in R1.
void spill(Program& program, const Liveness& liveness, SpillPlan plan);

}  // namespace simtlab::assembler
