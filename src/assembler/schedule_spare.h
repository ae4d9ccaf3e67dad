// An order of a block's instructions for few registers.
#pragma once

#include <cstdint>
#include <vector>

#include "assembler/control_effects.h"
#include "assembler/program.h"
#include "assembler/schedule_graph.h"
#include "assembler/schedule_live.h"

namespace simtlab::assembler {

// From the end to the begin: always what leaves the fewest values alive before it. A load comes just before
// its reader like this, whereas from the begin on all loads look alike.
std::vector<std::uint32_t> sparing_order(const Program& program, std::uint32_t block,
                                         const LiveRegisters& live, const ScheduleGraph& graph);

// What an instruction needs just before it, one operand after the other.
std::vector<std::uint32_t> depth_first_order(const std::vector<Instruction>& code,
                                             const ScheduleGraph& graph);

// The order in which the PTX has the instructions, as far as they depend on each other.
std::vector<std::uint32_t> order_of_ptx(const std::vector<Instruction>& code, const ScheduleGraph& graph);

}  // namespace simtlab::assembler
