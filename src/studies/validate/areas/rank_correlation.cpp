#include "studies/validate/areas/rank_correlation.h"

#include <algorithm>
#include <cmath>

namespace simtlab::studies {
namespace {

// Ranks with the mean of ties.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> out(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) out[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return out;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxy = 0, sxx = 0, syy = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sx += x[i], sy += y[i], sxy += x[i] * y[i], sxx += x[i] * x[i], syy += y[i] * y[i];
  const double below = std::sqrt((sxx - sx * sx / n) * (syy - sy * sy / n));
  return below > 0 ? (sxy - sx * sy / n) / below : 0;
}

}  // namespace

double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  return correlation(ranks(x), ranks(y));
}

}  // namespace simtlab::studies
