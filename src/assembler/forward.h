// Readers of a copy read what was copied.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Of copies between registers that one instruction writes, in code that always comes through it: what counts
// instructions or knows values then sees no copies that allocation takes away anyway.
void forward_copies(Program& program);

}  // namespace simtlab::assembler
