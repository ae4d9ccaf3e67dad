#include "report/memory_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/text_writer.h"

namespace simtlab::report {
namespace {

using result::KernelResult;
using result::Metrics;
using result::Result;

constexpr unsigned memory_bar_width = 30;

class MemoryWriter : TextWriter {
 public:
  MemoryWriter(const Result& result, const TextOptions& options) : TextWriter(result, options) {}

  std::string run() {
    state_line();
    const bool sweep = !result_.kernels.empty() && result_.kernels.front().metrics.get("dram.load.offered");
    if (sweep)
      curve();
    else
      for (const KernelResult& k : result_.kernels) one(k);
    footer();
    return out_;
  }

 private:
  void title(const std::string& what) {
    std::string text = fmt::format("{} on {}", what, printable(result_.manifest.device));
    if (const std::string n = configured("dram.channels"); !n.empty())
      text += fmt::format(", {} channel{}", n, n == "1" ? "" : "s");
    if (const std::string c = configured("dram.controller"); !c.empty()) text += ", controller " + c;
    line(painted(text, Paint::bold, style_));
  }

  void one(const KernelResult& k) {
    const Metrics& m = k.metrics;
    const std::string format = configured("traffic.format");
    title(fmt::format("{}{}: {} requests", shortened(k.name, 200),
                      format.empty() ? "" : fmt::format(" ({})", format),
                      format_exact(static_cast<std::uint64_t>(m.get("dram.requests").value_or(0)))));
    const double cycles = m.get("dram.cycles").value_or(0), time = m.get("dram.time").value_or(0);
    std::string text = fmt::format("  {}: {} clocks", painted(format_time(time), Paint::accent, style_),
                                   format_exact(static_cast<std::uint64_t>(cycles)));
    if (cycles > 0) text += fmt::format(" of {:.4g} ns", time / cycles);
    if (const auto ipc = m.get("core.ipc"))
      text += fmt::format("; {:.3g} instructions per clock of the core", *ipc);
    line(text);
    bandwidth(m);
    losses(m);
    latencies(m);
    rows(m);
    energy(m);
    if (options_.all) every_metric(m);
    line("");
  }

  void bandwidth(const Metrics& m) {
    const auto rate = m.get("dram.bandwidth");
    if (!rate) return;
    std::string text = fmt::format("  {}  {}", painted("Bandwidth", Paint::bold, style_), format_rate(*rate));
    if (const auto share = m.get("dram.bandwidth.share"))
      text += fmt::format(", {} of the peak of {}", format_share(*share),
                          format_rate(m.get("dram.bandwidth.peak").value_or(0)));
    line("");
    line(text);
  }

  void share(std::string_view name, double value) {
    line(fmt::format("    {:<12} {:>7}  {}", printable(name), format_share(value),
                     bar(value, memory_bar_width, style_)));
  }

