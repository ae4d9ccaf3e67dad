// The order of instructions within blocks.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Before registers have numbers: results early enough for who needs them, as few values alive as possible.
void schedule_before_allocation(Program& program);
// With registers that have numbers: fills cycles in which an instruction would wait with others.
void schedule_after_allocation(Program& program);

}  // namespace simtlab::assembler
