#include "studies/validate/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace simtlab::studies::validate {
namespace {

constexpr std::array levels = {Level::l1, Level::l2, Level::l2_upper, Level::dram};

double l1_bytes(const device::Device& d) { return d.l1_caches_global ? static_cast<double>(d.l1.bytes) : 0; }

// Sizes near the capacities decide the knees.
bool near_capacity(const device::Device& d, double bytes) {
  const double l2 = static_cast<double>(d.l2.bytes);
  for (const double capacity : {l1_bytes(d), l2 / 2, l2})
    if (bytes > 0.7 * capacity && bytes < 1.4 * capacity) return true;
  return false;
}

// Sizes near the capacity of L2 take long: every second one. quick: of them every third, of each plateau its
// first and last size, and those near the capacity of L1.
std::vector<Point> chosen(const device::Device& d, const std::vector<Point>& all, bool quick) {
  std::vector<Point> out;
  std::size_t since = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Level level = level_of(d, all[i].bytes);
    const bool edge = i == 0 || i + 1 == all.size() || level_of(d, all[i - 1].bytes) != level ||
                      level_of(d, all[i + 1].bytes) != level;
    ++since;
    const bool plateau_edge = edge && level != Level::between, near = near_capacity(d, all[i].bytes),
               small = all[i].bytes < 2 * l1_bytes(d);
    const bool wanted = plateau_edge || (near ? small || since >= (quick ? 3u : 2u) : !quick);
    if (!wanted) continue;
    out.push_back(all[i]);
    since = 0;
  }
  return out;
}

std::vector<double> values_at(const Comparison& c, Level level, double Compared::*value) {
  std::vector<double> out;
  for (const Compared& p : c.points)
    if (p.level == level) out.push_back(p.*value);
  return out;
}

void add_plateau(Comparison& c, Level level) {
  const std::vector<double> measured = values_at(c, level, &Compared::measured);
  if (measured.empty()) return;
  std::vector<double> errors;
  for (const Compared& p : c.points)
    if (p.level == level) errors.push_back(std::abs(p.error()));
  c.plateaus.push_back({level, measured.size(), median(measured),
                        median(values_at(c, level, &Compared::simulated)), median(errors),
                        *std::ranges::max_element(errors)});
}

// First crossing of the middle between two plateaus, by straight lines over the logarithm of the size.
std::optional<double> crossing(const Comparison& c, double Compared::*value, double low, double high) {
  const double middle = (low + high) / 2;
  const bool rising = high > low;
  for (std::size_t i = 1; i < c.points.size(); ++i) {
    const double a = c.points[i - 1].*value, b = c.points[i].*value;
    if (rising ? !(a < middle && b >= middle) : !(a > middle && b <= middle)) continue;
    const double share = (middle - a) / (b - a);
    return c.points[i - 1].bytes * std::pow(c.points[i].bytes / c.points[i - 1].bytes, share);
  }
  return std::nullopt;
}

void add_knee(Comparison& c, Level level, Level next) {
  const auto of = [&](Level l) { return std::ranges::find(c.plateaus, l, &Plateau::level); };
  const auto low = of(level), high = of(next);
  if (low == c.plateaus.end() || high == c.plateaus.end()) return;
  const auto measured = crossing(c, &Compared::measured, low->measured, high->measured);
  const auto simulated = crossing(c, &Compared::simulated, low->simulated, high->simulated);
  if (measured && simulated) c.knees.push_back({level, *measured, *simulated});
}

}  // namespace

std::string_view name_of(Level level) {
  static constexpr std::array<std::string_view, 5> names = {"L1", "L2", "L2, upper half", "DRAM", "between"};
  return names[static_cast<std::size_t>(level)];
}

Level level_of(const device::Device& device, double bytes) {
  const double l1 = l1_bytes(device), l2 = static_cast<double>(device.l2.bytes);
  if (bytes <= 0.6 * l1) return Level::l1;
  if (bytes < std::max(1.9 * l1, 1.0)) return Level::between;
  if (bytes <= 0.42 * l2) return Level::l2;
  if (bytes >= 0.56 * l2 && bytes <= 0.9 * l2) return Level::l2_upper;
  return bytes >= 1.7 * l2 ? Level::dram : Level::between;
}

double median(std::vector<double> values) {
  SIMTLAB_ASSERT(!values.empty(), "a median is that of something");
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void compare(Comparison& comparison, const device::Device& device, const Curve& curve, bool quick,
             const std::function<double(std::uint64_t)>& simulate) {
  comparison.board = curve.board;
  for (const Point& point : chosen(device, curve.points, quick))
    comparison.points.push_back({point.bytes, level_of(device, point.bytes), point.value,
                                 simulate(static_cast<std::uint64_t>(point.bytes))});
  for (const Level level : levels) add_plateau(comparison, level);
  add_knee(comparison, Level::l1, Level::l2);
  add_knee(comparison, Level::l2, Level::dram);
}

std::vector<std::string> missed(const Comparison& c) {
  std::vector<std::string> out;
  const std::string where = fmt::format("{}, {}", c.device, c.name);
  for (const Plateau& p : c.plateaus) {
    if (p.median_error > target_median)
      out.push_back(fmt::format("{}, {}: median error {:.1f} % above {:.0f} %", where, name_of(p.level),
                                100 * p.median_error, 100 * target_median));
    if (p.worst_error > target_worst)
      out.push_back(fmt::format("{}, {}: worst error {:.1f} % above {:.0f} %", where, name_of(p.level),
                                100 * p.worst_error, 100 * target_worst));
  }
  for (const Knee& k : c.knees)
    if (std::abs(k.error()) > target_knee)
      out.push_back(fmt::format("{}, end of {}: error {:.1f} % above {:.0f} %", where, name_of(k.level),
                                100 * std::abs(k.error()), 100 * target_knee));
  return out;
}

}  // namespace simtlab::studies::validate
