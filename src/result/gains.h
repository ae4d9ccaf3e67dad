// What lifting a limit of the GPU may gain, estimated from the counters of a run that had it. The sentence of
// `run` and the choice of `explain`, which then measures, rest on the same estimates.
#pragma once

#include <string_view>
#include <vector>

#include "result/metrics.h"

namespace simtlab::result {

struct LikelyGain {
  std::string_view what_if;  // a name of --what-if
  double share = 0;          // of the kernel's time that may be saved; rough
};
// Largest first; only those that the counters point at.
std::vector<LikelyGain> likely_gains(const Metrics& metrics);

// What the estimates rest on: shares of the scheduler slots in which there were warps.
struct Waits {
  double loads = 0;     // for data of global, local or texture memory
  double queue = 0;     // for room in the queue of loads and stores
  double stores = 0;    // for stores at the end of warps, fences
  double on_chip = 0;   // for shared memory, fixed latencies, barriers
  double selected = 0;  // none: an instruction was issued
};
Waits waits_of(const Metrics& metrics);

// Sectors of global loads and stores that would not be touched if each access took as few as its bytes fill,
// over those that are.
double spare_sectors(const Metrics& metrics);
// Of DRAM's time for this mix of reads and writes, as far as a long copy tells it; 1 at most.
double dram_use(const Metrics& metrics);

}  // namespace simtlab::result
