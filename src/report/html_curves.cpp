// What a probe of a board found: a table of the findings, and a chart for every curve that was measured for
// them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/cells.h"
#include "report/format.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::Cell;
using result::Table;
using Tables = std::vector<Table>;

constexpr std::size_t points_shown = 5000, curves_shown = 400;

struct Curve {
  std::string name, x, y;
  std::vector<std::pair<double, double>> points;
  std::vector<std::size_t> knees, levels, findings;  // rows of the tables
  bool marked() const { return !knees.empty() || !levels.empty(); }
};

std::vector<Curve> curves_of(const Tables& tables) {
  std::vector<Curve> out;
  std::map<std::string, std::size_t> at;
  const Table* curves = result::find(tables, "curves");
  for (std::size_t r = 0; curves != nullptr && r < curves->rows.size(); ++r) {
    const std::string name = words(*curves, r, "curve");
    const auto [place, is_new] = at.emplace(name, out.size());
    if (is_new)
      out.push_back({name, words(*curves, r, "x.name"), words(*curves, r, "y.name"), {}, {}, {}, {}});
    out[place->second].points.emplace_back(number(*curves, r, "x"), number(*curves, r, "y"));
  }
  const auto add = [&](const char* table, std::vector<std::size_t> Curve::*rows) {
    const Table* t = result::find(tables, table);
    for (std::size_t r = 0; t != nullptr && r < t->rows.size(); ++r)
      if (const auto place = at.find(words(*t, r, "curve")); place != at.end())
        (out[place->second].*rows).push_back(r);
  };
  add("knees", &Curve::knees);
  add("levels", &Curve::levels);
  add("findings", &Curve::findings);
  return out;
}

std::string group_of(const std::string& name) { return name.substr(0, name.find('.')); }

bool in_bytes(const std::string& what) { return what == "bytes"; }

// An x or a y as people read it.
std::string value_of(double v, const std::string& what) {
  if (in_bytes(what)) return format_bytes(v);
  if (what == "ns") return format_time(v);
  if (what == "B/s") return format_rate(v);
  return what.empty() ? fmt::format("{:.6g}", v) : fmt::format("{:.6g} {}", v, what);
}

// Sizes go up in ratios; so do times and rates that span decades.
bool goes_in_ratios(const Curve& c, bool vertical) {
  double low = 0, high = 0;
  for (const auto& [x, y] : c.points) {
    const double v = vertical ? y : x;
    if (v <= 0) return false;
    low = low == 0 ? v : std::min(low, v);
    high = std::max(high, v);
  }
  if (vertical) return high > 50 * low;
  return high > 8 * low && (in_bytes(c.x) || c.x.starts_with("pages"));
}

ChartData axis_of(const Curve& c, bool vertical) {
  const std::string& what = vertical ? c.y : c.x;
  ChartData out = {{"title", what.empty() ? (vertical ? "y" : "x") : what}, {"format", "~s"}};
  if (what == "cycles" || what == "warps" || what == "threads" || what == "lines") out["format"] = ",.12~g";
  if (in_bytes(what)) out["bytes"] = true;
  double low = 0, high = 0;
  for (const auto& [x, y] : c.points) {
    const double v = vertical ? y : x;
    low = low == 0 ? v : std::min(low, v);
    high = std::max(high, v);
  }
  if (goes_in_ratios(c, vertical)) {
    const double margin = std::max(1.02, std::pow(high / low, 0.015));
    out["log"] = true;
    out["base"] = vertical ? 10 : 2;
    out["domain"] = vertical ? ChartData{low / 1.5, high * 1.5} : ChartData{low / margin, high * margin};
  } else if (vertical && high > 0) {
    out["domain"] = {0, high * 1.12};  // a level's name has room
  } else if (!vertical) {
    // From 0 unless all is far from it, and a little more than the points take.
    const double from = low < high / 3 || low == high ? std::min(low, 0.0) : low,
                 span = std::max(high - from, 1e-9);
    out["zero"] = false;
    out["domain"] = {from - 0.02 * span, high + 0.03 * span};
  }
  return out;
}

std::string confidence_of(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell)
             ? ""
             : fmt::format("{:.0f} % interval", 100 * result::number(cell));
}

