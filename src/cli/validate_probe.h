#pragma once

#include "cli/cli.h"
#include "cli/validate.h"

namespace simtlab::cli {

AreaReport probe_area();
void add_validate_probe(CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
