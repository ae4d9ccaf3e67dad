// Printers of a result::Result. They return text; the command line decides where it goes.
//
// Sample of the text report of one kernel (docs/reference/cli.md explains each line):
//
//   matmul(float const*, float const*, float*, int)
//     grid 16x16x1, block 16x16x1, 34 registers a thread, 2.00 KiB shared memory a block
//     12.3 us simulated at cycle level on a100: 17,343 cycles, 1203 thread instructions per cycle
//
//     Speed of light
//       compute      41.2 %  ############..................  fp32
//       memory       12.0 %  ####..........................  shared
//       issue slots  55.1 %  #################.............
//
//     Bottleneck: ...
#pragma once

#include <string>

#include "report/format.h"
#include "result/metrics.h"

namespace simtlab::report {

struct TextOptions {
  Style style;
  bool all = false;          // every stall reason, every kernel in detail, every metric
  std::string next_command;  // last line: "next: ..."; empty = none
};

// One kernel launch: its report. Several: a table by kernel name sorted by time and the longest ones in
// detail.
std::string text(const result::Result& result, const TextOptions& options);

// One row a kernel and metric after a header row; total rows have the launch number "total". RFC 4180
// quoting.
std::string csv(const result::Result& result);

}  // namespace simtlab::report
