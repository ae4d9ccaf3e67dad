// Tables of a cache study as charts, and any other table as it is.
#include <fmt/format.h>

#include <algorithm>

#include "report/cells.h"
#include "report/format.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Table;

constexpr std::size_t rows_shown = 500;

std::string cell_html(const result::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return html_escaped(printable(*text));
  if (std::holds_alternative<std::monostate>(cell)) return "";
  return fmt::format("{:.6g}", result::number(cell));
}

HtmlTable whole(const Table& t) {
  const result::TableDeclaration* d = result::find_table(t.name);
  HtmlTable out{{}, {}, ""};
  for (std::size_t i = 0; i < d->columns.size(); ++i)
    out.head.push_back(std::string(d->columns[i].name) + (d->columns[i].unit.empty() ? "" : "#"));
  for (std::size_t r = 0; r < std::min(t.rows.size(), rows_shown); ++r) {
    std::vector<std::string> cells;
    for (const result::Cell& c : t.rows[r]) cells.push_back(cell_html(c));
    out.rows.push_back(std::move(cells));
  }
  return out;
}

std::string left_out(const Table& t) {
  return t.rows.size() > rows_shown
             ? fmt::format("<p class=\"muted\">{} more rows are in the result file.</p>\n",
                           t.rows.size() - rows_shown)
             : "";
}

std::string misses(const KernelResult& k) {
  HtmlChart chart{"stacked",
                  "Why L1 and L2 missed",
                  "Reads that missed, by the reason.",
                  {},
                  {{"level", "reason", "misses#"}, {}, ""}};
  const std::vector<std::string> reasons = {"cold", "partial", "capacity", "conflict", "invalidated"};
  chart.data["parts"] = reasons;
  chart.data["rows"] = ChartData::array();
  chart.data["x"] = "misses";
  chart.data["format"] = "~s";
  for (const char* level : {"l1", "l2"})
    for (std::size_t i = 0; i < reasons.size(); ++i) {
      const std::string name = fmt::format("{}.read.misses.{}", level, reasons[i]);
      const auto value = k.metrics.get(name);
      if (!value) continue;
      chart.data["rows"].push_back(
          {{"label", level},
           {"part", reasons[i]},
           {"order", i},
           {"value", *value},
           {"tip", fmt::format("{}: {}\n{}", name, format_count(*value), result::find_metric(name)->doc)}});
      chart.table.rows.push_back({level, reasons[i], html_metric(name, *value)});
    }
  return html_chart(chart);
}

std::string set_pictures(const Table& t) {
  HtmlChart chart{"heat",
                  "Misses by SM and set",
                  "How the misses of L1 spread over its sets; a stripe is a set that many addresses share.",
                  {},
                  whole(t)};
  chart.data["rows"] = ChartData::array();
  double columns = 0, lines = 0;
  for (std::size_t r = 0; r < t.rows.size(); ++r) {
    const double set = number(t, r, "set"), sm = number(t, r, "sm"), value = number(t, r, "misses");
    columns = std::max(columns, set + 1);
    lines = std::max(lines, sm + 1);
    chart.data["rows"].push_back({{"x", set},
                                  {"y", sm},
                                  {"value", value},
                                  {"tip", fmt::format("SM {}, set {}: {} misses of {} reads", sm, set, value,
                                                      number(t, r, "accesses"))}});
  }
  chart.data["columns"] = columns;
  chart.data["lines"] = lines;
  chart.data["x"] = "set";
  chart.data["y"] = "SM";
  chart.data["value"] = "misses";
  return html_chart(chart) + left_out(t);
}

std::string sets(const Table& t) {
  HtmlChart chart{"xy", "Misses by set", "Summed over the SMs; even sets are used evenly.", {}, whole(t)};
  chart.data["lines"] = ChartData::array();
  chart.data["x"] = {{"title", "set of L1"}, {"nice", false}};
  chart.data["y"] = {{"title", "reads"}, {"format", "~s"}};
  for (const char* what : {"accesses", "misses", "conflicts"})
    for (std::size_t r = 0; r < t.rows.size(); ++r)
      chart.data["lines"].push_back(
          {{"series", what}, {"x", number(t, r, "set")}, {"y", number(t, r, what)}});
  return html_chart(chart) + left_out(t);
}

