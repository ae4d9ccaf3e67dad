// Moves, sums and shifts that the multiplier can do as well as the integer unit.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Of a program whose registers have numbers. Where a block gives the integer unit more to do than the
// multiply-add unit, some of its instructions become products: IMAD.MOV, IMAD.IADD, IMAD.SHL.
void balance(Program& program);

}  // namespace simtlab::assembler
