// Running one kernel, PTX or OpenCL C, without a host program, in this process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/launch_file.h"
#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/run/observe.h"
#include "studies/run/simulate.h"

namespace simtlab::studies {

// The same launch on a real board as well.
struct BoardWish {
  std::string device;  // index or UUID; empty: none
  unsigned repeat = 20;
  std::optional<double> tolerance;
};

struct KernelRun {
  std::string file;                  // .ptx, .cubin or .cl
  std::vector<std::string> options;  // build options of a .cl
  std::vector<std::string> links;    // objects that are linked to it
  std::string launch_file;           // may be empty: all from the options
  compile::LaunchOptions launch;
  BoardWish board;
};

// Loads, launches, compares outputs. Throws Error.
Outcome run_kernel(const KernelRun& run, const RunOptions& given, const OutputOptions& output);

}  // namespace simtlab::studies
