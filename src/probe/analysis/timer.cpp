#include "probe/analysis/timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace simtlab::probe {
namespace {

// Cycles between the shortest and the longest interval of a deconvolution
constexpr std::int64_t widest_grid = 1 << 20;
constexpr std::array<std::string_view, 5> correction_names = {"slope", "difference", "deconvolve", "subtract",
                                                              "none"};

// Probabilities as an array from `first` on.
struct Grid {
  std::int64_t first = 0;
  std::vector<double> p;

  explicit Grid(const Distribution& d) : first(d.masses().front().first) {
    p.resize(static_cast<std::size_t>(d.masses().back().first - first) + 1);
    for (const auto& [cycles, mass] : d.masses()) p[static_cast<std::size_t>(cycles - first)] = mass;
  }
};

// One step of Richardson-Lucy: x_j <- x_j sum_i y_(i-j) z_i / (x*y)_i. Returns the residual before the step.
double step(std::vector<double>& x, const Distribution& overhead, std::int64_t overhead_first,
            const std::vector<double>& z) {
  std::vector<double> made(z.size());
  for (std::size_t j = 0; j < x.size(); ++j)
    for (const auto& [cycles, mass] : overhead.masses())
      made[j + static_cast<std::size_t>(cycles - overhead_first)] += x[j] * mass;
  double residual = 0;
  std::vector<double> ratio(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    residual += std::abs(z[i] - made[i]);
    ratio[i] = made[i] > 0 ? z[i] / made[i] : 0;
  }
  for (std::size_t j = 0; j < x.size(); ++j) {
    double factor = 0;
    for (const auto& [cycles, mass] : overhead.masses())
      factor += mass * ratio[j + static_cast<std::size_t>(cycles - overhead_first)];
    x[j] *= factor;
  }
  return residual;
}

Distribution combined(const Distribution& a, const Distribution& b, int sign) {
  std::vector<Distribution::Mass> masses;
  for (const auto& [ca, pa] : a.masses())
    for (const auto& [cb, pb] : b.masses()) masses.emplace_back(ca + sign * cb, pa * pb);
  return Distribution(std::move(masses));
}

Distribution shifted(const Distribution& d, std::int64_t by) {
  std::vector<Distribution::Mass> masses = d.masses();
  for (auto& mass : masses) mass.first += by;
  return Distribution(std::move(masses));
}

}  // namespace

std::string_view name_of(Correction correction) {
  return correction_names[static_cast<std::size_t>(correction)];
}

std::optional<Correction> correction_of(std::string_view name) {
  const auto found = std::ranges::find(correction_names, name);
  if (found == correction_names.end()) return std::nullopt;
  return static_cast<Correction>(found - correction_names.begin());
}

Distribution::Distribution(std::vector<Mass> masses) {
  std::ranges::sort(masses);
  double total = 0;
  for (const auto& [cycles, mass] : masses) {
    SIMTLAB_ASSERT(mass >= 0, "a probability is not negative");
    if (mass == 0) continue;
    total += mass;
    if (!masses_.empty() && masses_.back().first == cycles)
      masses_.back().second += mass;
    else
      masses_.emplace_back(cycles, mass);
  }
  SIMTLAB_ASSERT(total > 0, "a distribution has something in it");
  for (auto& mass : masses_) mass.second /= total;
}

Distribution::Distribution(const Histogram& samples) {
  std::vector<Mass> masses;
  for (const Histogram::Bin& bin : samples.bins())
    masses.emplace_back(std::llround(bin.value), static_cast<double>(bin.count));
  *this = Distribution(std::move(masses));
}

double Distribution::mean() const {
  double sum = 0;
  for (const auto& [cycles, mass] : masses_) sum += static_cast<double>(cycles) * mass;
  return sum;
}

double Distribution::variance() const {
  const double middle = mean();
  double sum = 0;
  for (const auto& [cycles, mass] : masses_)
    sum += (static_cast<double>(cycles) - middle) * (static_cast<double>(cycles) - middle) * mass;
  return sum;
}

std::int64_t Distribution::median() const {
  double below = 0;
  for (const auto& [cycles, mass] : masses_) {
    below += mass;
    if (below >= 0.5 - 1e-12) return cycles;
  }
  return masses_.back().first;
}

double Distribution::at(std::int64_t cycles) const {
  const auto found = std::ranges::lower_bound(masses_, cycles, {}, &Mass::first);
  return found != masses_.end() && found->first == cycles ? found->second : 0;
}

