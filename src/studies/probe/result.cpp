#include "studies/probe/result.h"

#include <fmt/format.h>

namespace simtlab::studies {

std::string footprint_text(double bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) bytes /= 1024, ++unit;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

void set_edge(result::Metrics& metrics, const probe::Boundary& edge) {
  metrics.set("probe.edge.size", edge.bytes);
  metrics.set("probe.edge.low", edge.interval.low);
  metrics.set("probe.edge.high", edge.interval.high);
  metrics.set("probe.edge.behind", edge.behind);
  metrics.set("probe.edge.p", edge.p);
}

namespace {

// For a picture: of very long curves every nth point.
constexpr std::size_t most_curve_rows = 5000;

result::Table points_of(const probe::Curve& curve) {
  result::Table out{"curves", {}};
  const std::size_t every = (curve.size() + most_curve_rows - 1) / most_curve_rows;
  for (std::size_t i = 0; i < curve.size(); i += every)
    out.rows.push_back({"curve", "bytes", "cycles", curve[i].bytes, curve[i].cycles});
  return out;
}

}  // namespace

result::Result result_of(const probe::Curve& curve, const probe::Levels& levels) {
  result::Result out;
  for (std::size_t i = 0; i < levels.plateaus.size(); ++i) {
    const probe::Plateau& p = levels.plateaus[i];
    result::KernelResult& k = out.kernels.emplace_back();
    k.name = k.demangled = fmt::format("level {}", i + 1);
    k.metrics.set("probe.level.latency", p.cycles);
    k.metrics.set("probe.level.latency.low", p.interval.low);
    k.metrics.set("probe.level.latency.high", p.interval.high);
    k.metrics.set("probe.level.mad", p.mad);
    k.metrics.set("probe.level.first", curve[p.first].bytes);
    k.metrics.set("probe.level.last", curve[p.last].bytes);
    k.metrics.set("probe.points", static_cast<std::uint64_t>(p.points));
    if (i < levels.boundaries.size()) set_edge(k.metrics, levels.boundaries[i]);
  }
  if (!out.kernels.empty()) out.kernels.front().tables.push_back(points_of(curve));
  out.total.set("probe.points", static_cast<std::uint64_t>(curve.size()));
  out.total.set("probe.noise", levels.noise);
  out.total.set("probe.levels", static_cast<std::uint64_t>(levels.plateaus.size()));
  return out;
}

std::string text_of(const std::string& name, const probe::Curve& curve, const probe::Levels& levels,
                    const probe::LevelOptions& options) {
  const double percent = options.confidence * 100;
  std::string out = fmt::format("{}: {} sizes from {} to {}, noise {:.2g} %\n\n", name, curve.size(),
                                footprint_text(curve.front().bytes), footprint_text(curve.back().bytes),
                                levels.noise * 100);
  if (levels.plateaus.empty())
    return out +
           fmt::format("No level: the curve is nowhere level to within {:.0f} % over at least {} sizes.\n",
                       options.least_step * 100, options.change.least);
  out += fmt::format(
      "| level | latency, {:.0f} % interval | points | from | to | ends at, {:.0f} % interval | transition | "
      "p |\n|---|---|---|---|---|---|---|---|\n",
      percent, percent);
  for (std::size_t i = 0; i < levels.plateaus.size(); ++i) {
    const probe::Plateau& p = levels.plateaus[i];
    out += fmt::format("| {} | {:.1f} cycles, {:.1f} to {:.1f} | {} | {} | {} |", i + 1, p.cycles,
                       p.interval.low, p.interval.high, p.points, footprint_text(curve[p.first].bytes),
                       footprint_text(curve[p.last].bytes));
    if (i == levels.boundaries.size()) {
      out += " - | - | - |\n";
      continue;
    }
    const probe::Boundary& b = levels.boundaries[i];
    out += fmt::format(" {}, {} to {}{} | {} to {} | {:.3g} |\n", footprint_text(b.bytes),
                       footprint_text(b.interval.low), footprint_text(b.interval.high),
                       b.rises ? "" : " (falls)", footprint_text(b.before), footprint_text(b.behind), b.p);
  }
  if (levels.plateaus.size() == 1)
    out +=
        "\nNo edge: the curve has one level, or its levels can't be told from chance. More sizes on each "
        "side of an edge help.\n";
  return out;
}

}  // namespace simtlab::studies
