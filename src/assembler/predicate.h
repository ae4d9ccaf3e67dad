// Short bodies of branches become guarded instructions.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

// Before convergence: a body that is not there needs no place to meet behind it.
void predicate(Program& program);

}  // namespace simtlab::assembler
