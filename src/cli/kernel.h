// Running one kernel, PTX or OpenCL C, without a host program, in this process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/observe.h"
#include "cli/options.h"
#include "cli/simulate.h"
#include "compile/launch_file.h"

namespace simtlab::cli {

// The same launch on a real board as well.
struct BoardWish {
  std::string device;  // index or UUID; empty: none
  unsigned repeat = 20;
  std::optional<double> tolerance;
};

struct KernelRun {
  std::string file;                  // .ptx or .cl
  std::vector<std::string> options;  // build options of a .cl
  std::string launch_file;           // may be empty: all from the options
  compile::LaunchOptions launch;
  BoardWish board;
};

// Loads, launches, compares outputs, writes the report to stdout. Returns the exit code or throws Error.
int run_kernel(const KernelRun& run, const RunOptions& given, const OutputOptions& output);

}  // namespace simtlab::cli
