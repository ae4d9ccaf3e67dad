#include "probe/analysis/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace simtlab::probe {
namespace {

constexpr std::size_t most_bins = 1024;  // of the partition that begins the fit
constexpr int most_rounds = 500;
constexpr double narrowest = 0.25;  // cycles: a level whose samples are all equal still has a width

using Bin = Histogram::Bin;

std::vector<Bin> thinned(const std::vector<Bin>& bins, std::uint64_t count) {
  if (bins.size() <= most_bins) return bins;
  std::vector<Bin> out;
  std::uint64_t below = 0, place = most_bins;  // no place yet
  for (const Bin& bin : bins) {
    const std::uint64_t now = below * most_bins / count;
    below += bin.count;
    if (now != place) out.push_back({bin.value, 0}), place = now;
    out.back().count += bin.count;
  }
  return out;
}

// First bin of each part of the partition of the bins into `parts` with the least weighted sum of squares:
// exact, by dynamic programming.
std::vector<std::size_t> partition(const std::vector<Bin>& bins, std::size_t parts) {
  const std::size_t n = bins.size();
  std::vector<double> w(n + 1), s(n + 1), q(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double c = static_cast<double>(bins[i].count), v = bins[i].value - bins[0].value;
    w[i + 1] = w[i] + c, s[i + 1] = s[i] + c * v, q[i + 1] = q[i] + c * v * v;
  }
  const auto cost = [&](std::size_t a, std::size_t b) {
    return q[b] - q[a] - (s[b] - s[a]) * (s[b] - s[a]) / (w[b] - w[a]);
  };
  std::vector<double> best(n + 1);
  for (std::size_t b = 1; b <= n; ++b) best[b] = cost(0, b);
  std::vector<std::vector<std::size_t>> from(parts, std::vector<std::size_t>(n + 1));
  for (std::size_t k = 1; k < parts; ++k) {
    std::vector<double> next(n + 1, std::numeric_limits<double>::infinity());
    for (std::size_t b = k + 1; b <= n; ++b)
      for (std::size_t a = k; a < b; ++a)
        if (const double total = best[a] + cost(a, b); total < next[b]) next[b] = total, from[k][b] = a;
    best = std::move(next);
  }
  std::vector<std::size_t> firsts(parts);
  for (std::size_t k = parts, end = n; k-- > 1;) firsts[k] = end = from[k][end];
  return firsts;
}

struct Normal {
  double share = 0, mean = 0, deviation = narrowest;
  double log_density(double v) const {
    const double z = (v - mean) / deviation;
    return std::log(std::max(share, 1e-300)) - std::log(deviation) - z * z / 2;
  }
};

// Of each normal distribution, the probability that a value is of it.
void posterior(const std::vector<Normal>& normals, double v, std::vector<double>& out) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t k = 0; k < normals.size(); ++k) most = std::max(most, out[k] = normals[k].log_density(v));
  for (double& p : out) sum += p = std::exp(p - most);
  for (double& p : out) p /= sum;
}

Normal fitted(const std::vector<Bin>& bins, const auto& weight) {
  double w = 0, mean = 0, variance = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) w += weight(i), mean += weight(i) * bins[i].value;
  if (!(w > 0)) return {};
  mean /= w;
  for (std::size_t i = 0; i < bins.size(); ++i)
    variance += weight(i) * (bins[i].value - mean) * (bins[i].value - mean);
  return {w, mean, std::max(narrowest, std::sqrt(variance / w))};
}

std::vector<Normal> fit(const std::vector<Bin>& bins, const std::vector<std::size_t>& firsts, double count) {
  const std::size_t levels = firsts.size();
  std::vector<std::vector<double>> belongs(levels, std::vector<double>(bins.size()));
  for (std::size_t k = 0; k < levels; ++k)
    for (std::size_t i = firsts[k]; i < (k + 1 < levels ? firsts[k + 1] : bins.size()); ++i)
      belongs[k][i] = 1;
  std::vector<Normal> normals(levels);
  std::vector<double> p(levels);
  for (int round = 0; round < most_rounds; ++round) {
    double moved = 0;
    for (std::size_t k = 0; k < levels; ++k) {
      Normal next =
          fitted(bins, [&](std::size_t i) { return belongs[k][i] * static_cast<double>(bins[i].count); });
      next.share /= count;
      moved = std::max(
          moved, std::abs(next.mean - normals[k].mean) + std::abs(next.deviation - normals[k].deviation));
      normals[k] = next;
    }
    if (moved < 1e-6) break;
    for (std::size_t i = 0; i < bins.size(); ++i) {
      posterior(normals, bins[i].value, p);
      for (std::size_t k = 0; k < levels; ++k) belongs[k][i] = p[k];
    }
  }
  return normals;
}

