// The way of a warp as a chain of waits: how long it takes alone, and what of it could overlap.
#pragma once

#include <functional>

#include "models/counts/counted.h"
#include "timing/latencies.h"
#include "timing/program.h"

namespace simtlab::models::counts {

// Latency of a load or atomic, SM cycles.
using LoadLatency = std::function<double(const ptx::Function&, std::uint32_t pc)>;

struct Dependences {
  double insts = 0, machine_insts = 0;  // of the way: PTX, and what the machine makes of it
  double groups = 0;                    // of machine instructions, cut where one needs a result of its group
  double loads = 0, load_groups = 0;    // the same of loads from global and local memory
  // Cycles from the first issue to the last result; an instruction a cycle at most, in order
  double latency = 0;
  // Of them: nothing could be issued for want of what global or local memory brings
  double memory_wait = 0;
  void add(const Dependences& o);
};
// Of an incomplete way, the part that is known.
Dependences follow(const WarpWay& way, timing::Programs& programs, const timing::Latencies& latencies,
                   const LoadLatency& load_latency);

}  // namespace simtlab::models::counts
