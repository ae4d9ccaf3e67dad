// What the page of a study shows beside a baseline: bars by kernel and choice, lines over an axis that is a
// number, and the parts of a family of metrics (as stall cycles) as shares of the baseline's sum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html_writer.h"
#include "report/study.h"

namespace simtlab::report {
namespace {

using result::Study;
using result::StudyComparison;

// A chart with more than these cannot be read; the tables have all.
constexpr std::size_t most_parts = 10, most_bars = 200, most_lines = 8, fewest_on_a_line = 3;

std::string label_of(std::string_view text) { return shortened(printable(text), 40); }

std::string joined(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + ", " + b;
}

std::string shown_of(std::size_t shown, std::size_t all, const char* what) {
  return shown < all ? fmt::format(" The first {} of {} {}; the table has all.", shown, all, what) : "";
}

class ComparisonCharts {
 public:
  ComparisonCharts(const Study& s, const StudyComparison& c) : s_(s), c_(c) {}

  std::string run() const {
    const std::size_t over = line_axis();
    std::string chart = over < c_.axes.size() ? lines(over) : bars();
    if (chart.empty()) chart = fmt::format("<h3>{}</h3>\n", html_escaped(comparison_title(s_, c_)));
    return chart + html_table(table());
  }

 private:
  // The axis whose numbers are the most; as many as there are axes: none has enough of them.
  std::size_t line_axis() const {
    std::size_t best = c_.axes.size(), most = fewest_on_a_line - 1;
    for (std::size_t i = 0; i < c_.axes.size(); ++i) {
      std::vector<double> numbers;
      for (const auto& choice : c_.choices) numbers.push_back(choice[i].number);
      if (!std::ranges::all_of(numbers, [](double n) { return std::isfinite(n); })) continue;
      std::ranges::sort(numbers);
      const auto repeated = std::ranges::unique(numbers);
      const std::size_t different = numbers.size() - repeated.size();
      if (different > most) best = i, most = different;
    }
    return best;
  }
  // Values of all axes but one.
  std::string others(std::size_t column, std::size_t but) const {
    std::string out;
    for (std::size_t i = 0; i < c_.axes.size(); ++i)
      if (i != but) out += (out.empty() ? "" : " ") + c_.choices[column][i].text;
    return label_of(out);
  }
  std::string measure() const { return c_.speed_up ? "speed-up" : "ratio"; }
  std::string base() const { return printable(c_.columns[c_.baseline]); }
  std::string tip(const StudyComparison::Row* row, std::size_t column, double ratio) const {
    std::string out = row == nullptr ? comparison_mean(c_) : printable(row->kernel);
    out += (out.empty() ? "" : "\n") + printable(c_.columns[column]) +
           fmt::format("\n{} {}", measure(), ratio_text(ratio));
    if (row != nullptr)
      out += fmt::format("\n{}: {}", printable(s_.metrics[c_.metric].name),
                         study_value(s_.metrics[c_.metric], row->values[column]));
    return out;
  }
  // The kernels, and behind several their mean.
  template <class Each>
  void each_row(const Each& each) const {
    for (const StudyComparison::Row& row : c_.rows) each(&row, label_of(row.kernel), row.ratios);
    if (c_.rows.size() > 1 && c_.in_mean > 0) each(nullptr, comparison_mean(c_), c_.mean);
  }
  // A study without an axis of kernels has one row, without a name.
  bool named() const { return c_.rows.size() > 1 || !c_.rows.front().kernel.empty(); }
  std::vector<std::string> name_column() const {
    return named() ? std::vector<std::string>{"kernel"} : std::vector<std::string>();
  }
  std::vector<std::string> name_cell(const std::string& name) const {
    return named() ? std::vector<std::string>{safe(name)} : std::vector<std::string>();
  }
  HtmlTable table() const {
    HtmlTable out{name_column(), {}, ""};
    out.head.push_back(base() + "#");
    for (const std::string& column : c_.columns) out.head.push_back(printable(column) + "#");
    const auto add = [&](const std::string& name, const std::string& value,
                         const std::vector<double>& ratios) {
      out.rows.push_back(name_cell(name));
      out.rows.back().push_back(html_escaped(value));
      for (const double ratio : ratios) out.rows.back().push_back(ratio_text(ratio));
    };
    for (const auto& row : c_.rows) add(row.kernel, study_value(s_.metrics[c_.metric], row.base), row.ratios);
    if (c_.rows.size() > 1) add(comparison_mean(c_), "", c_.mean);
    return out;
  }
  // Of a chart: a row a value.
  HtmlTable values() const {
    HtmlTable out{name_column(), {}, ""};
    for (const std::size_t a : c_.axes) out.head.push_back(printable(s_.axes[a]));
    out.head.push_back(printable(s_.metrics[c_.metric].name) + "#"), out.head.push_back(measure() + "#");
    for (const auto& row : c_.rows)
      for (std::size_t column = 0; column < c_.columns.size(); ++column) {
        out.rows.push_back(name_cell(row.kernel));
        for (const auto& value : c_.choices[column]) out.rows.back().push_back(safe(value.text));
        out.rows.back().push_back(html_escaped(study_value(s_.metrics[c_.metric], row.values[column])));
        out.rows.back().push_back(ratio_text(row.ratios[column]));
      }
    return out;
  }
  std::string title(const std::string& by) const {
    return fmt::format("{} by {}", comparison_title(s_, c_), by);
  }
  std::string meaning() const {
    return fmt::format("{}: 1 is {}.", c_.speed_up ? "Baseline over value" : "Value over baseline", base());
  }

