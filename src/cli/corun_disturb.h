// A kernel on the simulated GPU beside the micro-benchmarks of data/corun/interfere.ptx.
#pragma once

#include <string>
#include <vector>

#include "cli/kernel.h"
#include "cli/options.h"
#include "corun/interference.h"
#include "result/metrics.h"

namespace simtlab::cli {

struct DisturbedPoint {
  corun::Disturbance kind = corun::Disturbance::l2;
  unsigned busy = 0;          // of 32 units of a round
  double load = 0;            // what the micro-benchmark did meanwhile: bytes/s of L2 or DRAM, warp instructions per cycle
  double time_ns = 0;         // of the kernel
};

struct DisturbedKernel {
  std::string name;
  double alone_ns = 0;
  std::vector<DisturbedPoint> points;   // by kind, then by busy
  result::Manifest manifest;
};

// steps: intensities of each kind, evenly over 1 to 32. Throws Error.
DisturbedKernel disturb_kernel(const KernelRun& run, const RunOptions& options, const OutputOptions& output, unsigned steps);

}  // namespace simtlab::cli