// Levels as plateaus, steps and other places as rules; both in the table, too.
void mark(const Curve& c, const Tables& tables, HtmlChart& chart) {
  chart.data["levels"] = ChartData::array();
  chart.data["rules"] = ChartData::array();
  std::size_t level = 0;
  if (const Table* t = result::find(tables, "levels"))
    for (const std::size_t r : c.levels) {
      const double first = number(*t, r, "first"), last = number(*t, r, "last"), y = number(*t, r, "y"),
                   low = number(*t, r, "low"), high = number(*t, r, "high");
      const std::string interval = fmt::format("{:.6g} to {:.6g}", low, high),
                        name = fmt::format("level {}", ++level);
      std::string tip = fmt::format("{}: {}\n{}: {}\nfrom {} to {}, {:.0f} points", name, value_of(y, c.y),
                                    confidence_of(cell(*t, r, "confidence")), interval, value_of(first, c.x),
                                    value_of(last, c.x), number(*t, r, "points"));
      if (!std::holds_alternative<std::monostate>(cell(*t, r, "p")))
        tip += fmt::format("\nchance alone parts it so well from the level before with p = {:.3g}",
                           number(*t, r, "p"));
      chart.data["levels"].push_back({{"x", first},
                                      {"x2", last},
                                      {"y", y},
                                      {"label", fmt::format("{:.5g} {}", y, printable(c.y))},
                                      {"tip", tip}});
      chart.table.rows.push_back(
          {name, html_escaped(fmt::format("{} to {}", value_of(first, c.x), value_of(last, c.x))),
           html_escaped(value_of(y, c.y)), html_escaped(interval), confidence_of(cell(*t, r, "confidence"))});
    }
  if (const Table* t = result::find(tables, "knees"))
    for (const std::size_t r : c.knees) {
      const double x = number(*t, r, "x"), low = number(*t, r, "low"), high = number(*t, r, "high");
      const bool interval = low > 0 && high > low;
      const std::string what = printable(words(*t, r, "what")),
                        between =
                            interval ? fmt::format("{} to {}", value_of(low, c.x), value_of(high, c.x)) : "";
      const bool edge = what == "rises" || what == "falls";
      ChartData rule = {
          {"x", x},
          {"label", edge ? value_of(x, c.x) : fmt::format("{}: {}", what, value_of(x, c.x))},
          {"tip", fmt::format("{}: {}{}", what, value_of(x, c.x), interval ? "\ninterval: " + between : "")}};
      if (interval) rule["low"] = low, rule["high"] = high;
      chart.data["rules"].push_back(std::move(rule));
      chart.table.rows.push_back(
          {html_escaped(what), html_escaped(value_of(x, c.x)), "", html_escaped(between), ""});
    }
}

std::string chart_of(const Curve& c, const Tables& tables) {
  std::string read;
  if (const Table* t = result::find(tables, "findings"))
    for (const std::size_t r : c.findings)
      read += (read.empty() ? "Read from it: " : ", ") + printable(words(*t, r, "key"));
  const std::string y = printable(c.y), x = printable(c.x);
  HtmlChart chart{
      "xy",
      printable(c.name),
      fmt::format("{} over {}, {} point{}{}. {}", y.empty() ? "Measured" : y, x, c.points.size(),
                  c.points.size() == 1 ? "" : "s",
                  c.marked() ? "; found: bars are levels, dashed lines where something changes" : "", read),
      {},
      {{"what", x + "#", y + "#", "interval#", "confidence"}, {}, ""}};
  mark(c, tables, chart);
  chart.data["lines"] = ChartData::array();
  chart.data["points"] = ChartData::array();
  chart.data["small"] = c.points.size() > 12;
  const std::size_t every = c.points.size() / points_shown + 1;
  for (std::size_t i = 0; i < c.points.size(); i += every) {
    const auto& [px, py] = c.points[i];
    chart.data["lines"].push_back({{"series", y}, {"x", px}, {"y", py}});
    chart.data["points"].push_back({{"series", y},
                                    {"x", px},
                                    {"y", py},
                                    {"tip", fmt::format("{}: {}", value_of(px, c.x), value_of(py, c.y))}});
    chart.table.rows.push_back(
        {"point", html_escaped(value_of(px, c.x)), html_escaped(value_of(py, c.y)), "", ""});
  }
  chart.data["x"] = axis_of(c, false);
  chart.data["y"] = axis_of(c, true);
  return html_chart(chart) +
         (every > 1 ? fmt::format("<p class=\"muted\">Every {}th of {} points.</p>\n", every, c.points.size())
                    : "");
}

std::string option(const std::string& value, const std::string& text, bool chosen = false) {
  return fmt::format("<option value=\"{}\"{}>{}</option>\n", value, chosen ? " selected" : "",
                     html_escaped(text));
}

