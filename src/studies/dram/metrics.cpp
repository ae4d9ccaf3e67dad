#include "studies/dram/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "timing/metrics.h"

namespace simtlab::studies {
namespace {

using memory::traffic::Latencies;
using memory::traffic::Measured;
using result::Metrics;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

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
  timing::set_memory(m, *memory.channels, measured.end);
  if (memory.system != nullptr) {
    memory::dram::RankActivity ranks;
    for (const memory::dram::RankActivity& rank : memory.system->report(measured.end).ranks) ranks += rank;
    add_commands(m, ranks);
  }
  return m;
}

}  // namespace simtlab::studies
