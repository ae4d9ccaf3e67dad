// A study on a screen. Sample:
//
//   study memory: 24 points, 23 done, 1 failed
//
//   dram   sm.count    gpu.time
//   hbm3        132    12.3 us  *
//   ...
//   * on the Pareto front: gpu.time, the less the better; sm.count, the less the better
//
//   What each axis does to gpu.time
//     dram      71.2 %  hbm2 18.1 us, hbm3 12.9 us
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/compare_why.h"
#include "report/study.h"

namespace simtlab::report {
namespace {

using result::Study;
using result::StudyCombination;
using result::StudyEffect;
using result::StudyMetric;
using Goal = StudyMetric::Goal;

constexpr std::size_t study_rows_printed = 20, failures_shown = 10, levels_shown = 8;

class StudyText {
 public:
  StudyText(const Study& study, const StudyTextOptions& options) : s_(study), o_(options) {}

  std::string run() {
    headline();
    table();
    failures();
    for (const result::StudyComparison& c : s_.comparisons) comparison(c);
    effects();
    for (const std::string& note : s_.notes)
      line(painted(wrapped("note: " + printable(note), o_.style.width, 2), Paint::warn, o_.style));
    if (!o_.next_command.empty()) line("next: " + o_.next_command);
    return std::move(out_);
  }

 private:
  void line(std::string_view text = {}) {
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    out_ += std::string(text) + "\n";
  }

  void headline() {
    std::string text =
        fmt::format("study {}: {} point{}, {} done", printable(s_.name), format_exact(s_.points.size()),
                    s_.points.size() == 1 ? "" : "s", format_exact(s_.done));
    if (s_.failed > 0) text += fmt::format(", {} failed", format_exact(s_.failed));
    if (s_.running > 0) text += fmt::format(", {} running", format_exact(s_.running));
    if (s_.pending > 0) text += fmt::format(", {} to run", format_exact(s_.pending));
    line(painted(text, Paint::bold, o_.style));
    line();
  }

  // A row a combination: its values, the medians of its repeats and how far these lie apart.
  void table() {
    const std::size_t most = o_.all ? s_.combinations.size() : study_rows_printed;
    const std::vector<const StudyCombination*> rows = best_first(s_, most);
    if (rows.empty()) return;
    std::vector<std::vector<std::string>> cells(1);
    const std::vector<bool> varies = varying();
    for (std::size_t a = 0; a < s_.axes.size(); ++a) {
      if (varies[a])
        cells[0].push_back(printable(s_.axes[a]));
      else
        line(fmt::format("  {}: {}", printable(s_.axes[a]),
                         shortened(printable(rows.front()->values[a]), o_.style.width)));
    }
    for (std::size_t m = 0; m < s_.metrics.size(); ++m) {
      if (s_.metrics[m].is_axis) continue;
      cells[0].push_back(printable(s_.metrics[m].name));
      if (study_differs(s_, m)) cells[0].emplace_back("spread");
    }
    for (const StudyCombination* c : rows) {
      std::vector<std::string> row;
      for (std::size_t a = 0; a < s_.axes.size(); ++a)
        if (varies[a]) row.push_back(shortened(printable(c->values[a]), 40));
      for (std::size_t m = 0; m < s_.metrics.size(); ++m)
        if (!s_.metrics[m].is_axis) measured(*c, m, row);
      cells.push_back(std::move(row));
    }
    std::vector<std::size_t> widths(cells[0].size());
    for (const auto& row : cells)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    for (std::size_t r = 0; r < cells.size(); ++r) {
      std::string text = "  ";
      for (std::size_t i = 0; i < cells[r].size(); ++i) text += padded(cells[r][i], widths[i]) + "  ";
      if (r > 0 && rows[r - 1]->on_front) text += "*";
      line(r == 0 ? painted(text, Paint::bold, o_.style) : text);
    }
    if (rows.size() < s_.combinations.size())
      line(fmt::format("  ... {} more (--all, --csv)", format_exact(s_.combinations.size() - rows.size())));
    std::string goals;
    for (const StudyMetric& m : s_.metrics)
      if (m.goal != Goal::none) goals += (goals.empty() ? "" : "; ") + study_goal(m);
    const bool several =
        std::ranges::count_if(s_.metrics, [](const StudyMetric& m) { return m.goal != Goal::none; }) > 1;
    if (!goals.empty()) line(fmt::format("  * {}: {}", several ? "on the Pareto front" : "best", goals));
    if (const std::string repeats = study_repeats(s_); !repeats.empty())
      line("  " + wrapped(repeats, o_.style.width, 2));
    line();
  }
  // An axis with one value stands above the table.
  std::vector<bool> varying() const {
    std::vector<bool> out(s_.axes.size(), s_.combinations.size() < 2);
    for (const StudyCombination& c : s_.combinations)
      for (std::size_t a = 0; a < out.size(); ++a)
        out[a] = out[a] || c.values[a] != s_.combinations.front().values[a];
    return out;
  }
  void measured(const StudyCombination& c, std::size_t m, std::vector<std::string>& row) const {
    row.push_back(study_value(s_.metrics[m], c.value(m)));
    if (study_differs(s_, m)) row.push_back(study_spread(c.figures[m]));
  }

