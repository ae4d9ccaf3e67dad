#include "probe/analysis/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace simtlab::probe {

Histogram::Histogram(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  for (const double value : sorted) {
    SIMTLAB_ASSERT(std::isfinite(value), "samples are finite");
    if (bins_.empty() || bins_.back().value != value) bins_.push_back({value, 0});
    ++bins_.back().count;
  }
  count_ = sorted.size();
}

void Histogram::add(double value, std::uint64_t count) {
  SIMTLAB_ASSERT(std::isfinite(value), "samples are finite");
  if (count == 0) return;
  const auto at = std::ranges::lower_bound(bins_, value, {}, &Bin::value);
  if (at != bins_.end() && at->value == value)
    at->count += count;
  else
    bins_.insert(at, {value, count});
  count_ += count;
}

double Histogram::at(std::uint64_t rank) const {
  for (const Bin& bin : bins_) {
    if (rank < bin.count) return bin.value;
    rank -= bin.count;
  }
  return bins_.back().value;
}

double Histogram::percentile(double share) const {
  SIMTLAB_ASSERT(!empty(), "a histogram has samples");
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(count_ - 1);
  const auto below = static_cast<std::uint64_t>(place);
  const double low = at(below), high = at(std::min(below + 1, count_ - 1));
  return low + (high - low) * (place - static_cast<double>(below));
}

double Histogram::mode() const {
  SIMTLAB_ASSERT(!empty(), "a histogram has samples");
  return std::ranges::max_element(bins_, {}, &Bin::count)->value;
}

double Histogram::mad() const {
  const double middle = median();
  Histogram away;
  std::vector<Bin> bins;
  for (const Bin& bin : bins_) bins.push_back({std::abs(bin.value - middle), bin.count});
  std::ranges::sort(bins, {}, &Bin::value);
  away.bins_ = std::move(bins);  // equal values side by side do no harm here
  away.count_ = count_;
  return away.median();
}

double Histogram::mean() const {
  SIMTLAB_ASSERT(!empty(), "a histogram has samples");
  double sum = 0;
  for (const Bin& bin : bins_) sum += bin.value * static_cast<double>(bin.count);
  return sum / static_cast<double>(count_);
}

double Histogram::variance() const {
  const double middle = mean();
  double sum = 0;
  for (const Bin& bin : bins_)
    sum += (bin.value - middle) * (bin.value - middle) * static_cast<double>(bin.count);
  return sum / static_cast<double>(count_);
}

std::vector<double> one_per_warp(std::span<const double> samples, std::size_t warp_size) {
  SIMTLAB_ASSERT(warp_size > 0, "a warp has threads");
  std::vector<double> out;
  for (std::size_t i = 0; i < samples.size(); i += warp_size) out.push_back(samples[i]);
  return out;
}

double weighted_median(std::span<const double> values, std::span<const double> weights) {
  SIMTLAB_ASSERT(!values.empty() && values.size() == weights.size(), "each value has its weight");
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : weights[a] < weights[b];
  });
  // Summed in the order of the values: the same whatever the order of the samples.
  double total = 0, below = 0;
  for (const std::size_t i : order) total += weights[i];
  for (std::size_t i = 0; i < order.size(); ++i) {
    below += weights[order[i]];
    if (below * 2 < total) continue;
    const bool between = below * 2 == total && i + 1 < order.size();
    return between ? (values[order[i]] + values[order[i + 1]]) / 2 : values[order[i]];
  }
  return values[order.back()];
}

double median_of(std::vector<double> values) {
  const std::vector<double> weights(values.size(), 1.0);
  return weighted_median(values, weights);
}

}  // namespace simtlab::probe
