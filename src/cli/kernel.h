// Running one PTX kernel without a host program, in this process.
#pragma once

#include <string>

#include "cli/observe.h"
#include "cli/options.h"
#include "frontend/launch_file.h"

namespace simtlab::cli {

struct KernelRun {
  std::string file;         // PTX
  std::string launch_file;  // may be empty: all from the options
  frontend::LaunchOptions launch;
};

// Loads, launches, compares outputs, writes the report to stdout. Returns the exit code or throws Error.
// record: the trace to write; empty: none.
int run_kernel(const KernelRun& run, const RunOptions& options, const ObserveOptions& observe, const OutputOptions& output,
               const std::string& record);

}  // namespace simtlab::cli
