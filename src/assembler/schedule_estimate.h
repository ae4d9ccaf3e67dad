// How long a block takes with the control information that it would get.
#pragma once

#include <cstdint>

#include "assembler/program.h"

namespace simtlab::assembler {

// Cycles of a block whose registers have numbers, issued alone: stall counts, scoreboards as far as there are
// enough of them, banks of the register file. in_loop: the block comes again and again.
std::uint32_t estimated_cycles(const Block& block, unsigned generation, bool in_loop);

}  // namespace simtlab::assembler