std::string reuse(const Table& t) {
  HtmlChart chart{
      "bars",
      "Reuse distances in L1",
      "How many other lines an SM read since it read a line last; what lies beyond the capacity misses.",
      {},
      whole(t)};
  chart.data["rows"] = ChartData::array();
  chart.data["x"] = "line reads";
  chart.data["format"] = "~s";
  for (std::size_t r = 0; r < t.rows.size(); ++r) {
    const double from = number(t, r, "from"), to = number(t, r, "to"), value = number(t, r, "accesses");
    const bool never = std::holds_alternative<std::monostate>(cell(t, r, "from"));  // cold
    const std::string label = never        ? "never before"
                              : from == to ? fmt::format("{:.0f}", from)
                                           : fmt::format("{} to {}", format_count(from), format_count(to));
    chart.data["rows"].push_back(
        {{"label", label},
         {"value", value},
         {"text", format_count(value)},
         {"colour", never ? 7 : 0},
         {"tip", fmt::format("{}{}: {} reads", label, never ? "" : " lines between", format_count(value))}});
  }
  return html_chart(chart) + left_out(t);
}

std::string miss_ratio(const Table& t) {
  HtmlChart chart{"xy",
                  "Misses over capacity",
                  "What fully associative LRU caches of other sizes would miss.",
                  {},
                  whole(t)};
  chart.data["lines"] = ChartData::array();
  double least = 0, most = 0;
  for (std::size_t r = 0; r < t.rows.size(); ++r)
    if (const double bytes = number(t, r, "bytes"); bytes > 0)
      least = least == 0 ? bytes : std::min(least, bytes), most = std::max(most, bytes);
  chart.data["x"] = {{"title", "capacity"},
                     {"log", true},
                     {"base", 2},
                     {"bytes", true},
                     {"domain", {least, std::max(most, least * 2)}}};
  chart.data["y"] = {{"title", "share that misses"}, {"format", ".0%"}, {"domain", {0, 1.02}}};
  for (std::size_t r = 0; r < t.rows.size(); ++r)
    if (number(t, r, "bytes") > 0)
      chart.data["lines"].push_back(
          {{"series", words(t, r, "cache")}, {"x", number(t, r, "bytes")}, {"y", number(t, r, "ratio")}});
  return chart.data["lines"].empty() ? "" : html_chart(chart) + left_out(t);
}

std::string points(const Table& t) {
  HtmlChart chart{"xy",
                  "Accesses of one SM",
                  "Single accesses, evenly over the run: offset in the buffer over their order.",
                  {},
                  whole(t)};
  chart.data["points"] = ChartData::array();
  chart.data["x"] = {{"title", "order"}, {"format", "~s"}};
  chart.data["y"] = {{"title", "offset (bytes)"}, {"format", "~s"}};
  for (std::size_t r = 0; r < std::min<std::size_t>(t.rows.size(), 3000); ++r)
    chart.data["points"].push_back(
        {{"series", words(t, r, "buffer") + (number(t, r, "store") != 0 ? ", stores" : "")},
         {"x", number(t, r, "order")},
         {"y", number(t, r, "offset")},
         {"tip", fmt::format("thread {}, offset {}", number(t, r, "thread"), number(t, r, "offset"))}});
  return html_chart(chart) + left_out(t);
}

}  // namespace

std::string html_other_table(const Table& t) {
  const result::TableDeclaration* d = result::find_table(t.name);
  if (t.rows.empty()) return {};
  return fmt::format("<details class=\"data\"><summary>{}: {} ({} rows)</summary>\n{}{}</details>\n",
                     html_escaped(t.name), html_escaped(d->doc), t.rows.size(), html_table(whole(t)),
                     left_out(t));
}

std::string html_cache(const KernelResult& k) {
  std::string out = k.metrics.get("l1.read.misses.cold") ? misses(k) : "", rest;
  for (const Table& t : k.tables) {
    const std::string chart = t.name == "set_map"      ? set_pictures(t)
                              : t.name == "sets"       ? sets(t)
                              : t.name == "reuse"      ? reuse(t)
                              : t.name == "miss_ratio" ? miss_ratio(t)
                              : t.name == "points"     ? points(t)
                                                       : "";
    // Drawn with its window; at the kernel's head
    if (t.name == "sm_timeline" || t.name == "warnings") continue;
    out += chart;
    if (t.name == "advice")
      for (std::size_t r = 0; r < t.rows.size(); ++r)
        out += fmt::format("<p>{} <span class=\"muted\">({} of the traffic)</span></p>\n",
                           html_escaped(printable(words(t, r, "text"))), format_share(number(t, r, "share")));
    else if (chart.empty())
      rest += html_other_table(t);
  }
  return out.empty() && rest.empty() ? "" : "<h3>What was counted</h3>\n" + out + rest;
}

}  // namespace simtlab::report