  std::string bars() const {
    // The first axis has a colour a value; the others and the kernel name the group. Without either each
    // value is a group of its own.
    const bool plain = c_.axes.size() == 1 && !named();
    std::vector<std::string> parts;
    for (const auto& choice : c_.choices)
      if (const std::string part = plain ? measure() : label_of(choice.front().text);
          std::ranges::find(parts, part) == parts.end())
        parts.push_back(part);
    const std::size_t all = parts.size();
    parts.resize(std::min(all, most_parts));
    ChartData rows = ChartData::array();
    std::size_t left_out = 0;
    each_row([&](const StudyComparison::Row* row, const std::string& name,
                 const std::vector<double>& ratios) {
      for (std::size_t column = 0; column < ratios.size(); ++column) {
        const std::string value = label_of(c_.choices[column].front().text), part = plain ? measure() : value;
        if (!std::isfinite(ratios[column]) || std::ranges::find(parts, part) == parts.end()) continue;
        if (rows.size() >= most_bars)
          ++left_out;
        else
          rows.push_back({{"label", plain ? value : joined(name, others(column, 0))},
                          {"part", part},
                          {"value", ratios[column]},
                          {"text", ratio_text(ratios[column])},
                          {"tip", tip(row, column, ratios[column])}});
      }
    });
    if (rows.empty()) return {};
    std::string by = label_of(s_.axes[c_.axes.front()]);
    if (named()) by = "kernel and " + by;
    HtmlChart chart{"grouped",
                    title(by),
                    meaning() + shown_of(parts.size(), all, "values") +
                        shown_of(rows.size(), rows.size() + left_out, "bars"),
                    {},
                    values(),
                    true};
    chart.data["x"] = measure();
    chart.data["rules"] = {{{"x", 1}, {"label", base()}}};
    chart.data["parts"] = parts;
    chart.data["rows"] = std::move(rows);
    return html_chart(chart);
  }

  // A line a kernel, and a value of the other axes.
  std::string lines(std::size_t over) const {
    struct Point {
      double x, y;
      std::string tip;
    };
    std::vector<std::pair<std::string, std::vector<Point>>> all;
    each_row(
        [&](const StudyComparison::Row* row, const std::string& name, const std::vector<double>& ratios) {
          for (std::size_t column = 0; column < ratios.size(); ++column) {
            if (!std::isfinite(ratios[column])) continue;
            const std::string rest = others(column, over);
            const std::string series = name.empty() && rest.empty() ? measure() : joined(name, rest);
            auto at = std::ranges::find(all, series, &std::pair<std::string, std::vector<Point>>::first);
            if (at == all.end()) at = all.insert(all.end(), {series, {}});
            at->second.push_back(
                {c_.choices[column][over].number, ratios[column], tip(row, column, ratios[column])});
          }
        });
    if (all.empty()) return {};
    const std::string axis = printable(s_.axes[c_.axes[over]]);
    HtmlChart chart{"xy",
                    title(shortened(axis, 40)),
                    meaning() + shown_of(std::min(all.size(), most_lines), all.size(), "lines"),
                    {},
                    values(),
                    true};
    chart.data["lines"] = ChartData::array(), chart.data["points"] = ChartData::array();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < std::min(all.size(), most_lines); ++i) {
      std::ranges::stable_sort(all[i].second, {}, &Point::x);
      for (const Point& p : all[i].second) {
        low = std::min(low, p.x), high = std::max(high, p.x);
        chart.data["lines"].push_back({{"series", all[i].first}, {"x", p.x}, {"y", p.y}});
        chart.data["points"].push_back({{"series", all[i].first}, {"x", p.x}, {"y", p.y}, {"tip", p.tip}});
      }
    }
    const bool doubles = low > 0 && high >= 8 * low;  // as sizes do
    chart.data["x"] = {{"title", axis}, {"format", "~s"}, {"zero", false}, {"log", doubles}, {"base", 2}};
    if (doubles) chart.data["x"]["domain"] = {low / 1.05, high * 1.05};
    chart.data["y"] = {{"title", measure()}, {"zero", true}};
    return html_chart(chart);
  }

