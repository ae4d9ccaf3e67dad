// The section of a kernel in the HTML report.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/format.h"
#include "report/glossary.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;

std::vector<std::pair<double, std::string>> family(const Metrics& metrics, std::string_view prefix) {
  std::vector<std::pair<double, std::string>> out;
  for (const Metrics::Value& v : metrics.values())
    if (v.name.starts_with(prefix) && v.name.size() > prefix.size())
      out.emplace_back(*metrics.get(v.name), v.name);
  std::ranges::sort(out, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return out;
}

// Shares as bars with the table of the same numbers.
HtmlChart share_bars(std::string title, std::string description,
                     const std::vector<std::pair<double, std::string>>& values, std::size_t skip) {
  HtmlChart chart{
      "bars", std::move(title), std::move(description), {}, {{"metric", "share#", "meaning"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  chart.data["domain"] = {0, 1};
  chart.data["format"] = ".0%";
  for (const auto& [value, name] : values) {
    const result::MetricDeclaration* d = result::find_metric(name);
    const Term* term = find_term(stall_reasons(), name.substr(std::min(skip, name.size())));
    const std::string meaning(term != nullptr ? term->meaning : d->doc);
    chart.data["rows"].push_back({{"label", name.substr(skip)},
                                  {"value", value},
                                  {"text", format_share(value)},
                                  {"tip", fmt::format("{}: {}\n{}", name, format_share(value), meaning)}});
    chart.table.rows.push_back({html_metric_name(name), html_metric(name, value), html_escaped(meaning)});
  }
  return chart;
}

std::string speed_of_light(const Metrics& m) {
  std::vector<std::pair<double, std::string>> values;
  for (const char* name : {"sol.compute", "sol.memory", "sol.issue"})
    if (const auto v = m.get(name)) values.emplace_back(*v, name);
  if (values.empty()) return {};
  std::string out =
      "<h3>Speed of light</h3>\n<div class=\"columns\"><div>" +
      html_chart(share_bars(
          "Whole GPU",
          "Share of the highest possible rate. Above 60 % of one: bound by it; below that of all: latency.",
          values, 4)) +
      "</div><div>";
  values.clear();
  for (const char* part : {"l1", "shared", "interconnect", "l2", "dram"})
    if (const auto v = m.get(fmt::format("{}.utilisation", part)))
      values.emplace_back(*v, fmt::format("{}.utilisation", part));
  for (const auto& [value, name] : family(m, "pipe."))
    if (value > 0.001) values.emplace_back(value, name);
  return out + html_chart(share_bars("Units", "What each unit was used of its peak.", values, 0)) +
         "</div></div>\n";
}

std::string stalls(const KernelResult& k) {
  std::vector<std::pair<double, std::string>> values = family(k.metrics, "stall.");
  std::erase_if(values, [](const auto& v) { return v.first <= 0; });
  if (values.empty()) return {};
  HtmlChart chart = share_bars(
      "Where scheduler slots went",
      "Every slot has one reason; the shares add up to 100 %. selected: an instruction was issued.", values,
      6);
  chart.heading = true;
  return html_chart(chart);
}

std::string loads(const Metrics& m) {
  const auto all = m.get("load.latency");
  const std::vector<std::pair<double, std::string>> stages = family(m, "load.latency.");
  if (!all || *all <= 0 || stages.empty()) return {};
  HtmlChart chart{"bars",
                  fmt::format("Where loads wait: {:.0f} cycles on average", *all),
                  "Cycles of a load by the stage that it waits in; they add up to its latency.",
                  {},
                  {{"stage", "cycles#", "meaning"}, {}, ""}};
  chart.data["rows"] = ChartData::array();
  chart.data["x"] = "cycles";
  for (const auto& [value, name] : stages) {
    if (value <= 0) continue;
    const std::string_view doc = result::find_metric(name)->doc;
    chart.data["rows"].push_back({{"label", name.substr(13)},
                                  {"value", value},
                                  {"text", fmt::format("{:.0f}", value)},
                                  {"tip", fmt::format("{}: {:.1f} cycles\n{}", name, value, doc)}});
    chart.table.rows.push_back({html_metric_name(name), html_metric(name, value), html_escaped(doc)});
  }
  chart.heading = true;
  return html_chart(chart);
}

std::string losses(const Metrics& m) {
  std::vector<std::pair<double, std::string>> values = family(m, "dram.loss.");
  if (values.empty()) return {};
  HtmlChart chart =
      share_bars("Where the DRAM's bandwidth went",
                 "Shares of the time of the data buses; the rest of it they carried data.", values, 10);
  chart.heading = true;
  return html_chart(chart);
}

std::string facts(const KernelResult& k) {
  HtmlTable table{{"", ""}, {}, ""};
  const auto row = [&](const char* name, std::string value) {
    table.rows.push_back({name, std::move(value)});
  };
  row("grid", fmt::format("{} x {} x {} blocks", k.grid[0], k.grid[1], k.grid[2]));
  row("block", fmt::format("{} x {} x {} threads", k.block[0], k.block[1], k.block[2]));
  if (k.registers != 0) row("registers", fmt::format("{} a thread", k.registers));
  if (const auto code = k.metrics.get("code.generation"))
    row("code", fmt::format("machine code for sm_{}", static_cast<unsigned>(*code)));
  if (k.shared_bytes != 0)
    row("shared memory", format_bytes(static_cast<double>(k.shared_bytes)) + " a block");
  if (k.launches > 1) row("launches", fmt::format("{}; shape of the longest", k.launches));
  for (const char* name : {"gpu.cycles", "gpu.ipc", "gpu.instructions.warp", "gpu.instructions.lanes",
                           "occupancy.theoretical", "occupancy.achieved", "gpu.waves"})
    if (k.metrics.get(name)) table.rows.push_back({html_metric_name(name), html_metric(k.metrics, name)});
  if (!k.limiter.empty()) row("occupancy is limited by", html_escaped(k.limiter));
  return html_table(table);
}

}  // namespace

std::string html_kernel(const KernelResult& k, const HtmlOptions& options) {
  std::string out;
  if (k.metrics.get("gpu.blocks")) out += "<h3>Launch</h3>\n" + facts(k);
  out += speed_of_light(k.metrics) + html_roofline(k) + stalls(k) + html_profile(k) + html_memory_chart(k) +
         loads(k.metrics) + losses(k.metrics) + html_occupancy(k, options) + html_series(k);
  return out;
}

std::string html_not_modelled(const KernelResult& k) {
  std::string out;
  if (!k.not_modelled.empty()) {
    out += fmt::format(
        "<details class=\"data\"><summary>Not modelled: {} deviations from hardware concern "
        "this</summary>\n<p>",
        k.not_modelled.size());
    for (const std::string& id : k.not_modelled) {
      const Term* term = find_term(deviations(), id);
      out += fmt::format("<code>{}</code> {}<br>", html_escaped(id),
                         term == nullptr ? "" : html_escaped(term->meaning));
    }
    out += "</p></details>\n";
  }
  return out;
}

}  // namespace simtlab::report
