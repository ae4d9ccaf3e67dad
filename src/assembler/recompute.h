// Values that live through many blocks are computed again where they are read.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Before registers have numbers. Where blocks need more than so many registers, what lives through them
// unread is computed again behind them, if a few instructions outside the innermost loops do it from what is
// there anyway: parameters, numbers, values that are alive. ptxas does so.
void recompute(Program& program, unsigned most);

// For an SM full of threads.
void recompute(Program& program);

}  // namespace simtlab::assembler
