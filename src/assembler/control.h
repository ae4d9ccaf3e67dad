// The control information of instructions: stall counts, scoreboards, waits, reuse.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Of a program whose registers have numbers.
void set_control(Program& program);

}  // namespace simtlab::assembler
