#pragma once

#include "cli/cli.h"
#include "cli/validate.h"

namespace simtlab::cli {

AreaReport dram_area(const volatile bool* stop);
void add_validate_dram(CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
