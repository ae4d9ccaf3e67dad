// Where blocks lie, and their words.
#pragma once

#include "assembler/program.h"
#include "machine/function.h"

namespace simtlab::assembler {

// Blocks without instructions and without a way to them go away; where a block's next one does not lie behind
// it, a branch leads there.
void lay_out(Program& program);

// Words, addresses and lines. Throws GivenUp for what cannot be encoded.
machine::MadeCode encode(const Program& program);

}  // namespace simtlab::assembler
