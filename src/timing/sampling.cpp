#include "timing/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace simtlab::timing {
namespace {

constexpr std::size_t fewest = 9;  // batches: a third warms up, six are looked at
constexpr std::size_t most = 96;   // then pairs become one

// Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom (any table of the distribution).
constexpr std::array<double, 30> student = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120,  2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double quantile(std::size_t freedom) { return freedom <= student.size() ? student[freedom - 1] : 2.042; }

}  // namespace

bool Sampler::note(std::uint64_t blocks, Cycle now) {
  const std::uint64_t last_blocks = batches_.empty() ? 0 : batches_.back().blocks;
  const Cycle last_end = batches_.empty() ? 0 : batches_.back().end;
  if (blocks - last_blocks < wave_ * thinned_ || now - last_end < span_ * thinned_) return false;
  batches_.push_back({blocks, now, {}});
  return true;
}

void Sampler::keep(result::Metrics&& metrics) {
  batches_.back().metrics = std::move(metrics);
  if (batches_.size() < most) return;
  std::vector<Batch> half;
  for (std::size_t i = 1; i < batches_.size(); i += 2) half.push_back(std::move(batches_[i]));
  batches_ = std::move(half);
  thinned_ *= 2;
}

double Sampler::pace(std::size_t batch) const {
  const Batch &from = batches_[batch - 1], &to = batches_[batch];
  return static_cast<double>(to.end - from.end) / static_cast<double>(to.blocks - from.blocks);
}

double Sampler::mean_pace(std::size_t from, std::size_t to) const {
  double sum = 0;
  for (std::size_t i = from; i < to; ++i) sum += pace(i);
  return sum / static_cast<double>(to - from);
}

double Sampler::half_width() const {
  const std::size_t from = first() + 1, n = batches_.size() - from;
  const double mean = mean_pace(from, batches_.size());
  double squares = 0;
  for (std::size_t i = from; i < batches_.size(); ++i) squares += (pace(i) - mean) * (pace(i) - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(n - 1));
  return mean > 0 ? quantile(n - 1) * deviation / std::sqrt(static_cast<double>(n)) / mean : 1;
}

bool Sampler::steady() const {
  if (batches_.size() < fewest || half_width() > target_) return false;
  const std::size_t from = first() + 1, middle = (from + batches_.size()) / 2;
  const double early = mean_pace(from, middle), late = mean_pace(middle, batches_.size());
  return std::abs(late - early) <= 2 * target_ * std::min(early, late);  // no drift
}

result::Metrics Sampler::extrapolate(const result::Metrics& simulated, std::uint64_t left_out,
                                     std::optional<std::uint64_t> instructions) const {
  const Batch &from = batches_[first()], &to = batches_.back();
  const auto stretch = [&](std::string_view name) -> std::optional<double> {
    const auto a = from.metrics.get(name), b = to.metrics.get(name);
    if (!a || !b) return std::nullopt;
    return *b - *a;
  };
  const double by_blocks = static_cast<double>(left_out) / static_cast<double>(to.blocks - from.blocks);
  const double stretch_instructions = stretch("gpu.instructions.warp").value_or(0);
  const double times = stretch_instructions > 0 && instructions
                           ? static_cast<double>(*instructions) / stretch_instructions
                           : by_blocks;
  result::Metrics out;
  for (const result::Metrics::Value& value : simulated.values()) {
    const result::MetricDeclaration& declared = *result::find_metric(value.name);
    if (declared.combine == result::Combine::sum) {
      const auto more = stretch(value.name);
      if (!more) continue;  // not known for the part left out
      const double sum = value.real + times * *more;
      value.is_integer ? out.set(value.name, static_cast<std::uint64_t>(std::llround(std::max(sum, 0.0))))
                       : out.set(value.name, sum);
      continue;
    }
    if (declared.combine != result::Combine::weighted) {
      value.is_integer ? out.set(value.name, value.integer) : out.set(value.name, value.real);
      continue;
    }
    // A ratio of the whole: of the numerators and denominators.
    const auto own = simulated.get(declared.weight), a = from.metrics.get(declared.weight),
               b = to.metrics.get(declared.weight);
    const auto ratio_a = from.metrics.get(value.name), ratio_b = to.metrics.get(value.name);
    double ratio = value.real;
    if (own && a && b && ratio_a && ratio_b) {
      const double weight = *own + times * (*b - *a);
      if (weight > 0)
        ratio = std::max(0.0, (value.real * *own + times * (*ratio_b * *b - *ratio_a * *a)) / weight);
    }
    out.set(value.name, ratio);
  }
  const double own_cycles = simulated.get("gpu.cycles").value_or(0),
               added = times * stretch("gpu.cycles").value_or(0);
  const double doubt = half_width() + std::abs(times - by_blocks) / std::max(by_blocks, 1e-9);
  out.set("gpu.cycles.error", own_cycles + added > 0 ? added * doubt / (own_cycles + added) : 0.0);
  const double blocks = simulated.get("gpu.blocks").value_or(0);
  out.set("sampling.blocks", static_cast<std::uint64_t>(blocks));
  out.set("gpu.blocks", static_cast<std::uint64_t>(blocks) + left_out);
  if (const auto waves = simulated.get("gpu.waves"); waves && blocks > 0)
    out.set("gpu.waves", *waves * (blocks + static_cast<double>(left_out)) / blocks);
  return out;
}

}  // namespace simtlab::timing