  // By their error: what failed a hundred times is said once.
  void failures() {
    if (s_.failed == 0) return;
    std::map<std::string, std::vector<const result::StudyPoint*>> by_error;
    for (const result::StudyPoint& p : s_.points)
      if (p.state == "failed")
        by_error[p.error_id + '\n' + p.error.substr(0, p.error.find('\n'))].push_back(&p);
    line(painted(fmt::format("Failed: {} points", format_exact(s_.failed)), Paint::bad, o_.style));
    std::size_t shown_errors = 0;
    for (const auto& [key, points] : by_error) {
      if (shown_errors++ == failures_shown && !o_.all) {
        line(fmt::format("  ... {} more errors (--all, --csv)", by_error.size() - failures_shown));
        break;
      }
      std::string ids;
      for (std::size_t i = 0; i < points.size() && i < 12; ++i)
        ids += fmt::format("{}{}", i == 0 ? "" : ", ", points[i]->id);
      if (points.size() > 12) ids += ", ...";
      const result::StudyPoint& p = *points.front();
      std::string values;
      for (std::size_t a = 0; a < s_.axes.size(); ++a)
        values += fmt::format(" {}={}", printable(s_.axes[a]), shortened(printable(p.values[a]), 40));
      line(fmt::format("  point{} {}, exit code {}{}{}", points.size() > 1 ? "s" : "", ids, p.exit_code,
                       values.empty()      ? ""
                       : points.size() > 1 ? "; the first:"
                                           : ":",
                       values));
      line("    " + wrapped(printable(p.error.substr(0, p.error.find('\n'))), o_.style.width, 4));
    }
    line();
  }

  // A row a kernel, a column a choice.
  void comparison(const result::StudyComparison& c) {
    const StudyMetric& metric = s_.metrics[c.metric];
    line(painted(comparison_title(s_, c), Paint::bold, o_.style));
    std::vector<std::vector<std::string>> cells{{"", printable(c.columns[c.baseline])}};
    for (const std::string& column : c.columns) cells[0].push_back(shortened(printable(column), 24));
    for (const auto& row : c.rows) {
      cells.push_back({shortened(printable(row.kernel), 40), study_value(metric, row.base)});
      for (const double ratio : row.ratios) cells.back().push_back(ratio_text(ratio));
    }
    if (c.rows.size() > 1) {
      cells.push_back({comparison_mean(c), ""});
      for (const double ratio : c.mean) cells.back().push_back(ratio_text(ratio));
    }
    std::vector<std::size_t> widths(cells[0].size());
    for (const auto& row : cells)
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    for (const auto& row : cells) {
      std::string text = "  ";
      for (std::size_t i = 0; i < row.size(); ++i)
        text += i == 0 ? padded(row[i], widths[i]) + "  "
                       : std::string(widths[i] - row[i].size(), ' ') + row[i] + "  ";
      line(text);
    }
    line();
  }

  void effects() {
    for (std::size_t m = 0; m < s_.metrics.size(); ++m) {
      bool first = true;
      for (const StudyEffect& e : s_.effects) {
        if (e.metric != m) continue;
        if (first)
          line(painted(fmt::format("What each axis does to {} (share of its variance; mean of each value{})",
                                   printable(s_.metrics[m].name),
                                   e.of_kernel_mean ? ", as a multiple of the kernel's mean" : ""),
                       Paint::bold, o_.style));
        first = false;
        effect(e);
      }
      if (!first) line();
    }
  }
  void effect(const StudyEffect& e) {
    std::string text = fmt::format("  {}  {:>7}  ", padded(shortened(printable(s_.axes[e.axis]), 20), 20),
                                   format_share(e.share));
    std::string levels;
    const std::size_t skip = e.levels.size() > levels_shown ? e.levels.size() - levels_shown : 0;
    for (std::size_t i = 0; i < e.levels.size(); ++i) {
      if (skip > 0 && i == levels_shown / 2) levels += ", ...", i += skip;
      levels +=
          fmt::format("{}{} {}", levels.empty() ? "" : ", ", shortened(printable(e.levels[i].label), 30),
                      e.of_kernel_mean ? ratio_text(e.levels[i].mean)
                                       : study_value(s_.metrics[e.metric], e.levels[i].mean));
    }
    std::string lines = wrapped(levels, std::max<std::size_t>(o_.style.width, 72) - 33, 0);
    for (std::size_t at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + 1))
      lines.insert(at + 1, 33, ' ');
    line(text + lines);
    std::string more;
    if (std::isfinite(e.rank_correlation))
      more += fmt::format("rank correlation {:+.2f}", e.rank_correlation);
    if (std::isfinite(e.elasticity))
      more += fmt::format("{}{:+.2f} % for each per cent more", more.empty() ? "" : "; ", e.elasticity);
    if (!more.empty()) line(std::string(33, ' ') + more);
  }

