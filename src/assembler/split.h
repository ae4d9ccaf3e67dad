// Wide registers as several: halves of 64-bit values above all.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Who reads a part that is always zero reads RZ. A register whose parts are read and written one by one
// becomes one for each part: a part that lives on keeps no room for the others then.
void split_registers(Program& program);

}  // namespace simtlab::assembler
