// Confidence intervals by resampling: what the statistic would be of other samples of the same size, drawn
// with replacement from those at hand. Seeds are fixed, so equal samples have equal intervals.
#pragma once

#include <cstdint>
#include <functional>

#include "base/rng.h"
#include "probe/analysis/histogram.h"

namespace simtlab::probe {

struct Interval {
  double low = 0, high = 0;
  bool contains(double value) const { return low <= value && value <= high; }
  bool operator==(const Interval&) const = default;
};

struct BootstrapOptions {
  double confidence = 0.95;
  std::uint32_t replicates = 1000;
  std::uint64_t seed = 1;
};

using Statistic = std::function<double(const Histogram&)>;

// Percentile interval of `statistic`. Not of an empty histogram. Beyond `most_draws` samples each replicate
// has that many and the interval is narrowed by the square root of the ratio (m out of n bootstrap).
Interval bootstrap(const Histogram& samples, const Statistic& statistic,
                   const BootstrapOptions& options = {});
inline constexpr std::uint64_t most_draws = 4096;

// The interval that holds the middle `confidence` of replicates.
Interval middle_of(std::vector<double> replicates, double confidence);

}  // namespace simtlab::probe
