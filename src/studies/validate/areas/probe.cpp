// simtlab validate probe: the detector of levels on published curves, and the clock's cost on cases whose
// answer is exact.
#include "studies/validate/areas/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "device/catalogue.h"
#include "probe/analysis/levels.h"
#include "probe/analysis/timer.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/probe/result.h"
#include "studies/validate/reference.h"

namespace simtlab::studies {
namespace {

using probe::Correction;
using probe::Distribution;

// Of distributions that should be equal, after 2000 steps of a deconvolution
constexpr double most_distance = 1e-6;

probe::Curve curve_of(std::initializer_list<const studies::validate::Table*> tables,
                      const std::string& board) {
  probe::Curve curve;
  for (const studies::validate::Table* table : tables)
    for (std::size_t i = 0; i < table->size(); ++i)
      if (table->text(i, "board") == board)
        curve.push_back({table->number(i, "kib") * 1024, table->number(i, "cycles"), 1});
  std::ranges::sort(curve, {}, &probe::CurvePoint::bytes);
  return curve;
}

struct TimerCase {
  std::string name;
  Distribution latency, overhead, measured, difference;
};

std::vector<TimerCase> timer_cases(const studies::validate::Table& table) {
  std::vector<TimerCase> out;
  const auto distribution = [&](const std::string& name, const char* which) {
    std::vector<Distribution::Mass> masses;
    for (std::size_t i = 0; i < table.size(); ++i)
      if (table.text(i, "case") == name && table.text(i, "distribution") == which)
        masses.emplace_back(std::llround(table.number(i, "cycles")),
                            table.number(i, "numerator") / table.number(i, "denominator"));
    return Distribution(std::move(masses));
  };
  for (const std::string& name : studies::validate::devices_of(table, "case"))
    out.push_back({name, distribution(name, "latency"), distribution(name, "overhead"),
                   distribution(name, "measured"), distribution(name, "difference")});
  return out;
}

class ProbeReport {
 public:
  void run() {
    sizes();
    timer();
    result_.total.set("validate.targets.missed", static_cast<std::uint64_t>(misses_.size()));
  }

  std::string text() const { return text_; }
  const result::Result& result() const { return result_; }
  const std::vector<std::string>& misses() const { return misses_; }
  const std::vector<studies::validate::Row>& rows() const { return rows_; }

 private:
  void sizes() {
    text_ +=
        "## Sizes found in published curves\n\n| board | cache | known | found | interval | transition | "
        "difference | by Kolmogorov-Smirnov | within | target |\n|---|---|---|---|---|---|---|---|---|---|\n";
    const auto folder = device::data_directory() / "measured";
    const studies::validate::Table curves = studies::validate::Table::read(folder / "latency.csv"),
                                   more = studies::validate::Table::read(folder / "latency-more.csv"),
                                   known = studies::validate::Table::read(folder / "known-sizes.csv");
    probe::LevelOptions ks;
    ks.change.method = probe::ChangeMethod::ks;
    for (const std::string& board : studies::validate::devices_of(known, "board")) {
      const probe::Curve curve = curve_of({&curves, &more}, board);
      if (curve.empty())
        throw Error(ExitCode::bad_input, "measured-syntax",
                    fmt::format("known-sizes.csv names the board '{}', of which there is no curve", board),
                    "latency.csv and latency-more.csv have the curves");
      const probe::Levels levels = probe::find_levels(curve), again = probe::find_levels(curve, ks);
      for (std::size_t i = 0; i < known.size(); ++i)
        if (known.text(i, "board") == board)
          size(board, known.text(i, "level"), known.number(i, "kib") * 1024, known.number(i, "tolerance"),
               levels, again);
    }
  }

  // Met: an edge lies within the tolerance of the known size.
  void size(const std::string& board, const std::string& level, double bytes, double tolerance,
            const probe::Levels& levels, const probe::Levels& again) {
    const probe::Boundary *edge = probe::boundary_at(levels, bytes, tolerance),
                          *other = probe::boundary_at(again, bytes, tolerance);
    const double error = edge == nullptr ? 0 : edge->bytes / bytes - 1;
    const bool met = edge != nullptr && std::abs(error) <= tolerance;
    text_ += fmt::format("| {} | {} | {} |", board, level, footprint_text(bytes));
    if (edge == nullptr)
      text_ += " none | - | - | - |";
    else
      text_ += fmt::format(" {} | {} to {} | {} to {} | {:+.1f} % |", footprint_text(edge->bytes),
                           footprint_text(edge->interval.low), footprint_text(edge->interval.high),
                           footprint_text(edge->before), footprint_text(edge->behind), error * 100);
    text_ += fmt::format(" {} | {:.0f} % | {} |\n", other == nullptr ? "none" : footprint_text(other->bytes),
                         tolerance * 100, met ? "met" : "missed");
    studies::validate::Row row = studies::validate::value_row("sizes", board, level, "bytes", bytes,
                                                              edge == nullptr ? 0 : edge->bytes);
    row.target = tolerance;
    row.role = studies::validate::Role::tuned;  // the curves were at hand when the detector was written
    row.source = "data/measured/known-sizes.csv";
    rows_.push_back(std::move(row));
    if (!met)
      misses_.push_back(fmt::format("{} {}: {} found, {} known", board, level,
                                    edge == nullptr ? "no edge" : footprint_text(edge->bytes),
                                    footprint_text(bytes)));
    result::KernelResult& k = result_.kernels.emplace_back();
    k.name = k.demangled = fmt::format("{}: {}", board, level);
    k.metrics.set("probe.known.size", bytes);
    if (edge == nullptr) return;
    set_edge(k.metrics, *edge);
    k.metrics.set("probe.known.error", error);
  }

