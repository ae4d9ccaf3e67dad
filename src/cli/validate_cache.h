// simtlab validate cache.
#pragma once

#include "cli/cli.h"

namespace simtlab::cli {

void add_validate_cache(CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
