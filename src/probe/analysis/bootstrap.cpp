#include "probe/analysis/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace simtlab::probe {

Interval middle_of(std::vector<double> replicates, double confidence) {
  const Histogram all(replicates);
  return {all.percentile((1 - confidence) / 2), all.percentile((1 + confidence) / 2)};
}

Interval bootstrap(const Histogram& samples, const Statistic& statistic, const BootstrapOptions& options) {
  SIMTLAB_ASSERT(!samples.empty(), "a histogram has samples");
  const std::vector<Histogram::Bin>& bins = samples.bins();
  std::vector<std::uint64_t> ends;  // samples up to and with each bin
  for (const Histogram::Bin& bin : bins) ends.push_back((ends.empty() ? 0 : ends.back()) + bin.count);
  const std::uint64_t draws = std::min(samples.count(), most_draws);
  Rng rng(options.seed);
  std::vector<double> replicates;
  std::vector<std::uint64_t> counts(bins.size());
  for (std::uint32_t r = 0; r < options.replicates; ++r) {
    std::ranges::fill(counts, 0);
    for (std::uint64_t i = 0; i < draws; ++i)
      ++counts[static_cast<std::size_t>(std::ranges::upper_bound(ends, rng.below(samples.count())) -
                                        ends.begin())];
    Histogram replicate;
    for (std::size_t b = 0; b < bins.size(); ++b) replicate.add(bins[b].value, counts[b]);
    replicates.push_back(statistic(replicate));
  }
  Interval interval = middle_of(std::move(replicates), options.confidence);
  if (draws < samples.count()) {
    const double here = statistic(samples),
                 narrower = std::sqrt(static_cast<double>(draws) / static_cast<double>(samples.count()));
    interval = {here + (interval.low - here) * narrower, here + (interval.high - here) * narrower};
  }
  return interval;
}

}  // namespace simtlab::probe
