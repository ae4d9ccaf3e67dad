// Instructions whose results nobody reads go away.
#pragma once

#include "assembler/program.h"

namespace simtlab::assembler {

void clean(Program& program);

}  // namespace simtlab::assembler
