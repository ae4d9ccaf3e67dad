// A study as a page: headline, Pareto front, main effects, the points, what failed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/compare_why.h"
#include "report/html_shell.h"
#include "report/html_writer.h"
#include "report/study.h"

namespace simtlab::report {
namespace {

using result::Study;
using result::StudyCombination;
using result::StudyEffect;
using result::StudyMetric;
using Goal = StudyMetric::Goal;

constexpr std::size_t table_rows = 2000, chart_points = 1500, effect_levels = 40;

class StudyPage {
 public:
  explicit StudyPage(const Study& study) : s_(study), rows_(best_first(study, table_rows)) {}

  std::string run() {
    const std::pair<const char*, std::string> sections[] = {
        {"<a href=\"#summary\">Summary</a>", summary()},
        {"<a href=\"#baseline\">Beside the baseline</a>", study_comparisons_html(s_)},
        {"<a href=\"#front\">Best points</a>", front()},
        {"<a href=\"#effects\">Effects</a>", effects()},
        {"<a href=\"#points\">Points</a>", points()},
        {"<a href=\"#failures\">Failures</a>", failures()}};
    std::string body = header() + "<nav aria-label=\"Sections\"><ul>\n", main;
    for (const auto& [link, section] : sections) {
      if (!section.empty()) body += fmt::format("<li>{}</li>\n", link);
      main += section;
    }
    body += "</ul></nav></header>\n<main id=\"main\">\n" + main + "</main>\n";
    HtmlShell shell;
    shell.title = title();
    shell.footer = "<p>Written by simtlab.</p>";
    return html_document(shell, body);
  }

 private:
  std::string title() const {
    return fmt::format("study {} ({} points)", printable(s_.name), format_exact(s_.points.size()));
  }

  std::string header() const {
    std::string out = fmt::format("<header><h1>{}</h1>\n<p class=\"muted\">begun {}</p>\n",
                                  html_escaped(title()), safe(s_.created));
    if (s_.pending + s_.running > 0)
      out += fmt::format(
          "<p class=\"warning\">{} points have not been run yet: the figures cover what is there.</p>\n",
          format_exact(s_.pending + s_.running));
    for (const std::string& note : s_.notes) out += fmt::format("<p class=\"warning\">{}</p>\n", safe(note));
    return out;
  }
  std::string summary() const {
    std::string out = "<section id=\"summary\" aria-label=\"Summary\">\n<ul class=\"headline\">\n";
    const auto tile = [&](const std::string& value, const std::string& label) {
      out += fmt::format("<li><b>{}</b><span class=\"label\">{}</span></li>\n", html_escaped(value),
                         html_escaped(label));
    };
    tile(format_exact(s_.done), "points done");
    tile(format_exact(s_.failed), "points failed");
    tile(format_exact(s_.combinations.size()), "combinations");
    if (!rows_.empty())
      for (std::size_t m = 0; m < s_.metrics.size(); ++m)
        if (!s_.metrics[m].is_axis)
          tile(study_value(s_.metrics[m], rows_.front()->value(m)),
               fmt::format("{} of the {} point", printable(s_.metrics[m].name),
                           s_.metrics[m].goal == Goal::none ? "first" : "best"));
    return out + "</ul>\n</section>\n";
  }

