// Instructions of PTX that no hardware has become sequences of others.
#pragma once

#include <string>

#include "ptx/decode.h"

namespace simtlab::assembler {

// Changes a kernel, over virtual registers, in place. What it leaves has an instruction (or a few without
// branches) of the generation. False: it holds something that is not done yet, named in `why`.
bool expand(ptx::VirtualFunction& function, unsigned generation, std::string& why);

}  // namespace simtlab::assembler
