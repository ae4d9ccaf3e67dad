// PTX instructions become machine instructions over registers without numbers.
#pragma once

#include <string>

#include "assembler/program.h"
#include "ptx/decode.h"

namespace simtlab::assembler {

// Of a kernel whose instructions expand() has been through, with the marks of ptx::fold(). False: it holds
// something that is not done yet, named in `why`.
bool select(const ptx::VirtualFunction& function, const ptx::Module& module, unsigned generation,
            Program& program, std::string& why);

}  // namespace simtlab::assembler
