// simtlab validate predict.
#pragma once

#include "cli/cli.h"

namespace simtlab::cli {

void add_validate_predict(CLI::App& validate, Action& chosen);

}  // namespace simtlab::cli
