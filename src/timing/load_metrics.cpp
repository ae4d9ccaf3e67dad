// Metrics of where loads waited, and the peaks of a roofline.
#include <algorithm>
#include <string>

#include "timing/bandwidth.h"
#include "timing/metrics.h"

namespace simtlab::timing {
namespace {

double at(const LoadLatency& l, LoadStage stage) {
  return static_cast<double>(l.stages[static_cast<std::size_t>(stage)]) / static_cast<double>(l.loads);
}

// A memory in detail knows the means of its reads, not of each load: they divide the time that loads spent
// below L2, and what they don't explain is waiting for room. The sum stays the measured one.
void set_detailed_memory(result::Metrics& m, const LaunchStatistics& s, double below) {
  const double share = static_cast<double>(s.loads.from_dram) / static_cast<double>(s.loads.loads);
  const double cycles_per_ns = s.device.sm_clock_hz * 1e-9;
  double bank = m.get("dram.latency.row").value_or(0) * cycles_per_ns * share;
  double bus = m.get("dram.latency.bus").value_or(0) * cycles_per_ns * share;
  // And the rest of the way
  double transfer = (m.get("dram.latency.transfer").value_or(0) * cycles_per_ns + s.device.dram.path) * share;
  const double known = bank + bus + transfer;
  if (known > below) {
    const double scale = below / known;
    bank *= scale;
    bus *= scale;
    transfer *= scale;
  }
  m.set("load.latency.dram_queue", std::max(0.0, below - bank - bus - transfer));
  m.set("load.latency.dram_bank", bank);
  m.set("load.latency.dram_bus", bus);
  m.set("load.latency.dram", transfer);
}

}  // namespace

void set_loads(result::Metrics& m, const LaunchStatistics& s) {
  if (s.loads.loads == 0) return;
  m.set("load.count", s.loads.loads);
  m.set("load.latency", static_cast<double>(s.loads.total) / static_cast<double>(s.loads.loads));
  for (const LoadStage stage : {LoadStage::l1_queue, LoadStage::mshr, LoadStage::l1, LoadStage::crossbar,
                                LoadStage::l2_queue, LoadStage::l2})
    m.set("load.latency." + std::string(name_of(stage)), at(s.loads, stage));
  const double queue = at(s.loads, LoadStage::dram_queue), dram = at(s.loads, LoadStage::dram);
  if (s.channels != nullptr && !s.unlimited_dram) return set_detailed_memory(m, s, queue + dram);
  m.set("load.latency.dram_queue", queue);
  m.set("load.latency.dram", dram);
}

void set_peaks(result::Metrics& m, const LaunchStatistics& s) {
  const device::Device& d = s.device;
  const auto flops = [&](ptx::OpClass c) {
    return 2 * d.throughput[static_cast<std::size_t>(c)] * d.sm.count * d.sm_clock_hz;
  };
  m.set("peak.flops.fp32", flops(ptx::OpClass::fp32));
  m.set("peak.flops.fp64", flops(ptx::OpClass::fp64));
  m.set("peak.bandwidth.l1", d.l1.bytes_per_cycle * d.sm.count * d.sm_clock_hz);
  m.set("peak.bandwidth.l2", d.l2.bytes_per_cycle * d.sm_clock_hz);
  if (d.dram.bandwidth <= 0) return;  // of a plug-in that does not tell it
  m.set("peak.bandwidth.dram", d.dram.bandwidth);
  m.set("peak.bandwidth.dram.sustained", sustained_bandwidth(d));
}

}  // namespace simtlab::timing
