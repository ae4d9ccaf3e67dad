// What other commands than `run` find, as charts: memories, curves, predictions; and a program over time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/cells.h"
#include "report/format.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Result;

std::string kernel_name_of(const KernelResult& k) {
  return printable(k.demangled.empty() ? k.name : k.demangled);
}

constexpr std::size_t slices_shown = 400;

}  // namespace

std::string html_program(const Result& result) {
  HtmlChart chart{
      "gantt",
      "Kernels over time",
      "Each launch from its first block to its end; kernels that overlap are on rows of their own.",
      {},
      {{"kernel", "begin#", "time#"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  std::vector<double> free_at;
  std::map<std::string, int> colours;
  double end = 0;
  for (const KernelResult& k : result.kernels) {
    const auto begin = k.metrics.get("gpu.begin"), time = k.metrics.get("gpu.time");
    if (!begin || !time || k.launches > 1 || chart.table.rows.size() == slices_shown) continue;
    auto row = std::ranges::find_if(free_at, [&](double at) { return at <= *begin; });
    const auto at = static_cast<std::size_t>(row - free_at.begin());
    if (row == free_at.end()) free_at.push_back(0);
    free_at[at] = *begin + *time;
    end = std::max(end, free_at[at]);
    const int colour = colours.emplace(k.name, static_cast<int>(colours.size())).first->second;
    chart.data["rows"].push_back({{"row", fmt::format("row {}", at + 1)},
                                  {"from", *begin / 1000},
                                  {"to", (*begin + *time) / 1000},
                                  {"label", shortened(kernel_name_of(k), 60)},
                                  {"colour", colour},
                                  {"tip", fmt::format("{}\nbegins at {}, takes {}", kernel_name_of(k),
                                                      format_time(*begin), format_time(*time))}});
    chart.table.rows.push_back(
        {html_escaped(kernel_name_of(k)), html_metric("gpu.begin", *begin), html_metric("gpu.time", *time)});
  }
  if (chart.table.rows.size() < 2) return {};
  chart.data["end"] = end / 1000;
  chart.data["x"] = "microseconds";
  return "<section id=\"timeline\"><h2>Kernels over time</h2>\n" + html_chart(chart) + "</section>\n";
}

std::string html_dram(const Result& result) {
  HtmlChart chart{"xy",
                  "Latency over bandwidth",
                  "A point a load: the mean latency of reads against what was reached of the peak. Where it "
                  "turns up the memory is full.",
                  {},
                  {{"load", "bandwidth#", "mean read latency#"}, {}, ""}};
  chart.data["lines"] = ChartData::array();
  chart.data["points"] = ChartData::array();
  double peak = 0, most = 0;
  for (const KernelResult& k : result.kernels) {
    const auto bandwidth = k.metrics.get("dram.bandwidth"), latency = k.metrics.get("dram.read.latency.mean");
    if (!bandwidth || !latency) continue;
    peak = std::max(peak, k.metrics.get("dram.bandwidth.peak").value_or(0));
    most = std::max(most, *bandwidth);
    chart.data["lines"].push_back({{"series", "loads"}, {"x", *bandwidth}, {"y", *latency}});
    chart.data["points"].push_back({{"series", "loads"},
                                    {"x", *bandwidth},
                                    {"y", *latency},
                                    {"tip", fmt::format("{}: {}, {:.0f} cycles", kernel_name_of(k),
                                                        format_rate(*bandwidth), *latency)}});
    chart.table.rows.push_back({html_escaped(kernel_name_of(k)), html_metric("dram.bandwidth", *bandwidth),
                                html_metric("dram.read.latency.mean", *latency)});
  }
  if (chart.table.rows.size() < 3) return {};
  chart.data["x"] = {{"title", "bytes per second"}, {"format", "~s"}};
  chart.data["y"] = {{"title", "cycles"}, {"format", "~s"}};
  if (peak > 0 && peak < most * 3) {
    chart.data["x"]["domain"] = {0, peak * 1.02};
    chart.data["rules"] = {{{"x", peak}, {"label", "peak " + format_rate(peak)}}};
  }
  return "<section id=\"load\"><h2>Latency over load</h2>\n" + html_chart(chart) + "</section>\n";
}

std::string html_probe(const Result& result) {
  HtmlChart chart{"xy",
                  "Levels of the curve",
                  "Latency over the footprint: levels, and dashed lines where one ends.",
                  {},
                  {{"level", "from#", "to#", "latency#", "interval", "ends at#"}, {}, ""}};
  chart.data["lines"] = ChartData::array();
  chart.data["rules"] = ChartData::array();
  double least = 0, most = 0;
  for (const KernelResult& k : result.kernels) {
    const auto first = k.metrics.get("probe.level.first"), last = k.metrics.get("probe.level.last"),
               latency = k.metrics.get("probe.level.latency");
    if (!first || !last || !latency || *first <= 0) continue;
    least = least == 0 ? *first : std::min(least, *first);
    most = std::max(most, *last);
    for (const double x : {*first, *last})
      chart.data["lines"].push_back({{"series", "level"}, {"x", x}, {"y", *latency}});
    const auto edge = k.metrics.get("probe.edge.size");
    if (edge && *edge > 0) chart.data["rules"].push_back({{"x", *edge}, {"label", format_bytes(*edge)}});
    chart.table.rows.push_back({html_escaped(kernel_name_of(k)), html_metric(k.metrics, "probe.level.first"),
                                html_metric(k.metrics, "probe.level.last"),
                                html_metric(k.metrics, "probe.level.latency"),
                                fmt::format("{} to {}", html_metric(k.metrics, "probe.level.latency.low"),
                                            html_metric(k.metrics, "probe.level.latency.high")),
                                html_metric(k.metrics, "probe.edge.size")});
  }
  if (chart.table.rows.empty()) return {};
  // The points of the curve, behind its first level: with them levels are bars.
  ChartData points = ChartData::array();
  double highest = 0;
  for (const KernelResult& k : result.kernels)
    if (const result::Table* t = result::find(k.tables, "curves"))
      for (std::size_t r = 0; r < t->rows.size(); ++r) {
        const double x = number(*t, r, "x"), y = number(*t, r, "y");
        if (x <= 0) continue;
        least = std::min(least, x);
        most = std::max(most, x);
        highest = std::max(highest, y);
        points.push_back({{"series", "cycles"},
                          {"x", x},
                          {"y", y},
                          {"tip", fmt::format("{}: {:.6g} cycles", format_bytes(x), y)}});
        chart.table.rows.push_back(
            {"point", html_escaped(format_bytes(x)), "", fmt::format("{:.6g}", y), "", ""});
      }
  chart.data["x"] = {{"title", "footprint"},
                     {"log", true},
                     {"base", 2},
                     {"bytes", true},
                     {"domain", {least, std::max(most, least * 2)}}};
  chart.data["y"] = {{"title", "cycles"}};
  if (!points.empty()) {
    chart.data["levels"] = ChartData::array();
    for (std::size_t i = 0; i + 1 < chart.data["lines"].size(); i += 2) {
      const double y = chart.data["lines"][i]["y"];
      const std::string label = fmt::format("{:.5g} cycles", y);
      chart.data["levels"].push_back({{"x", chart.data["lines"][i]["x"]},
                                      {"x2", chart.data["lines"][i + 1]["x"]},
                                      {"y", y},
                                      {"label", label},
                                      {"tip", fmt::format("level {}: {}", i / 2 + 1, label)}});
    }
    chart.data["lines"] = points;
    chart.data["points"] = std::move(points);
    chart.data["small"] = true;
    chart.data["x"]["domain"] = {least / 1.05, std::max(most, least * 2) * 1.05};
    chart.data["y"]["domain"] = {0, highest * 1.12};
  }
  return "<section id=\"levels\"><h2>Levels</h2>\n" + html_chart(chart) + "</section>\n";
}

std::string html_predictions(const KernelResult& k) {
  const result::Table* t = result::find(k.tables, "predictions");
  if (t == nullptr || t->rows.empty()) return {};
  HtmlChart chart{"bars",
                  "Models side by side",
                  "What each analytical model says of the time.",
                  {},
                  {{"model", "time#", "case", "limited by", "floor#"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  chart.data["x"] = "nanoseconds";  // of long ones microseconds, below
  for (std::size_t r = 0; r < t->rows.size(); ++r) {
    const double time = number(*t, r, "time");
    const std::string model = words(*t, r, "model"), limit = words(*t, r, "limit");
    chart.data["rows"].push_back(
        {{"label", model},
         {"value", time},
         {"text", format_time(time)},
         {"tip", fmt::format("{} ({}): {}\n{}; limited by {}", model, words(*t, r, "authors"),
                             format_time(time), words(*t, r, "case"), limit)}});
    chart.table.rows.push_back({html_escaped(printable(model)),
                                html_metric(fmt::format("predict.{}.time", model), time),
                                html_escaped(printable(words(*t, r, "case"))), html_escaped(printable(limit)),
                                fmt::format("{:.6g} cycles", number(*t, r, "floor"))});
  }
  if (const auto simulated = k.metrics.get("gpu.time"))
    chart.data["rows"].push_back({{"label", "simulated"},
                                  {"value", *simulated},
                                  {"text", format_time(*simulated)},
                                  {"tip", "cycle by cycle"},
                                  {"colour", 1}});
  double longest = 0;
  for (const ChartData& row : chart.data["rows"]) longest = std::max(longest, row["value"].get<double>());
  if (longest >= 1e4) {
    chart.data["x"] = "microseconds";
    for (ChartData& row : chart.data["rows"]) row["value"] = row["value"].get<double>() / 1000;
  }
  chart.heading = true;
  return html_chart(chart);
}

}  // namespace simtlab::report