  const Study& s_;
  const StudyComparison& c_;
};

std::string_view family(std::string_view metric) {
  return metric.substr(0, std::min(metric.rfind('.'), metric.size()));
}

// Cycles of one family are parts of a sum: each choice's bar is as long as its sum over the baseline's.
class Parts {
 public:
  Parts(const Study& s, std::vector<const StudyComparison*> members) : s_(s), members_(std::move(members)) {}

  std::string run() const {
    const StudyComparison& first = *members_.front();
    const std::string name(family(metric(first).name)), base = printable(first.columns[first.baseline]);
    HtmlChart chart{"stacked",
                    fmt::format("Cycles of {} against {}", printable(name), base),
                    "",
                    {},
                    {{"kernel", "choice", "part", "cycles#", "of the baseline's sum#"}, {}, ""},
                    true};
    ChartData rows = ChartData::array();
    std::size_t bars = 0, all = 0;
    for (std::size_t k = 0; k < first.rows.size(); ++k) {
      double sum = 0;
      for (const StudyComparison* c : members_) sum += c->rows[k].base;
      if (!(sum > 0)) continue;
      for (std::size_t column = 0; column < first.columns.size(); ++column) {
        const bool drawn = ++all * members_.size() <= most_bars;
        bars += drawn ? 1 : 0;
        add(k, column, sum, drawn, rows, chart.table);
      }
    }
    if (rows.empty()) return {};
    std::vector<std::string> parts;
    for (const StudyComparison* c : members_) parts.push_back(part(*c));
    chart.description = fmt::format("Parts over the sum of {}.{}", base, shown_of(bars, all, "bars"));
    chart.data["x"] = fmt::format("sum of {} = 1", base);
    chart.data["parts"] = parts;
    chart.data["rows"] = std::move(rows);
    return html_chart(chart);
  }

 private:
  const result::StudyMetric& metric(const StudyComparison& c) const { return s_.metrics[c.metric]; }
  std::string part(const StudyComparison& c) const {
    return printable(metric(c).name.substr(family(metric(c).name).size() + 1));
  }
  void add(std::size_t k, std::size_t column, double sum, bool drawn, ChartData& rows,
           HtmlTable& table) const {
    const StudyComparison& first = *members_.front();
    const std::string label = joined(label_of(first.rows[k].kernel), label_of(first.columns[column]));
    std::size_t order = 0;
    for (const StudyComparison* c : members_) {
      const double value = c->rows[k].values[column];
      if (!std::isfinite(value)) continue;
      const std::string cycles = study_value(metric(*c), value);
      if (drawn)
        rows.push_back({{"label", label},
                        {"part", part(*c)},
                        {"value", value / sum},
                        {"order", order},
                        {"tip", fmt::format("{}\n{}: {} cycles, {}", label, part(*c), cycles,
                                            ratio_text(value / sum))}});
      ++order;
      table.rows.push_back({safe(first.rows[k].kernel), safe(first.columns[column]), safe(part(*c)),
                            html_escaped(cycles), ratio_text(value / sum)});
    }
  }

  const Study& s_;
  std::vector<const StudyComparison*> members_;
};

}  // namespace

std::string study_comparisons_html(const Study& study) {
  if (study.comparisons.empty()) return {};
  std::string out = "<section id=\"baseline\"><h2>Beside the baseline</h2>\n";
  std::vector<std::string_view> done;
  for (const StudyComparison& c : study.comparisons) {
    const result::StudyMetric& metric = study.metrics[c.metric];
    out += ComparisonCharts(study, c).run();
    if (c.speed_up || metric.unit != "cycles" || std::ranges::find(done, family(metric.name)) != done.end())
      continue;
    done.push_back(family(metric.name));
    std::vector<const StudyComparison*> members;
    for (const StudyComparison& other : study.comparisons)
      if (!other.speed_up && study.metrics[other.metric].unit == "cycles" &&
          family(study.metrics[other.metric].name) == done.back())
        members.push_back(&other);
    if (members.size() > 1) out += Parts(study, std::move(members)).run();
  }
  return out + "</section>\n";
}

}  // namespace simtlab::report
