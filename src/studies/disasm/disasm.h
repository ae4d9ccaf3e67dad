// What other commands show of machine code.
#pragma once

#include <string>
#include <vector>

#include "studies/common/outcome.h"

namespace simtlab::studies {

// `simtlab build --machine FILE`: the machine code of a source, built with these arguments.
Outcome show_machine_code(const std::string& file, const std::vector<std::string>& arguments);

}  // namespace simtlab::studies
