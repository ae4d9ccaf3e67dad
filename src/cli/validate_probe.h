// simtlab validate probe.
#pragma once

#include "cli/cli.h"

namespace simtlab::cli {

void add_validate_probe(CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