// The box that chooses: those with marks, a group, or one.
std::string index_of(const std::vector<Curve>& curves, const std::vector<std::string>& groups) {
  const auto marked = static_cast<std::size_t>(std::ranges::count_if(curves, &Curve::marked));
  std::string out =
      "<p class=\"filter\"><label for=\"curve-choice\">Show </label><select id=\"curve-choice\" "
      "data-choose=\".curve\" aria-describedby=\"curve-choice-count\">\n";
  out += option("", fmt::format("all curves ({})", curves.size()));
  if (marked > 0)
    out += option("marked", fmt::format("those with levels or knees ({})", marked), curves.size() > 6);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    out += fmt::format("<optgroup label=\"{}\">\n", html_escaped(printable(groups[g])));
    const auto many = std::ranges::count(curves, groups[g], [](const Curve& c) { return group_of(c.name); });
    if (many > 1) out += option(fmt::format("g{}", g), fmt::format("{}: all {}", printable(groups[g]), many));
    for (std::size_t i = 0; i < curves.size(); ++i)
      if (group_of(curves[i].name) == groups[g])
        out += option(fmt::format("c{}", i), printable(curves[i].name));
    out += "</optgroup>\n";
  }
  return out + "</select> <span id=\"curve-choice-count\" role=\"status\" class=\"muted\"></span></p>\n";
}

std::string findings(const Table& t) {
  HtmlTable table{{"key", "value#", "interval#", "confidence#", "samples#", "how, or why not"},
                  {},
                  "finding-row",
                  "findings",
                  {"key", "value", "low", "confidence", "samples", "method"}};
  std::size_t known = 0;
  for (std::size_t r = 0; r < t.rows.size(); ++r) {
    const std::string word = words(t, r, "word"), unit = words(t, r, "unit"),
                      unknown = words(t, r, "unknown");
    const auto has = [&](const char* column) {
      return !std::holds_alternative<std::monostate>(cell(t, r, column));
    };
    const std::string value = !word.empty()  ? word
                              : has("value") ? value_of(number(t, r, "value"), unit == "B" ? "bytes" : unit)
                                             : "";
    // A slope says so itself.
    const std::string correction = words(t, r, "correction"),
                      corrected =
                          correction.empty() || correction == "slope" ? "" : "; correction: " + correction;
    known += unknown.empty() ? 1 : 0;
    table.rows.push_back({fmt::format("<code>{}</code>", html_escaped(printable(words(t, r, "key")))),
                          html_escaped(printable(value)),
                          has("low") && number(t, r, "low") != number(t, r, "high")
                              ? fmt::format("{:.5g} to {:.5g}", number(t, r, "low"), number(t, r, "high"))
                              : "",
                          has("confidence") ? format_share(number(t, r, "confidence")) : "",
                          fmt::format("{:.0f}", number(t, r, "samples")),
                          html_escaped(printable(unknown.empty() ? words(t, r, "method") + corrected
                                                                 : "not known: " + unknown))});
  }
  return fmt::format(
             "<section id=\"findings\"><h2>What was found</h2>\n<p>{} values are known, {} are not.</p>\n",
             known, t.rows.size() - known) +
         "<p class=\"filter\"><label for=\"finding-filter\">Show rows that contain: </label><input "
         "type=\"search\" id=\"finding-filter\" data-filter=\"tr.finding-row\" "
         "aria-describedby=\"finding-filter-count\"> <span id=\"finding-filter-count\" role=\"status\" "
         "class=\"muted\"></span></p>\n<details class=\"data\"><summary>" +
         fmt::format("{} findings", t.rows.size()) + "</summary>\n" + html_table(table) +
         "</details></section>\n";
}

}  // namespace

std::string html_curves(const result::Result& result) {
  std::string out;
  for (const result::KernelResult& k : result.kernels) {
    // Of an analysed curve, which has a chart of its own
    if (k.metrics.get("probe.level.latency")) continue;
    std::vector<Curve> curves = curves_of(k.tables);
    if (!curves.empty()) {
      const std::size_t all = curves.size();
      if (all > curves_shown) curves.resize(curves_shown);
      std::vector<std::string> groups;
      for (const Curve& c : curves)
        if (std::ranges::find(groups, group_of(c.name)) == groups.end()) groups.push_back(group_of(c.name));
      out += "<section id=\"curves\"><h2>Measured curves</h2>\n" + index_of(curves, groups);
      for (std::size_t i = 0; i < curves.size(); ++i) {
        const auto group = std::ranges::find(groups, group_of(curves[i].name)) - groups.begin();
        out += fmt::format("<div class=\"curve\" data-tags=\"c{} g{}{}\">\n{}</div>\n", i, group,
                           curves[i].marked() ? " marked" : "", chart_of(curves[i], k.tables));
      }
      if (all > curves_shown)
        out += fmt::format("<p class=\"warning\">{} more curves are in the result file.</p>\n",
                           all - curves_shown);
      out += "</section>\n";
    }
    if (const Table* t = result::find(k.tables, "findings")) out += findings(*t);
    if (!out.empty()) break;  // of one board
  }
  return out;
}

}  // namespace simtlab::report
