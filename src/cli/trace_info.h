// simtlab trace info.
#pragma once

#include "cli/cli.h"

namespace simtlab::cli {

void add_trace_info(CLI::App& trace, Action& chosen);

}  // namespace simtlab::cli
