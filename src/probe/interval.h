// One interval around a single operation, many times, and as many around none: what every correction of the
// clock's cost but the slope begins with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probe/analysis/sampling.h"
#include "probe/bench.h"

namespace simtlab::probe {

// What was timed with something between two readings of the clock, and with nothing.
struct Singles {
  Histogram timed, empty;
  double operations = 1;  // in one interval
  double less = 0;        // cycles of an operation that belong to something else, known by itself
};

// What the correction leaves of the intervals, not divided. Not by the slope.
Distribution left_of(Correction correction, const Singles& singles);
// "less the median of the clock's cost"
const char* way_of(Correction correction);
// The mean of what the correction leaves of the intervals, an operation. Throws Error(bad_input) where
// deconvolution is refused.
Estimate corrected_estimate(Correction correction, const Singles& singles);

// Reports a latency under these keys. By the slope: as it was found. By another correction: what that makes
// of single intervals, and beside it slope.KEY and, of the interval around nothing, cost.KEY.
struct TimedLatency {
  std::vector<std::string> keys;
  Estimate slope;
  std::string method;  // of the slope
  std::string what;    // "a read of one thread"
  std::string curve = {};
  bool repeated = true;  // the slope was
};
void report_latency(Bench& bench, const TimedLatency& latency, const std::function<Singles()>& measure);

}  // namespace simtlab::probe
