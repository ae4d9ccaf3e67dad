// How often a measurement is repeated, and what its samples say.
#pragma once

#include <functional>

#include "probe/analysis/bootstrap.h"
#include "probe/analysis/finding.h"
#include "probe/analysis/histogram.h"
#include "probe/analysis/timer.h"

namespace simtlab::probe {

// Repeats until two samples in a row are equal (a board without noise), `most` times otherwise.
Histogram sample(const std::function<double()>& measure, unsigned most = 9);

struct Estimate {
  double value = 0;   // median
  Interval interval;  // 95 % of the median
  std::uint64_t samples = 0;
  Histogram histogram = {};  // what they were
};
Estimate estimate(const Histogram& samples);

// Least squares through the points of a curve, of at least two different x: y by x as cycles by operations.
Slope slope_of(const std::vector<Series::Point>& points);

}  // namespace simtlab::probe
