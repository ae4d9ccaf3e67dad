// Memory of a kernel as pictures: the chart of the levels, the roofline, occupancy over the size of a block.
#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "report/hits.h"
#include "report/html_sections.h"
#include "report/html_writer.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;

class Chart {
 public:
  explicit Chart(const Metrics& m) : m_(m) {
    chart_.data["boxes"] = ChartData::array();
    chart_.data["arrows"] = ChartData::array();
  }

  void box(const char* label, double x, double y, double w, double h, const std::string& text,
           const char* share, const std::string& tip) {
    const auto used = share == nullptr ? std::nullopt : m_.get(share);
    ChartData row = {
        {"x", x},
        {"y", y},
        {"w", w},
        {"h", h},
        {"label", label},
        {"text", lines_of(text)},
        {"tip", fmt::format("{}: {}\n{}{}", label, text, tip, used ? "\nused: " + format_share(*used) : "")}};
    row["share"] = used ? ChartData(*used) : ChartData();
    chart_.data["boxes"].push_back(row);
    chart_.table.rows.push_back({label, html_escaped(text), used ? html_metric(share, *used) : ""});
  }
  // A box is narrow: what is added goes below.
  static ChartData lines_of(const std::string& text) {
    const std::size_t plus = text.find(" + ");
    return plus == std::string::npos ? ChartData(text)
                                     : ChartData::array({text.substr(0, plus), text.substr(plus + 1)});
  }
  void arrow(double x, double y, double x2, double y2, const std::string& label, const std::string& tip) {
    chart_.data["arrows"].push_back(
        {{"x", x}, {"y", y}, {"x2", x2}, {"y2", y2}, {"label", label}, {"tip", tip + ": " + label}});
    chart_.table.rows.push_back({html_escaped(tip), html_escaped(label), ""});
  }
  double get(const std::string& name) const { return m_.get(name).value_or(0); }
  std::string hits(const std::string& level) const { return format_hits(m_, level); }
  std::string done() { return html_chart(chart_); }

 private:
  const Metrics& m_;
  HtmlChart chart_{"flow",
                   "Memory chart",
                   "From the threads to DRAM: what was asked for and moved, how much was found at each "
                   "level; colour is the share of the peak that was used.",
                   {},
                   {{"level or way", "value", "used#"}, {}, ""},
                   true};
};

// Bytes by level and where their roofs are.
struct Level {
  const char* name;
  double bytes, bandwidth;
};

}  // namespace

std::string html_memory_chart(const KernelResult& k) {
  const Metrics& m = k.metrics;
  if (!m.get("l1.read.accesses") || !m.get("l2.read.accesses") || !m.get("dram.read.bytes") ||
      !m.get("interconnect.read.bytes"))
    return {};
  Chart c(m);
  c.box("Threads", 0, 12, 14, 76, format_count(c.get("gpu.instructions.thread")) + " instr.", "sol.issue",
        "Instructions of threads");
  c.box("L1", 33, 6, 14, 40, c.hits("l1"), "l1.utilisation",
        "Hits; pending: reads that joined a miss under way");
  c.box("Shared", 33, 58, 14, 34,
        c.get("shared.wavefronts") > 0 ? format_count(c.get("shared.wavefronts")) + " passes" : "not used",
        "shared.utilisation", fmt::format("{} bank conflicts", format_count(c.get("shared.bank_conflicts"))));
  c.box("L2", 61, 6, 14, 40, c.hits("l2"), "l2.utilisation",
        "Hits; pending: reads that joined a miss under way");
  c.box("DRAM", 87, 6, 13, 40, c.get("dram.bandwidth") > 0 ? format_rate(c.get("dram.bandwidth")) : "",
        "dram.utilisation", "Bytes per second of the kernel");
  c.arrow(14, 18, 32.4, 18, format_count(c.get("global.load.requests")) + " loads",
          "Requests of warps that load");
  c.arrow(14, 36, 32.4, 36, format_count(c.get("global.store.requests")) + " stores",
          "Requests of warps that store");
  c.arrow(14, 75, 32.4, 75,
          format_count(c.get("shared.load.requests") + c.get("shared.store.requests")) + " requests",
          "Requests to shared memory");
  c.arrow(61, 18, 47.6, 18, format_bytes(c.get("interconnect.read.bytes")), "Bytes from L2 to the SMs");
  c.arrow(47, 36, 60.4, 36, format_bytes(c.get("interconnect.write.bytes")), "Bytes from the SMs to L2");
  c.arrow(87, 18, 75.6, 18, format_bytes(c.get("dram.read.bytes")), "Bytes read from DRAM");
  c.arrow(75, 36, 86.4, 36, format_bytes(c.get("dram.write.bytes")), "Bytes written to DRAM");
  return c.done();
}

