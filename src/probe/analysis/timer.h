// The cost of reading the clock, taken out of what was timed. A timed interval is the operation plus the
// clock's own cost, both random: T = L + C. docs/concepts/probe.md has the equations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/analysis/histogram.h"

namespace simtlab::probe {

enum class Correction : std::uint8_t { slope, difference, deconvolve, subtract, none };
std::string_view name_of(Correction correction);
std::optional<Correction> correction_of(std::string_view name);

// Probabilities of whole cycles: rising, none of 0 or below.
class Distribution {
 public:
  using Mass = std::pair<std::int64_t, double>;

  Distribution() = default;
  // Any order; equal cycles are added up; normalised to 1. At least one mass above 0.
  explicit Distribution(std::vector<Mass> masses);
  explicit Distribution(const Histogram& samples);  // values rounded to cycles

  const std::vector<Mass>& masses() const { return masses_; }
  double mean() const;
  double variance() const;
  std::int64_t median() const;
  double at(std::int64_t cycles) const;
  // Half of the sum of differences is the share of probability that lies elsewhere.
  double distance(const Distribution& other) const;  // L1, 0 to 2

 private:
  std::vector<Mass> masses_;
};

Distribution sum_of(const Distribution& a, const Distribution& b);         // of independent variables
Distribution difference_of(const Distribution& a, const Distribution& b);  // a - b, of independent variables

struct Deconvolved {
  Distribution latency;
  std::uint32_t steps = 0;
  double residual = 0;  // L1 distance between what was measured and latency + clock cost
};
struct DeconvolveOptions {
  std::uint32_t most_steps = 2000;
  double enough = 1e-12;  // residual at which it stops; for samples: their own error (discrepancy principle)
};
// Richardson-Lucy on whole cycles.
Deconvolved deconvolve(const Distribution& measured, const Distribution& overhead,
                       const DeconvolveOptions& options = {});
// The residual that `samples` samples of this distribution have by chance alone.
double sampling_error(const Distribution& measured, std::uint64_t samples);

// By any method but slope, which takes chains of several lengths.
Distribution corrected(Correction correction, const Distribution& measured, const Distribution& overhead);

struct Chain {
  double operations = 0, cycles = 0, weight = 1;
};
struct Slope {
  double latency = 0;   // cycles an operation
  double overhead = 0;  // what a chain of none would take: the clock's cost
  double residual = 0;  // largest distance of a chain from the line, in cycles
  double r2 = 1;
};
// Least squares through chains of at least two lengths.
Slope slope_of(std::span<const Chain> chains);

}  // namespace simtlab::probe
