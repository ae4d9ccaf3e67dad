// What validations found: ours over the reference, as charts, and the rows by area.
#include <fmt/format.h>

#include <algorithm>

#include "report/cells.h"
#include "report/format.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Result;
using result::Table;

constexpr std::size_t least_points = 3;  // of a chart

std::string case_name(const KernelResult& k) { return printable(k.demangled.empty() ? k.name : k.demangled); }

// Without what every entry's name begins with.
std::string area_name(const KernelResult& k) {
  const std::string name = case_name(k), prefix = "validation of ";
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::string error_share(const KernelResult& k, const char* metric) {
  return fmt::format("{:.1f} %", 100 * k.metrics.get(metric).value_or(0));
}

// Both axes the same, with the line on which ours is the reference.
void with_diagonal(HtmlChart& chart, double low, double high, const char* x, const char* y) {
  const double from = low / 1.3, to = high * 1.3;
  chart.data["lines"] = {{{"series", "equal"}, {"x", from}, {"y", from}},
                         {{"series", "equal"}, {"x", to}, {"y", to}}};
  for (const char* axis : {"x", "y"})
    chart.data[axis] = {
        {"title", axis[0] == 'x' ? x : y}, {"log", true}, {"format", ".3~s"}, {"domain", {from, to}}};
}

// Curves and kernels of the cycle-level model.
std::string measured_charts(const Result& result) {
  std::string out;
  for (const char* what : {"latency", "bandwidth", "knee", "kernel"}) {
    HtmlChart chart{"xy",
                    fmt::format("Simulated over measured: {}", what),
                    "On the line the simulator is right; both axes are logarithmic.",
                    {},
                    {{"case", "measured#", "simulated#", "error#"}, {}, ""}};
    chart.data["points"] = ChartData::array();
    double low = 0, high = 0;
    const std::string prefix = fmt::format("validate.{}.", what);
    for (const KernelResult& k : result.kernels) {
      const auto x = k.metrics.get(prefix + "measured"), y = k.metrics.get(prefix + "simulated");
      if (!x || !y || *x <= 0 || *y <= 0) continue;
      low = low == 0 ? std::min(*x, *y) : std::min({low, *x, *y});
      high = std::max({high, *x, *y});
      chart.data["points"].push_back({{"series", what},
                                      {"x", *x},
                                      {"y", *y},
                                      {"tip", fmt::format("{}\nmeasured {:.5g}, simulated {:.5g}: {:+.1f} %",
                                                          case_name(k), *x, *y, (*y / *x - 1) * 100)}});
      chart.table.rows.push_back({html_escaped(case_name(k)), html_metric(prefix + "measured", *x),
                                  html_metric(prefix + "simulated", *y),
                                  fmt::format("{:+.1f} %", (*y / *x - 1) * 100)});
    }
    if (chart.table.rows.empty()) continue;
    with_diagonal(chart, low, high, "measured", "simulated");
    out += html_chart(chart);
  }
  return out;
}

// Rows of one table in their own unit.
std::string text_in(const Table& t, std::size_t row, const char* column) {
  const result::Cell& c = cell(t, row, column);
  if (std::holds_alternative<std::monostate>(c)) return "-";
  const double v = result::number(c);
  const std::string unit = words(t, row, "unit");
  if (unit == "bytes") return format_bytes(v);
  if (unit == "bytes/s") return format_rate(v);
  if (unit == "share") return format_share(v);
  return html_escaped(fmt::format("{:.6g}{}", v, unit == "1" || unit.empty() ? "" : " " + printable(unit)));
}

std::string reference_in(const Table& t, std::size_t row) {
  const bool low = !std::holds_alternative<std::monostate>(cell(t, row, "low")),
             high = !std::holds_alternative<std::monostate>(cell(t, row, "high"));
  if (!low && !high) return "-";
  if (!high) return "at least " + text_in(t, row, "low");
  if (!low) return "at most " + text_in(t, row, "high");
  if (number(t, row, "low") == number(t, row, "high")) return text_in(t, row, "low");
  return fmt::format("{} to {}", text_in(t, row, "low"), text_in(t, row, "high"));
}

// Whole rows; the head is that of every chart and table below.
std::vector<std::string> row_cells(const Table& t, std::size_t r) {
  const auto text = [&](const char* name) { return html_escaped(printable(words(t, r, name))); };
  const auto share = [&](const char* name) {
    return std::holds_alternative<std::monostate>(cell(t, r, name))
               ? std::string()
               : fmt::format("{:.1f} %", 100 * number(t, r, name));
  };
  return {text("group"),      text("device"),        text("quantity"),
          reference_in(t, r), text_in(t, r, "ours"), fmt::format("{:+.1f} %", 100 * number(t, r, "error")),
          share("worst"),     text("met"),           text("role"),
          text("source"),     text("note")};
}
const std::vector<std::string> row_head = {"group",  "device", "what", "reference#",     "ours#", "error#",
                                           "worst#", "target", "role", "reference from", "note"};

// Single values of one unit: ours over the reference.
std::string unit_chart(const std::string& area, const std::string& unit, const Table& t) {
  HtmlChart chart{"xy",
                  fmt::format("{}: ours over the reference, {}", area, unit == "1" ? "no unit" : unit),
                  "On the line they are the same; both axes are logarithmic.",
                  {},
                  {row_head, {}, ""}};
  chart.data["points"] = ChartData::array();
  double low = 0, high = 0;
  for (std::size_t r = 0; r < t.rows.size(); ++r) {
    const double x = number(t, r, "low"), y = number(t, r, "ours");
    if (words(t, r, "unit") != unit || x <= 0 || y <= 0 || x != number(t, r, "high")) continue;
    low = low == 0 ? std::min(x, y) : std::min({low, x, y});
    high = std::max({high, x, y});
    chart.data["points"].push_back(
        {{"series", words(t, r, "role")},
         {"x", x},
         {"y", y},
         {"tip",
          fmt::format("{}, {}\nreference {:.5g}, ours {:.5g}: {:+.1f} %", printable(words(t, r, "device")),
                      printable(words(t, r, "quantity")), x, y, (y / x - 1) * 100)}});
    chart.table.rows.push_back(row_cells(t, r));
  }
  if (chart.table.rows.size() < least_points) return {};
  with_diagonal(chart, low, high, "reference", "ours");
  return html_chart(chart);
}

std::string area_section(const KernelResult& k, const Table& t) {
  const std::string area = area_name(k);
  std::string out = fmt::format("<h3>{}</h3>\n", html_escaped(area));
  std::vector<std::string> units;
  for (std::size_t r = 0; r < t.rows.size(); ++r)
    if (const std::string unit = words(t, r, "unit"); std::ranges::find(units, unit) == units.end())
      units.push_back(unit);
  for (const std::string& unit : units) out += unit_chart(area, unit, t);
  HtmlTable table{row_head, {}, ""};
  for (std::size_t r = 0; r < t.rows.size(); ++r) table.rows.push_back(row_cells(t, r));
  return out + fmt::format("<details><summary>All {} rows</summary>\n{}</details>\n", t.rows.size(),
                           html_table(table));
}

}  // namespace

std::string html_validation(const Result& result) {
  std::string out = measured_charts(result), areas;
  HtmlTable overview{{"area", "rows#", "targets#", "missed#", "median error#", "worst error#"}, {}, ""};
  for (const KernelResult& k : result.kernels) {
    const Table* t = result::find(k.tables, "validation");
    if (t == nullptr || t->rows.empty()) continue;
    std::size_t targets = 0, missed = 0;
    for (std::size_t r = 0; r < t->rows.size(); ++r)
      targets += words(*t, r, "met").empty() ? 0 : 1, missed += words(*t, r, "met") == "missed" ? 1 : 0;
    overview.rows.push_back({html_escaped(area_name(k)), fmt::format("{}", t->rows.size()),
                             fmt::format("{}", targets), fmt::format("{}", missed),
                             error_share(k, "validate.error.median"),
                             error_share(k, "validate.error.worst")});
    areas += area_section(k, *t);
  }
  if (!overview.rows.empty()) out = html_table(overview) + areas + out;
  return out.empty() ? ""
                     : "<section id=\"validation\"><h2>Ours and the references</h2>\n" + out + "</section>\n";
}

}  // namespace simtlab::report