  void timer() {
    text_ +=
        "\n## The clock's cost taken out, exact cases\n\n| case | method | mean | true | deviation | true | "
        "distance from what it has to give | target |\n|---|---|---|---|---|---|---|---|\n";
    for (const TimerCase& c : timer_cases(
             studies::validate::Table::read(device::data_directory() / "measured" / "timer-cases.csv"))) {
      slope(c);
      for (const Correction m :
           {Correction::difference, Correction::deconvolve, Correction::subtract, Correction::none})
        method(c, m);
    }
  }

  // Chains of 1, 2 and 4 operations: the mean of each is that many latencies and one reading of the clock.
  void slope(const TimerCase& c) {
    const Distribution two = probe::sum_of(c.latency, c.latency), four = probe::sum_of(two, two);
    const std::vector<probe::Chain> chains = {{1, c.measured.mean()},
                                              {2, probe::sum_of(two, c.overhead).mean()},
                                              {4, probe::sum_of(four, c.overhead).mean()}};
    const probe::Slope s = probe::slope_of(chains);
    const bool met =
        std::abs(s.latency - c.latency.mean()) < 1e-9 && std::abs(s.overhead - c.overhead.mean()) < 1e-9;
    row(c, Correction::slope, s.latency, {}, {}, met ? "met" : "missed");
  }

  void method(const TimerCase& c, Correction m) {
    const Distribution found = probe::corrected(m, c.measured, c.overhead);
    // The published method has to give what it is known to give; none and subtract are only shown, unless the
    // cost is constant.
    const Distribution& expected = m == Correction::difference ? c.difference : c.latency;
    const double distance = found.distance(expected);
    const bool exact = m == Correction::difference || m == Correction::deconvolve ||
                       (m == Correction::subtract && c.overhead.masses().size() == 1);
    row(c, m, found.mean(), std::sqrt(found.variance()), distance,
        !exact                      ? "-"
        : distance <= most_distance ? "met"
                                    : "missed");
  }

  void row(const TimerCase& c, Correction m, double mean, std::optional<double> deviation,
           std::optional<double> distance, const std::string& target) {
    const auto number = [](std::optional<double> v, const char* format) {
      return v ? fmt::format(fmt::runtime(format), *v) : std::string("-");
    };
    // Rounding of the last bits is no difference that anybody should read.
    if (distance && *distance < 1e-12) distance = 0.0;
    text_ += fmt::format("| {} | {} | {:.6g} | {:.6g} | {} | {:.6g} | {} | {} |\n", c.name, probe::name_of(m),
                         mean, c.latency.mean(), number(deviation, "{:.6g}"), std::sqrt(c.latency.variance()),
                         number(distance, "{:.2g}"), target);
    if (target != "-") timer_row(c, m, mean, distance);
    if (target == "missed")
      misses_.push_back(fmt::format("{}, {}: {:g} cycles, not {:g}, or not its distribution", c.name,
                                    probe::name_of(m), mean, c.latency.mean()));
    result::KernelResult& k = result_.kernels.emplace_back();
    k.name = k.demangled = fmt::format("{}: {}", c.name, probe::name_of(m));
    k.metrics.set("probe.timer.latency", mean);
    if (deviation) k.metrics.set("probe.timer.deviation", *deviation);
    if (distance) k.metrics.set("probe.timer.distance", *distance);
  }

  // Of the methods that are exact here; the others show what the correction is for.
  void timer_row(const TimerCase& c, Correction m, double mean, std::optional<double> distance) {
    studies::validate::Row& kept = rows_.emplace_back(
        studies::validate::value_row("clock's cost", c.name, fmt::format("mean by {}", probe::name_of(m)),
                                     "cycles", c.latency.mean(), mean));
    kept.target = most_distance;
    if (distance) kept.worst = *distance, kept.worst_target = most_distance;
    kept.role = studies::validate::Role::by_construction;
    kept.source = "data/measured/timer-cases.csv";
    if (distance) kept.note = "worst: of the distribution";
  }

  std::string text_;
  result::Result result_;
  std::vector<std::string> misses_;
  std::vector<studies::validate::Row> rows_;
};

Outcome validate_probe(ValidationOptions o) {
  const RunClock clock;
  check_validation(o, {"probe"});
  return end_validation({probe_area()}, clock, o);
}

}  // namespace

AreaReport probe_area() {
  ProbeReport report;
  report.run();
  AreaReport out{"probe", report.text() + misses_text(report.misses()), report.result(), report.misses(),
                 report.rows()};
  out.result.manifest.mode = "probe";
  return out;
}

void add_validate_probe(Command& validate) {
  Command* sub = validate.add_subcommand(
      "probe", "The detector of cache levels on published curves; the clock's cost on exact cases");
  const auto o = std::make_shared<ValidationOptions>();
  add_validation_options(*sub, *o, nullptr);
  sub->action([o](const Call&) { return validate_probe(*o); });
}

}  // namespace simtlab::studies