  const Study& s_;
  const StudyTextOptions& o_;
  std::string out_;
};

}  // namespace

std::string study_text(const Study& study, const StudyTextOptions& options) {
  return StudyText(study, options).run();
}

std::string study_value(const StudyMetric& metric, double value) {
  if (!std::isfinite(value)) return "-";
  if (metric.unit == "ns") return format_time(value);
  if (metric.unit == "s") return format_time(value * 1e9);
  if (metric.unit == "bytes") return format_bytes(value);
  if (metric.unit == "bytes/s") return format_rate(value);
  if (is_share(value, metric.name, metric.unit)) return format_share(value);
  if (value == std::floor(value) && value >= 0 && value < 1e15)
    return format_exact(static_cast<std::uint64_t>(value));
  // Means of whole numbers, as these.
  if (value >= 1e4 && value < 1e15) return format_exact(static_cast<std::uint64_t>(std::llround(value)));
  return fmt::format("{:.5g}", value);
}

std::string comparison_title(const Study& study, const result::StudyComparison& c) {
  return fmt::format("{} of {} against {}", c.speed_up ? "Speed-up" : "Ratio",
                     printable(study.metrics[c.metric].name), printable(c.columns[c.baseline]));
}

std::string comparison_mean(const result::StudyComparison& c) {
  return c.in_mean == c.rows.size() ? "geometric mean" : fmt::format("geometric mean of {}", c.in_mean);
}

std::string ratio_text(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  return ratio >= 0.095 || ratio == 0 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.2g}", ratio);
}

bool study_differs(const Study& study, std::size_t metric) {
  return std::ranges::any_of(study.combinations,
                             [&](const StudyCombination& c) { return c.figures[metric].differs(); });
}

std::string study_spread(const result::StudyFigure& figure) {
  return std::isfinite(figure.spread()) ? format_share(figure.spread()) : "-";
}

std::string study_repeats(const Study& study) {
  std::uint64_t most = 0;
  for (const StudyCombination& c : study.combinations) most = std::max(most, c.repeats);
  if (most < 2) return {};
  for (std::size_t m = 0; m < study.metrics.size(); ++m)
    if (!study.metrics[m].is_axis && study_differs(study, m))
      return fmt::format(
          "Figures are medians of {} repeats. Spread is their standard deviation over the median.", most);
  return fmt::format("All {} repeats of each combination have the same figures.", most);
}

std::string study_goal(const StudyMetric& metric) {
  return fmt::format("{}{}", printable(metric.name),
                     metric.goal == Goal::minimise   ? ", the less the better"
                     : metric.goal == Goal::maximise ? ", the more the better"
                                                     : "");
}

std::string combination_label(const Study& study, const StudyCombination& c) {
  std::string out;
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", printable(study.axes[a]),
                       shortened(printable(c.values[a]), 40));
  return out.empty() ? "the only combination" : out;
}

std::vector<const StudyCombination*> best_first(const Study& study, std::size_t most) {
  std::vector<const StudyCombination*> out;
  for (const StudyCombination& c : study.combinations) out.push_back(&c);
  const auto goal =
      std::ranges::find_if(study.metrics, [](const StudyMetric& m) { return m.goal != Goal::none; });
  if (goal != study.metrics.end()) {
    const auto m = static_cast<std::size_t>(goal - study.metrics.begin());
    const double sign = goal->goal == Goal::minimise ? 1 : -1;
    const auto key = [&](const StudyCombination* c) {
      return std::isfinite(c->value(m)) ? sign * c->value(m) : std::numeric_limits<double>::infinity();
    };
    std::ranges::stable_sort(out, {}, key);
  }
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace simtlab::report