std::string html_roofline(const KernelResult& k) {
  const Metrics& m = k.metrics;
  const auto get = [&](const std::string& name) { return m.get(name).value_or(0); };
  const double seconds = get("gpu.time") * 1e-9;
  std::string out;
  for (const char* type : {"fp32", "fp64"}) {
    const double flops = get(fmt::format("gpu.flops.{}", type)),
                 peak = get(fmt::format("peak.flops.{}", type));
    if (flops <= 0 || peak <= 0 || seconds <= 0) continue;
    const Level levels[] = {
        {"L1", get("l1.bytes"), get("peak.bandwidth.l1")},
        {"L2", get("l2.bytes"), get("peak.bandwidth.l2")},
        {"DRAM", get("dram.read.bytes") + get("dram.write.bytes"), get("peak.bandwidth.dram.sustained")}};
    HtmlChart chart{
        "xy",
        fmt::format("Roofline ({})", type),
        fmt::format("A point a level of memory: operations per byte moved there, and operations per second "
                    "({:.4g} GFLOP/s, {} of the peak). A point below its line has room.",
                    flops / seconds * 1e-9, format_share(flops / seconds / peak)),
        {},
        {{"level", "FLOP/byte#", "at most GFLOP/s#", "reached#"}, {}, ""}};
    double low = 0.01, high = 100;
    for (const Level& l : levels)
      if (l.bytes > 0 && l.bandwidth > 0)
        low = std::min(low, flops / l.bytes / 4),
        high = std::max({high, flops / l.bytes * 4, peak / l.bandwidth * 4});
    chart.data["x"] = {
        {"title", "operations per byte"}, {"log", true}, {"format", "~g"}, {"domain", {low, high}}};
    chart.data["lines"] = ChartData::array();
    chart.data["points"] = ChartData::array();
    double least = flops / seconds;
    for (const Level& l : levels) {
      if (l.bytes <= 0 || l.bandwidth <= 0) continue;
      const double ridge = peak / l.bandwidth, intensity = flops / l.bytes,
                   roof = std::min(peak, intensity * l.bandwidth);
      for (const double x : {low, std::clamp(ridge, low, high), high})
        chart.data["lines"].push_back({{"series", l.name}, {"x", x}, {"y", std::min(peak, x * l.bandwidth)}});
      least = std::min(least, low * l.bandwidth);
      chart.data["points"].push_back(
          {{"series", l.name},
           {"x", intensity},
           {"y", flops / seconds},
           {"tip",
            fmt::format("{}\n{}: {:.3g} FLOP/byte\nreached {:.4g} GFLOP/s, {} of its roof of {:.4g} GFLOP/s",
                        printable(k.demangled), l.name, intensity, flops / seconds * 1e-9,
                        format_share(flops / seconds / roof), roof * 1e-9)}});
      chart.table.rows.push_back({l.name, fmt::format("{:.3g}", intensity),
                                  fmt::format("{:.4g}", roof * 1e-9), format_share(flops / seconds / roof)});
    }
    chart.data["y"] = {
        {"title", "operations per second"}, {"log", true}, {"format", "~s"}, {"domain", {least, peak * 2}}};
    chart.heading = true;
    out += html_chart(chart);
  }
  return out;
}

std::string html_occupancy(const KernelResult& k, const HtmlOptions& options) {
  const Metrics& m = k.metrics;
  const auto ratio = m.get("occupancy.theoretical");
  const auto curve = std::ranges::find(options.occupancy, k.name, &OccupancyCurve::kernel);
  if (!ratio || curve == options.occupancy.end()) return {};
  std::string out = fmt::format(
      "<h3>Occupancy</h3>\n<p>{} of the warps that an SM holds fit{}; {} were there on average.</p>\n<div "
      "class=\"columns\">",
      html_metric(m, "occupancy.theoretical"),
      k.limiter.empty() || *ratio >= 1 ? "" : fmt::format(", limited by {}", html_escaped(k.limiter)),
      html_metric(m, "occupancy.achieved"));
  const double threads = static_cast<double>(k.block[0]) * k.block[1] * k.block[2];
  const auto draw = [&](const std::vector<OccupancyCurve::Point>& points, const char* title, double now,
                        const std::string& now_text) {
    HtmlChart chart{"xy",
                    fmt::format("Occupancy by {}", title),
                    "Warps that fit an SM if only this is changed; the dashed line is the launch.",
                    {},
                    {{fmt::format("{}#", title), "occupancy#", "limited by"}, {}, ""}};
    chart.data["x"] = {{"title", title}, {"zero", true}};
    chart.data["y"] = {{"title", "occupancy"}, {"format", ".0%"}, {"domain", {0, 1.1}}};
    chart.data["step"] = false;
    chart.data["lines"] = ChartData::array();
    chart.data["points"] = ChartData::array();
    for (const OccupancyCurve::Point& p : points) {
      chart.data["lines"].push_back({{"series", "occupancy"}, {"x", p.threads}, {"y", p.ratio}});
      chart.table.rows.push_back(
          {fmt::format("{:.0f}", p.threads), format_share(p.ratio), html_escaped(p.limit)});
    }
    chart.data["points"].push_back(
        {{"series", "occupancy"},
         {"x", now},
         {"y", *ratio},
         {"tip", fmt::format("the launch: {}, {}", now_text, format_share(*ratio))}});
    chart.data["rules"] = {{{"x", now}, {"label", now_text}}};
    out += "<div>" + html_chart(chart) + "</div>";
  };
  if (!curve->by_threads.empty())
    draw(curve->by_threads, "threads a block", threads, fmt::format("{:.0f} threads", threads));
  if (!curve->by_registers.empty())
    draw(curve->by_registers, "registers a thread", k.registers, fmt::format("{} registers", k.registers));
  if (!curve->by_shared.empty())
    draw(curve->by_shared, "bytes of shared memory a block", static_cast<double>(k.shared_bytes),
         format_bytes(static_cast<double>(k.shared_bytes)));
  return out + "</div>\n";
}

}  // namespace simtlab::report
