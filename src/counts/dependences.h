// The way of a warp as a chain of waits: how long it takes alone, and what of it could overlap.
#pragma once

#include <functional>

#include "counts/counted.h"
#include "device/device.h"
#include "timing/latencies.h"
#include "timing/program.h"

namespace simtlab::counts {

// Latency of a load or atomic by what it met in the caches, SM cycles.
using LoadLatency = std::function<double(const ptx::Function&, std::uint32_t pc)>;

struct Dependences {
  double ilp = 1;             // instructions between two that need a result of the group before
  double mlp = 1;             // the same of loads from global and local memory
  double latency = 0;         // cycles from the first issue to the last result; one instruction a cycle, nobody else on the GPU
  double memory_wait = 0;     // of them: nothing could be issued for want of what global or local memory brings
};
// Of an incomplete way, the part that is known.
Dependences follow(const WarpWay& way, timing::Programs& programs, const timing::Latencies& latencies, const device::Device& device,
                   const LoadLatency& load_latency);

}  // namespace simtlab::counts
