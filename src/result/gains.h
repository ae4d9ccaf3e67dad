// Gains of lifting limits of the GPU, estimated from the counters of a run under the limits. The bottleneck
// sentence of `run` rests on these estimates, and so does the choice of `explain`, which then measures.
#pragma once

#include <string_view>
#include <vector>

#include "result/metrics.h"

namespace simtlab::result {

struct LikelyGain {
  std::string_view what_if;  // a name of --what-if
  double share = 0;          // of the kernel's time that may be saved; rough
};
// Largest first; only limits that the counters point at.
std::vector<LikelyGain> likely_gains(const Metrics& metrics);

// The basis of the estimates: shares of the scheduler slots in which there were warps, by what the warps
// waited for.
struct Waits {
  double loads = 0;     // for data of global, local or texture memory
  double queue = 0;     // for room in the queue of loads and stores
  double stores = 0;    // for stores at the end of warps, fences
  double on_chip = 0;   // for shared memory, fixed latencies, barriers
  double selected = 0;  // none: an instruction was issued
};
Waits waits_of(const Metrics& metrics);

// Sectors of global loads and stores that perfect coalescing would not touch, over all sectors that they
// touch. Under perfect coalescing an access touches as few sectors as its bytes fill.
double spare_sectors(const Metrics& metrics);
// Masks: a write that fills a sector only in part, and an atomic, tell which bytes they mean, in a flit of
// its own where the network has such. Nothing where masks cost nothing there.
struct Masks {
  double of_sectors = 0;  // share of the written sectors whose request has a mask; at least
  double of_flits = 0;    // share of what SMs send; about
};
Masks masks_of(const Metrics& metrics);
// Of DRAM's time for this mix of reads and writes, as far as a long copy tells it; 1 at most.
double dram_use(const Metrics& metrics);

}  // namespace simtlab::result
