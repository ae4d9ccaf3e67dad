// What the units of the machine have to do for a kernel, in cycles if nothing else were in the way: the
// common ground of the roofline, the throughput bound and the floor of every prediction.
//
// Classes that share hardware share a unit, as in the cycle-level model: integer and floating point up to
// compute capability 6.x (cores_shared), special functions with conversions, shared memory with shuffles. A
// class of less than half the rate of fp32 has units of its own.
#pragma once

#include <string_view>
#include <vector>

#include "models/counts.h"

namespace simtlab::models {

enum class Level : unsigned char { sm, gpu };  // one of each SM; one of the whole GPU

struct Unit {
  std::string_view name;  // "issue", "dram"
  std::string_view doc;   // what sets the time if this unit does: "DRAM's bandwidth"
  Level level = Level::sm;
  bool compute = true;         // false: moves bytes
  bool per_scheduler = false;  // each scheduler owns a share that others cannot use
  double warp_cycles = 0;      // of an SM's unit for one warp
  double grid_cycles = 0;      // for all warps: spread evenly over the active SMs, or of the GPU's unit
};

// Warp instructions that an SM issues in a cycle. A scheduler that issues several takes them from one warp:
// no more than are independent.
double attainable_issue(const Counts& counts);

// Rates as the counts have them; DRAM at `dram_bandwidth` (GB/s), issue at `issue_per_cycle`. Only units
// whose counts and rates are known: none means nothing is.
std::vector<Unit> units_of(const Counts& counts, double dram_bandwidth, double issue_per_cycle);

// Cycles of one access to global memory on an idle machine, of the level that answers it: a mean with the
// miss ratios. Unknown if they are.
double access_latency(const Counts& counts);

// Lanes of all executed classes; 0 if there is no mix or one of its rates is unknown.
bool knows_mix(const Counts& counts);

// The longest of them; null for none.
const Unit* longest(const std::vector<Unit>& units, bool compute);
const Unit* longest(const std::vector<Unit>& units);

}  // namespace simtlab::models
