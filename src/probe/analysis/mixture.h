// Samples of several levels in one histogram (hits and misses of one load), taken apart.
#pragma once

#include <span>
#include <vector>

#include "probe/analysis/histogram.h"

namespace simtlab::probe {

struct MixtureLevel {
  double share = 0;                // of the samples
  double centre = 0;               // median of the samples that belong to it
  double mean = 0, deviation = 0;  // of the fitted normal distribution, or of its samples
  double upper = 0;                // the largest sample that belongs to it
};

struct Mixture {
  std::vector<MixtureLevel> levels;  // rising; fewer than asked for if there are fewer distinct values
  // Share of samples that are expected to be on the wrong side of a boundary
  double doubtful = 0;
};

// `levels` normal distributions by expectation and maximisation, begun from the partition with the least sum
// of squares. Not of an empty histogram.
Mixture split_levels(const Histogram& samples, std::size_t levels);

// The same where counters say which share of the accesses each level served (hits, hits of the next level,
// ...): boundaries lie where these shares do. Shares are not negative and their sum is above 0; nearer levels
// come first.
Mixture split_levels(const Histogram& samples, std::span<const double> shares);

}  // namespace simtlab::probe
