#include "probe/analysis/sampling.h"

namespace simtlab::probe {

Histogram sample(const std::function<double()>& measure, unsigned most) {
  Histogram out;
  double last = measure();
  out.add(last);
  for (unsigned i = 1; i < most; ++i) {
    const double next = measure();
    out.add(next);
    if (next == last && i == 1) break;
    last = next;
  }
  return out;
}

Estimate estimate(const Histogram& samples) {
  const auto median = [](const Histogram& h) { return h.median(); };
  const double value = samples.median();
  if (samples.bins().size() == 1) return {value, {value, value}, samples.count(), samples};
  return {value, bootstrap(samples, median), samples.count(), samples};
}

Slope slope_of(const std::vector<Series::Point>& points) {
  std::vector<Chain> chains;
  for (const Series::Point& p : points) chains.push_back({p.x, p.y});
  return slope_of(std::span<const Chain>(chains));
}

}  // namespace simtlab::probe
