// Arithmetic with numbers that selection left: halves of 64-bit values above all.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Before registers have numbers.
void simplify(Program& program);

}  // namespace simtlab::assembler
