// Machine code of the kernels of a trace, from a file that has it.
#pragma once

#include <string>

#include "stream/accelsim/import.h"

namespace simtlab::studies {

// Empty for no file. Throws Error(bad_input, "accelsim-cubin") for one without machine code.
stream::accelsim::FindCode find_code_in(const std::string& file);

}  // namespace simtlab::studies
