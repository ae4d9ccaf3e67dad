// simtlab validate corun.
#pragma once

#include "cli/cli.h"

namespace simtlab::cli {

void add_validate_corun(const CLI::App& app, CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