double Distribution::distance(const Distribution& other) const {
  double sum = 0;
  for (const auto& [cycles, mass] : masses_) sum += std::abs(mass - other.at(cycles));
  for (const auto& [cycles, mass] : other.masses_)
    if (at(cycles) == 0) sum += mass;
  return sum;
}

Distribution sum_of(const Distribution& a, const Distribution& b) { return combined(a, b, 1); }
Distribution difference_of(const Distribution& a, const Distribution& b) { return combined(a, b, -1); }

Deconvolved deconvolve(const Distribution& measured, const Distribution& overhead,
                       const DeconvolveOptions& options) {
  const auto spread = [](const Distribution& d) {
    return d.masses().back().first - d.masses().front().first;
  };
  if (const std::int64_t widest = std::max(spread(measured), spread(overhead)); widest >= widest_grid)
    throw Error(
        ExitCode::bad_input, "timer-range",
        fmt::format("timed intervals are up to {} cycles apart, the limit is {}", widest, widest_grid),
        "leave out the outliers, or take the slope");
  Grid z(measured);
  const std::int64_t first = overhead.masses().front().first, last = overhead.masses().back().first;
  const std::size_t width = static_cast<std::size_t>(last - first) + 1;
  // Intervals shorter than the clock's own spread: latencies may only begin where the shortest is, so the
  // grid grows.
  if (z.p.size() < width) z.p.resize(width);
  std::vector<double> x(z.p.size() - width + 1, 1.0 / static_cast<double>(z.p.size() - width + 1));
  Deconvolved out;
  while (out.steps < options.most_steps) {
    out.residual = step(x, overhead, first, z.p);
    ++out.steps;
    if (out.residual <= options.enough) break;
  }
  std::vector<Distribution::Mass> masses;
  double total = 0;
  for (const double mass : x) total += mass;
  for (std::size_t j = 0; j < x.size(); ++j)
    if (x[j] > 0) masses.emplace_back(z.first - first + static_cast<std::int64_t>(j), x[j]);
  // Nothing of what was measured can be a latency plus this overhead.
  if (!(total > 0)) masses.assign(1, {measured.median() - overhead.median(), 1.0});
  out.latency = Distribution(std::move(masses));
  out.residual = measured.distance(sum_of(out.latency, overhead));
  return out;
}

double sampling_error(const Distribution& measured, std::uint64_t samples) {
  // The mean absolute deviation of a binomial share is about sqrt(2/pi) of its standard deviation.
  double sum = 0;
  for (const auto& [cycles, mass] : measured.masses())
    sum += std::sqrt(mass * (1 - mass) / static_cast<double>(std::max<std::uint64_t>(samples, 1)));
  return 0.7978845608028654 * sum;
}

Distribution corrected(Correction correction, const Distribution& measured, const Distribution& overhead) {
  switch (correction) {
    case Correction::difference: return difference_of(measured, overhead);
    case Correction::deconvolve: return deconvolve(measured, overhead).latency;
    case Correction::subtract: return shifted(measured, -overhead.median());
    case Correction::none: return measured;
    case Correction::slope: break;
  }
  SIMTLAB_ASSERT(false, "a slope needs chains of several lengths");
}

Slope slope_of(std::span<const Chain> chains) {
  double w = 0, x = 0, y = 0;
  for (const Chain& c : chains) w += c.weight, x += c.weight * c.operations, y += c.weight * c.cycles;
  SIMTLAB_ASSERT(w > 0, "there are chains");
  x /= w, y /= w;
  double xx = 0, xy = 0, yy = 0;
  for (const Chain& c : chains) {
    xx += c.weight * (c.operations - x) * (c.operations - x);
    xy += c.weight * (c.operations - x) * (c.cycles - y);
    yy += c.weight * (c.cycles - y) * (c.cycles - y);
  }
  SIMTLAB_ASSERT(xx > 0, "chains have at least two lengths");
  Slope s;
  s.latency = xy / xx;
  s.overhead = y - s.latency * x;
  for (const Chain& c : chains)
    s.residual = std::max(s.residual, std::abs(c.cycles - s.overhead - s.latency * c.operations));
  s.r2 = yy > 0 ? xy * xy / (xx * yy) : 1;
  return s;
}

}  // namespace simtlab::probe