// Samples from bin `first` up to before `end`, described.
MixtureLevel described(const std::vector<Bin>& bins, std::size_t first, std::size_t end,
                       std::uint64_t count) {
  Histogram own;
  for (std::size_t i = first; i < end; ++i) own.add(bins[i].value, bins[i].count);
  MixtureLevel level;
  level.share = static_cast<double>(own.count()) / static_cast<double>(count);
  level.upper = bins[end - 1].value;
  level.centre = own.median(), level.mean = own.mean(), level.deviation = std::sqrt(own.variance());
  return level;
}

}  // namespace

Mixture split_levels(const Histogram& samples, std::size_t levels) {
  SIMTLAB_ASSERT(!samples.empty() && levels > 0, "samples of at least one level");
  const std::vector<Bin>& bins = samples.bins();
  const std::vector<Bin> coarse = thinned(bins, samples.count());
  levels = std::min(levels, coarse.size());
  std::vector<Normal> normals = fit(coarse, partition(coarse, levels), static_cast<double>(samples.count()));
  std::ranges::sort(normals, {}, &Normal::mean);
  // Between two means, a value belongs to the likelier side. Beyond all means a wide level would reach over a
  // narrow one: levels are ordered, so it does not.
  std::vector<std::size_t> ends;
  std::vector<double> p(levels);
  Mixture out;
  for (std::size_t k = 0, i = 0; k < levels; ++k) {
    for (; i < bins.size() && (k + 1 == levels || bins[i].value < normals[k + 1].mean); ++i)
      if (k + 1 < levels && bins[i].value > normals[k].mean &&
          normals[k + 1].log_density(bins[i].value) > normals[k].log_density(bins[i].value))
        break;
    ends.push_back(i);
  }
  for (std::size_t k = 0, first = 0; k < levels; first = ends[k++]) {
    if (first == ends[k]) continue;
    MixtureLevel level = described(bins, first, ends[k], samples.count());
    level.mean = normals[k].mean, level.deviation = normals[k].deviation;
    out.levels.push_back(level);
    for (std::size_t i = first; i < ends[k]; ++i) {
      posterior(normals, bins[i].value, p);
      out.doubtful += (1 - p[k]) * static_cast<double>(bins[i].count) / static_cast<double>(samples.count());
    }
  }
  return out;
}

Mixture split_levels(const Histogram& samples, std::span<const double> shares) {
  SIMTLAB_ASSERT(!samples.empty(), "a histogram has samples");
  double total = 0;
  for (const double share : shares) total += share;
  SIMTLAB_ASSERT(total > 0, "counters have counted something");
  const std::vector<Bin>& bins = samples.bins();
  const auto count = static_cast<double>(samples.count());
  Mixture out;
  double wanted = 0, taken = 0;
  std::size_t first = 0;
  for (std::size_t k = 0; k < shares.size() && first < bins.size(); ++k) {
    wanted += shares[k] / total * count;
    std::size_t end = first;
    // A bin goes to the side on which more of it belongs.
    while (end < bins.size() &&
           (k + 1 == shares.size() || taken + static_cast<double>(bins[end].count) / 2 <= wanted))
      taken += static_cast<double>(bins[end++].count);
    if (end == first) continue;
    // Equal samples on both sides of the share
    out.doubtful += k + 1 < shares.size() ? std::abs(taken - wanted) / count : 0;
    out.levels.push_back(described(bins, first, end, samples.count()));
    first = end;
  }
  return out;
}

}  // namespace simtlab::probe
