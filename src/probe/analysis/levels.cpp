#include "probe/analysis/levels.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/rng.h"
#include "probe/analysis/finding.h"

namespace simtlab::probe {
namespace {

constexpr double to_deviation = 1.4826;  // of a normal distribution: standard deviation over MAD

class LevelSearch {
 public:
  LevelSearch(const Curve& curve, const LevelOptions& options) : curve_(curve), options_(options) {
    for (const CurvePoint& p : curve) {
      x_.push_back(std::log(p.bytes));
      y_.push_back(std::log(p.cycles));
      cycles_.push_back(p.cycles);
    }
  }

  Levels run() {
    out_.noise = noise();
    // Twice the noise is chance, and so is a twentieth of a step.
    tie_ = std::max(options_.least_step / 5, 2 * out_.noise);
    step_ = std::max(std::log1p(options_.least_step), 4 * out_.noise);
    segments();
    merge();
    widen();
    for (std::size_t i = 0; i < out_.plateaus.size(); ++i) describe(i);
    for (std::size_t i = 1; i < out_.plateaus.size(); ++i)
      out_.boundaries.push_back(between(out_.plateaus[i - 1], out_.plateaus[i], i));
    return std::move(out_);
  }

 private:
  // From second differences, so that neither levels nor slopes count: most neighbours are on one level or one
  // slope.
  double noise() const {
    std::vector<double> steps;
    for (std::size_t i = 2; i < y_.size(); ++i) steps.push_back(std::abs(y_[i] - 2 * y_[i - 1] + y_[i - 2]));
    return steps.empty() ? 0 : to_deviation * median_of(std::move(steps)) / std::sqrt(6.0);
  }

  double middle(std::size_t first, std::size_t last) const {
    std::vector<double> values, weights;
    for (std::size_t i = first; i <= last; ++i) values.push_back(y_[i]), weights.push_back(curve_[i].weight);
    return weighted_median(values, weights);
  }

  bool level(std::size_t first, std::size_t last) const {
    if (last + 1 - first < options_.change.least || x_[last] - x_[first] < std::log(options_.least_span))
      return false;
    const Histogram values(std::span<const double>(y_).subspan(first, last + 1 - first));
    return values.percentile(0.9) - values.percentile(0.1) <= step_;
  }

  // The part, or what is left of it without the transition at one of its ends, which may be a fifth of it.
  std::optional<Plateau> level_within(std::size_t first, std::size_t last) const {
    if (level(first, last)) return Plateau{.first = first, .last = last, .interval = {}};
    const std::size_t most = (last + 1 - first) / 5;
    for (std::size_t cut = 1; cut <= most; ++cut)
      for (const auto& [from, to] : {std::pair{first + cut, last}, std::pair{first, last - cut}})
        if (even(from, to)) return Plateau{.first = from, .last = to, .interval = {}};
    return std::nullopt;
  }
  // All of its values are within a step.
  bool even(std::size_t first, std::size_t last) const {
    if (!level(first, last)) return false;
    const auto [low, high] = std::minmax_element(y_.begin() + static_cast<std::ptrdiff_t>(first),
                                                 y_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    return *high - *low <= step_;
  }

  void segments() {
    std::vector<double> values;
    for (const double y : y_) values.push_back(std::exp(y - y_.front()));
    ChangeOptions change = options_.change;
    change.tie = tie_;
    std::size_t first = 0;
    std::vector<std::size_t> ends;
    for (const Change& c : change_points(values, change)) ends.push_back(c.at);
    ends.push_back(y_.size());
    for (const std::size_t end : ends) {
      if (const auto plateau = level_within(first, end - 1)) out_.plateaus.push_back(*plateau);
      first = end;
    }
  }

  // What differs by less than a step is one level, whatever lies between.
  void merge() {
    std::vector<Plateau> merged;
    for (const Plateau& p : out_.plateaus) {
      if (!merged.empty() &&
          std::abs(middle(p.first, p.last) - middle(merged.back().first, merged.back().last)) < step_)
        merged.back().last = p.last;
      else
        merged.push_back(p);
    }
    out_.plateaus = std::move(merged);
  }

  // Segments end somewhere in a transition; plateaus end where the curve leaves them.
  void widen() {
    const double near = std::max(step_ / 2, 3 * out_.noise);
    for (std::size_t i = 0; i < out_.plateaus.size(); ++i) {
      Plateau& p = out_.plateaus[i];
      const double here = middle(p.first, p.last);
      const auto on = [&](std::size_t at) { return std::abs(y_[at] - here) < near; };
      const std::size_t lowest = i == 0 ? 0 : out_.plateaus[i - 1].last + 1;
      const std::size_t highest =
          i + 1 < out_.plateaus.size() ? out_.plateaus[i + 1].first - 1 : y_.size() - 1;
      while (p.first < p.last && !on(p.first)) ++p.first;
      while (p.last > p.first && !on(p.last)) --p.last;
      while (p.first > lowest && on(p.first - 1)) --p.first;
      while (p.last < highest && on(p.last + 1)) ++p.last;
    }
  }

  std::vector<std::size_t> points_of(const Plateau& p) const {
    std::vector<std::size_t> out;
    const double here = middle(p.first, p.last), near = std::max(step_, 4 * out_.noise);
    for (std::size_t i = p.first; i <= p.last; ++i)
      if (std::abs(y_[i] - here) < near) out.push_back(i);
    if (!out.empty()) return out;
    // The median lies between two values that weigh the same: the nearest point stands for the level.
    out.push_back(p.first);
    for (std::size_t i = p.first; i <= p.last; ++i)
      if (std::abs(y_[i] - here) < std::abs(y_[out.front()] - here)) out.front() = i;
    return out;
  }

  // The median of points of a plateau, all of them or drawn with replacement.
  double drawn_middle(const std::vector<double>& of, const std::vector<std::size_t>& points, Rng* rng) const {
    std::vector<double> values, weights;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t at = points[rng == nullptr ? i : rng->below(points.size())];
      values.push_back(of[at]), weights.push_back(curve_[at].weight);
    }
    return weighted_median(values, weights);
  }

