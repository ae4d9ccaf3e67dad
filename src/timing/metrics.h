// From counters to the metrics of the registry, the limiter and the bottleneck sentence. Pure functions.
#pragma once

#include <optional>

#include "device/occupancy.h"
#include "exec/executor.h"
#include "memory/main_memory.h"
#include "result/metrics.h"
#include "timing/access_table.h"
#include "timing/load_latency.h"
#include "timing/statistics.h"

namespace simtlab::timing {

// Everything that one launch left behind.
struct LaunchStatistics {
  LaunchStatistics(const device::Device& d, const device::Occupancy& o, Cycle c)
      : device(d), occupancy(o), cycles(c) {}
  const device::Device& device;
  const device::Occupancy& occupancy;
  Cycle cycles;
  SmCounters sm;         // sum over the SMs
  AccessTable accesses;  // of all SMs
  L2Served served;       // by L2
  L2Counters l2;
  memory::MemoryStatistics dram;
  memory::dram::Channels* channels = nullptr;  // of a memory that is modelled in detail
  Cycle channel_clocks = 0;                    // that they ran
  std::uint64_t interconnect_read_bytes = 0, reply_flits = 0;
  FixedCycles request_busy = 0, reply_busy = 0;  // sums over the SMs
  LoadLatency loads;                             // nothing where nobody listened
  bool machine_code = false;
  bool unlimited_dram = false;      // --what-if: its use has no meaning
  std::optional<Cycle> overlapped;  // cycles in which other launches ran, of one that was not alone
};

result::Metrics to_metrics(const LaunchStatistics& statistics);

// The metrics of a memory that is modelled in detail; none for the simple one.
void set_channels(result::Metrics& metrics, const LaunchStatistics& statistics);
// The same of a memory by itself that ran so many of its clocks.
void set_memory(result::Metrics& metrics, memory::dram::Channels& channels, memory::Cycle clocks);

// Where loads waited; none if nobody listened.
void set_loads(result::Metrics& metrics, const LaunchStatistics& statistics);
// What the device could do at most, for a roofline.
void set_peaks(result::Metrics& metrics, const LaunchStatistics& statistics);

// One sentence: what bounds the kernel, with its evidence, and what to try.
// kernel: has its metrics and the table "coalescing".
std::string bottleneck_of(const result::KernelResult& kernel, const LaunchStatistics& statistics);

// Deviations (docs/reference/deviations.md) that concern the instructions this kernel executed.
std::vector<std::string> not_modelled(const LaunchStatistics& statistics);

}  // namespace simtlab::timing
