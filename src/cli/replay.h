// Simulating a recorded trace.
#pragma once

#include <string>

#include "cli/observe.h"
#include "cli/options.h"
#include "cli/simulate.h"

namespace simtlab::cli {

// Whether the file is a trace by its name: *.simt, kernelslist.g, *.traceg, *.traceg.xz.
bool is_trace(const std::string& file);
// Replays, writes the report to stdout. Returns the exit code or throws Error.
int run_trace(const std::string& file, const RunOptions& given, const OutputOptions& output);

}  // namespace simtlab::cli