  void losses(const Metrics& m) {
    const auto data = m.get("dram.bus.data");
    if (!data) return;
    heading("Where the time of the data bus went");
    share("data", *data);
    std::vector<std::pair<double, std::string>> lost;
    for (const Metrics::Value& v : m.values())
      if (v.name.starts_with("dram.loss.") && (v.real > 0 || options_.all))
        lost.emplace_back(v.real, v.name.substr(10));
    std::ranges::stable_sort(lost, [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [value, name] : lost) share(name, value);
  }

  void latencies(const Metrics& m) {
    heading(fmt::format("{:<20} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}", "Latency in clocks", "mean", "min",
                        "median", "95 %", "99 %", "max"));
    for (const char* kind : {"read", "write"}) {
      const auto mean = m.get(fmt::format("dram.{}.latency.mean", kind));
      if (!mean) continue;
      std::string text = fmt::format("    {:<18} {:>8.1f}", fmt::format("{}s", kind), *mean);
      for (const char* part : {"min", "median", "p95", "p99", "max"})
        text += fmt::format(" {:>8.0f}", m.get(fmt::format("dram.{}.latency.{}", kind, part)).value_or(0));
      line(text);
    }
    if (m.get("dram.latency.queue")) {
      const double clock = m.get("dram.time").value_or(0) / std::max(m.get("dram.cycles").value_or(0), 1.0);
      const auto clocks = [&](const char* part) {
        return m.get(fmt::format("dram.latency.{}", part)).value_or(0) / clock;
      };
      line(fmt::format(
          "    of a mean read: {:.1f} in the queue, {:.1f} for the row, {:.1f} for the bus, {:.1f} transfer",
          clocks("queue"), clocks("row"), clocks("bus"), clocks("transfer")));
    }
    if (const double wait = m.get("dram.wait.mean").value_or(0); wait > 0)
      line(fmt::format(
          "    requests entered {:.1f} clocks late on average: the memory is slower than its load", wait));
  }

  void rows(const Metrics& m) {
    const auto hits = m.get("dram.row.hits");
    if (!hits) return;
    const double misses = m.get("dram.row.misses").value_or(0),
                 conflicts = m.get("dram.row.conflicts").value_or(0);
    const double all = *hits + misses + conflicts;
    line("");
    if (all > 0)
      line(fmt::format("  Rows: {} hits, {} misses, {} conflicts", format_share(*hits / all),
                       format_share(misses / all), format_share(conflicts / all)));
    const double forwarded = m.get("dram.accesses.forwarded").value_or(0);
    const double merged = m.get("dram.accesses.merged").value_or(0);
    if (forwarded + merged > 0)
      line(fmt::format("  Answered by the queues: {} reads forwarded from writes, {} requests merged",
                       format_count(forwarded), format_count(merged)));
  }

  void energy(const Metrics& m) {
    const auto total = m.get("dram.energy.total");
    if (!total) return;
    std::string text =
        fmt::format("  Energy: {:.4g} uJ, {:.4g} W", *total * 1e-3, m.get("dram.power").value_or(0));
    std::string parts;
    for (const Metrics::Value& v : m.values())
      if (v.name.starts_with("dram.energy.") && v.name != "dram.energy.total" && *total > 0)
        parts += fmt::format("{}{} {}", parts.empty() ? " (" : ", ", printable(v.name.substr(12)),
                             format_share(v.real / *total));
    line(text + parts + (parts.empty() ? "" : ")"));
  }

  void curve() {
    title("Load sweep");
    heading(fmt::format("{:>12} {:>12} {:>8}  {:>8} {:>8} {:>8} {:>8}", "offered", "achieved", "of peak",
                        "mean", "median", "99 %", "late"));
    for (const KernelResult& k : result_.kernels) {
      const Metrics& m = k.metrics;
      const char* kind = m.get("dram.read.latency.mean") ? "read" : "write";
      const auto latency = [&](const char* part) {
        return m.get(fmt::format("dram.{}.latency.{}", kind, part)).value_or(0);
      };
      line(fmt::format("  {:>12} {:>12} {:>8}  {:>8.1f} {:>8.0f} {:>8.0f} {:>8.0f}",
                       format_rate(m.get("dram.load.offered").value_or(0)),
                       format_rate(m.get("dram.bandwidth").value_or(0)),
                       format_share(m.get("dram.bandwidth.share").value_or(0)), latency("mean"),
                       latency("median"), latency("p99"), m.get("dram.wait.mean").value_or(0)));
    }
    line(painted(
        "  latencies in clocks, of reads unless all are writes; late: clocks a request waited to be taken",
        Paint::dim, style_));
    line("");
  }

  void footer() {
    if (const auto wall = result_.total.get("host.wall_time")) {
      std::string text = fmt::format("  Simulation: {:.3g} s of host time", *wall);
      if (const auto rate = result_.total.get("host.rate.requests"))
        text += fmt::format(", {} requests/s", format_count(*rate));
      if (const auto rate = result_.total.get("host.rate.cycles"))
        text += fmt::format(", {} clocks/s", format_count(*rate));
      line(painted(text, Paint::dim, style_));
    }
    if (!options_.next_command.empty()) line(painted("  Next: " + options_.next_command, Paint::dim, style_));
  }
};

}  // namespace

std::string memory_text(const Result& result, const TextOptions& options) {
  return MemoryWriter(result, options).run();
}

}  // namespace simtlab::report
