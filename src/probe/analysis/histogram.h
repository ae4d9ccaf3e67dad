// Samples of a measurement, kept as they are: value -> how often. The order of samples is not kept, so
// nothing that is computed from a histogram depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace simtlab::probe {

class Histogram {
 public:
  struct Bin {
    double value = 0;
    std::uint64_t count = 0;
    bool operator==(const Bin&) const = default;
  };

  Histogram() = default;
  // Samples are finite.
  explicit Histogram(std::span<const double> samples);
  void add(double value, std::uint64_t count = 1);

  const std::vector<Bin>& bins() const { return bins_; }  // values rising, no count of 0
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }

  // All of these: not of an empty histogram.
  double percentile(double share) const;  // share of [0, 1]; between two samples the line between them
  double median() const { return percentile(0.5); }
  double mode() const;  // the smallest of equally frequent values
  double mad() const;   // median absolute deviation from the median, not scaled
  double mean() const;
  double variance() const;  // of the samples themselves: divided by their number
  bool operator==(const Histogram&) const = default;

 private:
  double at(std::uint64_t rank) const;  // of the sorted samples, from 0
  std::vector<Bin> bins_;
  std::uint64_t count_ = 0;
};

// One sample a warp, the first of each: the lanes of a warp read the same clock, so they are one observation
// and not 32. `samples` are those of consecutive threads.
std::vector<double> one_per_warp(std::span<const double> samples, std::size_t warp_size);

// Of values with weights above 0: the smallest value that has at least half of the weight at or below it, or
// the middle between it and the next if it is exactly half. Not of none.
double weighted_median(std::span<const double> values, std::span<const double> weights);
double median_of(std::vector<double> values);

}  // namespace simtlab::probe
