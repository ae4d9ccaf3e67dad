// Values of 8 and 16 bits: an extension does not repeat what was done before it.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// PTX shifts and compares such values in 16 bits, and selection extends and masks them each time. Before
// registers have numbers.
void narrow(Program& program);

}  // namespace simtlab::assembler