  std::vector<std::size_t> goals() const {
    std::vector<std::size_t> out;
    for (std::size_t m = 0; m < s_.metrics.size(); ++m)
      if (s_.metrics[m].goal != Goal::none) out.push_back(m);
    return out;
  }
  HtmlTable table_of(const std::vector<const StudyCombination*>& rows, const char* row_class) const {
    HtmlTable table{{"point#"}, {}, row_class};
    for (const std::string& a : s_.axes) table.head.push_back(printable(a));
    for (std::size_t m = 0; m < s_.metrics.size(); ++m) {
      if (s_.metrics[m].is_axis) continue;
      table.head.push_back(printable(s_.metrics[m].name) + "#");
      if (study_differs(s_, m)) table.head.insert(table.head.end(), {"spread#", "lowest#", "highest#"});
    }
    table.head.emplace_back("repeats#");
    table.head.emplace_back("front");
    for (const StudyCombination* c : rows) {
      std::vector<std::string> row = {fmt::format("{}", c->first_point)};
      for (const std::string& v : c->values) row.push_back(safe(v));
      for (std::size_t m = 0; m < s_.metrics.size(); ++m) {
        if (s_.metrics[m].is_axis) continue;
        const result::StudyFigure& f = c->figures[m];
        row.push_back(html_escaped(study_value(s_.metrics[m], f.median)));
        if (!study_differs(s_, m)) continue;
        row.push_back(study_spread(f));
        for (const double v : {f.low, f.high}) row.push_back(html_escaped(study_value(s_.metrics[m], v)));
      }
      row.push_back(fmt::format("{}", c->repeats));
      row.emplace_back(c->on_front ? "yes" : "");
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  // Two goals: a picture; in any case the points that nothing beats.
  std::string front() const {
    const std::vector<std::size_t> g = goals();
    if (g.empty() || s_.combinations.empty()) return {};
    std::vector<const StudyCombination*> best;
    for (const StudyCombination* c : rows_)
      if (c->on_front) best.push_back(c);
    std::string out =
        fmt::format("<section id=\"front\"><h2>{}</h2>\n<p>", g.size() > 1 ? "Pareto front" : "Best point");
    for (std::size_t i = 0; i < g.size(); ++i)
      out += (i == 0 ? "" : "; ") + html_escaped(study_goal(s_.metrics[g[i]]));
    out += ".</p>\n";
    if (g.size() >= 2) out += front_chart(g[0], g[1], best);
    return out + html_table(table_of(best, "front-row")) + "</section>\n";
  }
  std::string front_chart(std::size_t x, std::size_t y,
                          const std::vector<const StudyCombination*>& best) const {
    HtmlChart chart{"xy",
                    fmt::format("{} over {}", printable(s_.metrics[y].name), printable(s_.metrics[x].name)),
                    "A point a combination; those on the front are beaten by none in every goal.",
                    {},
                    table_of(best, ""),
                    false};
    chart.data["lines"] = ChartData::array();
    chart.data["points"] = ChartData::array();
    const auto add = [&](const StudyCombination* c, const char* series) {
      if (!std::isfinite(c->value(x)) || !std::isfinite(c->value(y))) return;
      chart.data["points"].push_back(
          {{"series", series},
           {"x", c->value(x)},
           {"y", c->value(y)},
           {"tip", fmt::format("point {}\n{}\n{}: {}\n{}: {}", c->first_point, combination_label(s_, *c),
                               s_.metrics[x].name, study_value(s_.metrics[x], c->value(x)),
                               s_.metrics[y].name, study_value(s_.metrics[y], c->value(y)))}});
    };
    for (const StudyCombination* c : best) add(c, "on the front");
    std::size_t others = 0;
    for (const StudyCombination* c : rows_)
      if (!c->on_front && others++ < chart_points) add(c, "others");
    chart.data["x"] = axis_of(x), chart.data["y"] = axis_of(y);
    if (chart.data["points"].empty()) return {};
    for (const char* axis : {"x", "y"}) chart.data[axis]["domain"] = around(chart.data["points"], axis);
    return html_chart(chart);
  }
  // A little more than the points take: marks at the rim would be cut.
  static ChartData around(const ChartData& points, const char* axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const ChartData& p : points)
      low = std::min(low, p[axis].get<double>()), high = std::max(high, p[axis].get<double>());
    const double margin = high > low ? 0.05 * (high - low) : std::max(1.0, 0.05 * std::abs(high));
    return {low - margin, high + margin};
  }
  ChartData axis_of(std::size_t m) const {
    return {{"title",
             printable(s_.metrics[m].name) +
                 (s_.metrics[m].unit.empty() || s_.metrics[m].unit == "1" ? "" : ", " + s_.metrics[m].unit)},
            {"format", format_of(m)},
            {"zero", false}};
  }
  const char* format_of(std::size_t m) const {
    return is_share(0, s_.metrics[m].name, s_.metrics[m].unit) ? ".2~%" : "~s";
  }

  std::string effects() const {
    if (s_.effects.empty()) return {};
    std::string out = "<section id=\"effects\"><h2>What the axes do</h2>\n";
    for (std::size_t m = 0; m < s_.metrics.size(); ++m) out += shares(m);
    for (const StudyEffect& e : s_.effects) out += levels(e);
    return out + "</section>\n";
  }
  std::string shares(std::size_t m) const {
    HtmlChart chart{
        "bars",
        fmt::format("Sensitivity of {}", printable(s_.metrics[m].name)),
        "Share of its variance between combinations that the axis explains alone; what is left is "
        "interaction.",
        {},
        {{"axis", "share#", "rank correlation#", "per cent for one per cent of the axis#"}, {}, ""},
        false};
    chart.data["rows"] = ChartData::array();
    chart.data["x"] = "share of the variance";
    chart.data["domain"] = {0, 1};
    chart.data["format"] = ".0%";
    const auto figure = [](double v) {
      return std::isfinite(v) ? fmt::format("{:+.3f}", v) : std::string("-");
    };
    for (const StudyEffect& e : s_.effects) {
      if (e.metric != m) continue;
      const std::string axis = printable(s_.axes[e.axis]);
      chart.data["rows"].push_back({{"label", shortened(axis, 40)},
                                    {"value", e.share},
                                    {"text", format_share(e.share)},
                                    {"tip", fmt::format("{}: {}", axis, format_share(e.share))}});
      chart.table.rows.push_back(
          {html_escaped(axis), format_share(e.share), figure(e.rank_correlation), figure(e.elasticity)});
    }
    return chart.table.rows.empty() ? "" : html_chart(chart);
  }
  std::string levels(const StudyEffect& e) const {
    const StudyMetric& metric = s_.metrics[e.metric];
    HtmlChart chart{"bars",
                    fmt::format("{} by {}", printable(metric.name), printable(s_.axes[e.axis])),
                    e.of_kernel_mean
                        ? "Mean over the combinations with that value, as a multiple of each kernel's mean."
                        : "Mean over the combinations with that value.",
                    {},
                    {{printable(s_.axes[e.axis]), "mean#", "lowest#", "highest#", "combinations#"}, {}, ""},
                    false};
    chart.data["rows"] = ChartData::array();
    if (e.of_kernel_mean)
      chart.data["x"] = "multiple of the kernel's mean";
    else
      chart.data["x"] = axis_of(e.metric)["title"], chart.data["format"] = format_of(e.metric);
    const auto shown = [&](double v) { return e.of_kernel_mean ? ratio_text(v) : study_value(metric, v); };
    for (std::size_t i = 0; i < e.levels.size() && i < effect_levels; ++i) {
      const auto& l = e.levels[i];
      const std::string mean = shown(l.mean);
      chart.data["rows"].push_back(
          {{"label", shortened(printable(l.label), 40)},
           {"value", l.mean},
           {"text", mean},
           {"tip", fmt::format("{}: {} ({} to {})", printable(l.label), mean, shown(l.low), shown(l.high))}});
      chart.table.rows.push_back({safe(l.label), html_escaped(mean), html_escaped(shown(l.low)),
                                  html_escaped(shown(l.high)), fmt::format("{}", l.count)});
    }
    return html_chart(chart);
  }

  std::string points() const {
    if (rows_.empty()) return {};
    std::string out = "<section id=\"points\"><h2>Points</h2>\n";
    if (const std::string repeats = study_repeats(s_); !repeats.empty())
      out += fmt::format("<p>{}</p>\n", html_escaped(repeats));
    if (rows_.size() < s_.combinations.size())
      out += fmt::format("<p>The first {} of {} combinations; the CSV form has all.</p>\n", rows_.size(),
                         s_.combinations.size());
    out +=
        "<p class=\"filter\"><label for=\"point-filter\">Show rows that contain: </label><input "
        "type=\"search\" id=\"point-filter\" data-filter=\"tr.point-row\" "
        "aria-describedby=\"point-filter-count\"> <span id=\"point-filter-count\" role=\"status\" "
        "class=\"muted\"></span></p>\n";
    return out + html_table(table_of(rows_, "point-row")) + "</section>\n";
  }
  std::string failures() const {
    HtmlTable table{{"point#"}, {}, "failed-row"};
    for (const std::string& a : s_.axes) table.head.push_back(printable(a));
    table.head.insert(table.head.end(), {"exit code#", "name", "error"});
    for (const result::StudyPoint& p : s_.points) {
      if (p.state != "failed" || table.rows.size() == table_rows) continue;
      std::vector<std::string> row = {fmt::format("{}", p.id)};
      for (const std::string& v : p.values) row.push_back(safe(v));
      row.insert(row.end(), {fmt::format("{}", p.exit_code), safe(p.error_id), safe(p.error.substr(0, 400))});
      table.rows.push_back(std::move(row));
    }
    return table.rows.empty()
               ? ""
               : "<section id=\"failures\"><h2>Failures</h2>\n" + html_table(table) + "</section>\n";
  }

  const Study& s_;
  std::vector<const StudyCombination*> rows_;
};

}  // namespace

std::string study_html(const Study& study) { return StudyPage(study).run(); }

}  // namespace simtlab::report
