// The control information of instructions: stall counts, scoreboards, waits, reuse.
#pragma once

#include <cstdint>

#include "assembler/program.h"

namespace simtlab::assembler {

// Of a program whose registers have numbers.
void set_control(Program& program);

// Maxwell and Pascal: NOPs in front of exits and barriers that would come too soon. Stall counts are set.
void lengthen_short_ways(Program& program);

// Cycles of a warp that is alone, if each loop turns eight times and loads take what they usually do. To
// compare two codes of one kernel.
std::uint64_t expected_cycles(const Program& program);

}  // namespace simtlab::assembler
