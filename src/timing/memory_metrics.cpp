// Metrics of a memory that is modelled in detail: what its report has, and nothing that it does not model.
#include <optional>
#include <string>

#include "memory/dram/energy.h"
#include "memory/dram/own_channels.h"
#include "memory/dram/plugin.h"
#include "timing/metrics.h"

namespace simtlab::timing {
namespace {

using memory::dram::OwnChannels;
using memory::dram::Report;

void set_requests(result::Metrics& m, const Report& r, double clock_ns) {
  const memory::dram::ChannelStatistics& c = r.requests;
  m.set("dram.accesses.read", c.reads);
  m.set("dram.accesses.write", c.writes);
  m.set("dram.accesses.forwarded", c.forwarded);
  m.set("dram.accesses.merged", c.merged_reads + c.merged_writes);
  m.set("dram.row.hits", c.row_hits);
  m.set("dram.row.misses", c.row_misses);
  m.set("dram.row.conflicts", c.row_conflicts);
  const std::uint64_t rows = c.row_hits + c.row_misses + c.row_conflicts;
  m.set("dram.row.hit_rate", rows > 0 ? static_cast<double>(c.row_hits) / static_cast<double>(rows) : 0.0);
  if (c.read_bursts == 0) return;  // no read reached the memory: there is no latency
  const double share = clock_ns / static_cast<double>(c.read_bursts);
  m.set("dram.latency.queue", static_cast<double>(c.latency_queue) * share);
  m.set("dram.latency.row", static_cast<double>(c.latency_row) * share);
  m.set("dram.latency.bus", static_cast<double>(c.latency_bus) * share);
  m.set("dram.latency.transfer", static_cast<double>(c.latency_transfer) * share);
}

// Every clock of every data bus is data or one loss.
void set_bus(result::Metrics& m, const Report& r) {
  const auto total = static_cast<double>(r.bus.total());
  if (total == 0) return;
  m.set("dram.bus.data", static_cast<double>(r.bus.data) / total);
  for (unsigned i = 0; i < memory::dram::loss_count; ++i)
    m.set("dram.loss." + std::string(name(static_cast<memory::dram::Loss>(i))),
          static_cast<double>(r.bus.lost[i]) / total);
}

void set_energy(result::Metrics& m, const Report& r, const OwnChannels& system) {
  const memory::dram::EnergyModel model(system.technology());
  memory::dram::RankActivity all;
  for (const memory::dram::RankActivity& rank : r.ranks) all += rank;
  const memory::dram::Energy energy = model.of(all);
  const auto set = [&](const char* name, const std::optional<double>& joules) {
    if (joules) m.set(name, *joules * 1e9);
  };
  set("dram.energy.activate", energy.activate);
  set("dram.energy.read", energy.read);
  set("dram.energy.write", energy.write);
  set("dram.energy.refresh", energy.refresh);
  set("dram.energy.background", energy.background);
  set("dram.energy.total", energy.total());
  const double seconds = static_cast<double>(r.end) * system.clock_period() * 1e-12;
  if (energy.total() && seconds > 0) m.set("dram.power", *energy.total() / seconds);
}

}  // namespace

void set_memory(result::Metrics& m, memory::dram::Channels& channels, memory::Cycle clocks) {
  if (auto* plugin = dynamic_cast<memory::dram::PluginChannels*>(&channels)) {
    for (const memory::dram::NamedStatistic& value : plugin->statistics())
      m.set("dram.plugin." + value.name + (value.unit == "1" ? "" : "." + value.unit), value.value);
  } else if (auto* system = dynamic_cast<OwnChannels*>(&channels)) {
    const Report report = system->report(clocks);
    set_requests(m, report, system->clock_period() / 1000);
    set_bus(m, report);
    set_energy(m, report, *system);
  }
}

void set_channels(result::Metrics& m, const LaunchStatistics& s) {
  if (s.channels == nullptr) return;
  set_memory(m, *s.channels, s.channel_clocks);
  // What the bus carried: bytes count when a channel takes them, and the last writes may be queued when a
  // kernel ends.
  if (const auto data = m.get("dram.bus.data")) m.set("dram.utilisation", *data);
}

}  // namespace simtlab::timing
