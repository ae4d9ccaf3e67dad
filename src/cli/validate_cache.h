#pragma once

#include "cli/cli.h"
#include "cli/validate.h"

namespace simtlab::cli {

AreaReport cache_area(bool quick, const volatile bool* stop);
void add_validate_cache(CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
