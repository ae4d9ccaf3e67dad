#include "cli/dram_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "memory/dram/energy.h"

namespace simtlab::cli {
namespace {

using memory::dram::Report;
using result::Metrics;
using traffic::Latencies;
using traffic::Measured;

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

void add_latencies(Metrics& m, const char* kind, const Latencies& l) {
  const auto name = [&](const char* rest) { return fmt::format("dram.{}.{}", kind, rest); };
  m.set(name("requests"), l.count());
  if (l.count() == 0) return;
  m.set(name("latency.mean"), l.mean());
  m.set(name("latency.min"), l.least());
  m.set(name("latency.median"), l.percentile(0.5));
  m.set(name("latency.p95"), l.percentile(0.95));
  m.set(name("latency.p99"), l.percentile(0.99));
  m.set(name("latency.max"), l.most());
}

void add_requests(Metrics& m, const memory::dram::ChannelStatistics& s) {
  const auto reads = static_cast<double>(s.read_bursts);
  if (reads > 0) {
    m.set("dram.latency.queue", static_cast<double>(s.latency_queue) / reads);
    m.set("dram.latency.row", static_cast<double>(s.latency_row) / reads);
    m.set("dram.latency.bus", static_cast<double>(s.latency_bus) / reads);
    m.set("dram.latency.transfer", static_cast<double>(s.latency_transfer) / reads);
  }
  m.set("dram.row.hits", s.row_hits);
  m.set("dram.row.misses", s.row_misses);
  m.set("dram.row.conflicts", s.row_conflicts);
  m.set("dram.forwarded", s.forwarded);
  m.set("dram.merged.reads", s.merged_reads);
  m.set("dram.merged.writes", s.merged_writes);
}

void add_bus(Metrics& m, const memory::dram::BusTime& bus) {
  const auto total = static_cast<double>(bus.total());
  if (total == 0) return;
  m.set("dram.data", static_cast<double>(bus.data) / total);
  for (unsigned i = 0; i < memory::dram::loss_count; ++i)
    m.set(fmt::format("dram.loss.{}", name(static_cast<memory::dram::Loss>(i))),
          static_cast<double>(bus.lost[i]) / total);
}

void add_commands(Metrics& m, const memory::dram::RankActivity& sum) {
  m.set("dram.commands.activate", sum.activations);
  m.set("dram.commands.read", sum.reads);
  m.set("dram.commands.write", sum.writes);
  m.set("dram.commands.refresh", sum.refreshes);
  m.set("dram.commands.refresh_bank", sum.bank_refreshes);
  const auto all = static_cast<double>(sum.clocks());
  if (all == 0) return;
  const auto standby = [&](const char* name, memory::Cycle clocks) {
    m.set(fmt::format("dram.standby.{}", name), static_cast<double>(clocks) / all);
  };
  standby("active", sum.active_standby);
  standby("precharge", sum.precharge_standby);
  standby("active_power_down", sum.active_power_down);
  standby("precharge_power_down", sum.precharge_power_down);
  standby("self_refresh", sum.self_refresh);
}

// What no source states a current for is absent, and with it the total.
void add_energy(Metrics& m, const memory::dram::Energy& energy, double ns) {
  const auto add = [&](const char* name, const std::optional<double>& joules) {
    if (joules) m.set(fmt::format("dram.energy.{}", name), *joules * 1e9);
  };
  add("activate", energy.activate);
  add("read", energy.read);
  add("write", energy.write);
  add("refresh", energy.refresh);
  add("background", energy.background);
  const std::optional<double> total = energy.total();
  add("total", total);
  if (total && ns > 0) m.set("dram.power", *total * 1e12 / ns);
}

}  // namespace

Metrics metrics_of(const Measured& measured, DrivenMemory& memory, std::uint64_t line) {
  Metrics m;
  const double ns = static_cast<double>(measured.cycles) * memory.channels->clock_period() * 1e-3;
  const std::uint64_t requests = measured.read_latency.count() + measured.write_latency.count();
  // What the requests asked for: an access may be larger than a request, and bring more.
  const std::uint64_t bytes = std::min<std::uint64_t>(line, memory.channels->access_bytes());
  const std::uint64_t read = measured.read_accesses * bytes, written = measured.write_accesses * bytes;
  const double rate = ratio(static_cast<double>(read + written), ns * 1e-9);
  m.set("dram.cycles", measured.cycles);
  m.set("dram.time", ns);
  m.set("dram.requests", requests);
  m.set("dram.accesses", measured.read_accesses + measured.write_accesses);
  m.set("dram.read.bytes", read);
  m.set("dram.write.bytes", written);
  m.set("dram.bandwidth", rate);
  if (memory.peak > 0) {
    m.set("dram.bandwidth.peak", memory.peak);
    m.set("dram.bandwidth.share", rate / memory.peak);
  }
  add_latencies(m, "read", measured.read_latency);
  add_latencies(m, "write", measured.write_latency);
  m.set("dram.wait.mean", ratio(static_cast<double>(measured.late), static_cast<double>(requests)));
  if (measured.core_cycles > 0) {
    m.set("core.cycles", measured.core_cycles);
    m.set("core.instructions", measured.core_instructions);
    m.set("core.ipc",
          ratio(static_cast<double>(measured.core_instructions), static_cast<double>(measured.core_cycles)));
  }
  if (memory.system != nullptr) {
    const Report report = memory.system->report(measured.end);
    add_requests(m, report.requests);
    add_bus(m, report.bus);
    memory::dram::RankActivity ranks;
    for (const memory::dram::RankActivity& rank : report.ranks) ranks += rank;
    add_commands(m, ranks);
    add_energy(m, memory::dram::EnergyModel(memory.system->technology()).of(ranks), ns);
  }
  if (memory.plugin != nullptr)
    for (const memory::dram::NamedStatistic& value : memory.plugin->statistics())
      m.set("dram.plugin." + value.name + (value.unit == "1" ? "" : "." + value.unit), value.value);
  return m;
}

}  // namespace simtlab::cli