  void describe(std::size_t index) {
    Plateau& p = out_.plateaus[index];
    const std::vector<std::size_t> points = points_of(p);
    p.points = points.size();
    p.cycles = drawn_middle(cycles_, points, nullptr);
    Rng rng(options_.change.seed + index);
    std::vector<double> replicates, away;
    for (std::uint32_t r = 0; r < options_.replicates; ++r)
      replicates.push_back(drawn_middle(cycles_, points, &rng));
    p.interval = middle_of(std::move(replicates), options_.confidence);
    for (const std::size_t i : points) away.push_back(std::abs(curve_[i].cycles - p.cycles));
    p.mad = median_of(std::move(away));
  }

  // One level's values before, the other's behind; in between each point says which share of the change has
  // happened: of the cycles, as the mean of hits and misses has it. The edge lies where a sharp one would
  // leave the same area (sizes on a logarithmic scale). `rng`: edges anywhere between two sizes, values as
  // noisy as on the plateaus.
  double edge(const Plateau& a, const Plateau& b, double low, double high,
              const std::vector<double>& residuals, Rng* rng) const {
    double place = 0, done = 0;
    for (std::size_t i = a.last + 1; i <= b.first; ++i) {
      const double moved = rng == nullptr ? 0 : residuals[rng->below(residuals.size())];
      const double share =
          i == b.first
              ? 1
              : std::clamp((std::exp(y_[i] + moved) - std::exp(low)) / (std::exp(high) - std::exp(low)), 0.0,
                           1.0);
      const double u = rng == nullptr ? 0.5 : rng->unit();
      place += (share - done) * (x_[i - 1] + u * (x_[i] - x_[i - 1]));
      done = share;
    }
    return std::clamp(place, x_[a.last], x_[b.first]);
  }

  Boundary between(const Plateau& a, const Plateau& b, std::size_t index) const {
    const std::vector<std::size_t> left = points_of(a), right = points_of(b);
    const double low = drawn_middle(y_, left, nullptr), high = drawn_middle(y_, right, nullptr);
    std::vector<double> residuals, left_values, right_values;
    for (const std::size_t i : left) residuals.push_back(y_[i] - low), left_values.push_back(y_[i]);
    for (const std::size_t i : right) residuals.push_back(y_[i] - high), right_values.push_back(y_[i]);
    Boundary out;
    out.before = curve_[a.last].bytes, out.behind = curve_[b.first].bytes;
    out.rises = high > low;
    out.bytes = std::exp(edge(a, b, low, high, residuals, nullptr));
    out.p = rank_sum_p(left_values, right_values, 999, options_.change.seed + index);
    Rng rng(options_.change.seed + 1000 + index);
    std::vector<double> replicates;
    for (std::uint32_t r = 0; r < options_.replicates; ++r) {
      const double l = drawn_middle(y_, left, &rng), h = drawn_middle(y_, right, &rng);
      replicates.push_back(
          std::exp(h == l ? edge(a, b, low, high, residuals, &rng) : edge(a, b, l, h, residuals, &rng)));
    }
    out.interval = middle_of(std::move(replicates), options_.confidence);
    return out;
  }

  const Curve& curve_;
  const LevelOptions& options_;
  std::vector<double> x_, y_, cycles_;  // logarithms of sizes and values; the values
  double tie_ = 0, step_ = 0;
  Levels out_;
};

}  // namespace

Levels find_levels(const Curve& curve, const LevelOptions& options) {
  SIMTLAB_ASSERT(!curve.empty(), "a curve has points");
  return LevelSearch(curve, options).run();
}

void mark_levels(Series& series) {
  Curve curve;
  for (const Series::Point& p : series.points) curve.push_back({p.x, p.y, 1});
  if (curve.size() < least_points) return;
  const LevelOptions options;
  const Levels found = find_levels(curve, options);
  for (std::size_t i = 0; i < found.plateaus.size(); ++i) {
    const Plateau& p = found.plateaus[i];
    series.levels.push_back({curve[p.first].bytes,
                             curve[p.last].bytes,
                             p.cycles,
                             p.interval.low,
                             p.interval.high,
                             options.confidence,
                             p.points,
                             {}});
    if (i > 0) series.levels.back().p = found.boundaries[i - 1].p;
  }
  for (const Boundary& b : found.boundaries)
    series.knees.push_back({b.bytes, b.interval.low, b.interval.high, b.rises ? "rises" : "falls"});
}

const Boundary* boundary_at(const Levels& levels, double bytes, double tolerance) {
  const Boundary* best = nullptr;
  double nearest = 0;
  for (const Boundary& b : levels.boundaries) {
    const double away = std::abs(std::log(b.bytes / bytes));
    const bool holds = (b.before <= bytes && bytes <= b.behind) || b.interval.contains(bytes);
    if (!holds && away > std::log1p(tolerance)) continue;
    if (best == nullptr || away < nearest) best = &b, nearest = away;
  }
  return best;
}

}  // namespace simtlab::probe
