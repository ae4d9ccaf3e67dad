// A result as one HTML page: self-contained, opens from disk with no network, readable without scripts (then
// without charts).
#pragma once

#include <string>
#include <vector>

#include "result/metrics.h"

namespace simtlab::report {

// Blocks per SM over the size of a block, for the launch of a kernel; made by who knows the device.
struct OccupancyCurve {
  std::string kernel;  // KernelResult::name
  struct Point {
    double threads = 0, ratio = 0;
    std::string limit;
  };
  std::vector<Point> by_threads, by_registers, by_shared;  // Point::threads: the quantity that varies
};

struct HtmlOptions {
  std::vector<OccupancyCurve> occupancy;
};

std::string html(const result::Result& result, const HtmlOptions& options);

}  // namespace simtlab::report
