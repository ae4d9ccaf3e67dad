// A launch on one SM: what it holds there and what it has done.
#pragma once

#include <memory>

#include "timing/access_table.h"
#include "timing/launch.h"
#include "timing/statistics.h"

namespace simtlab::timing {

struct Tenant {
  LaunchContext* context = nullptr;
  std::unique_ptr<stream::SmShare> work;  // before the blocks, which it makes
  SmCounters counters;                    // slots: those lost or used by its warps
  AccessTable accesses;
  std::uint32_t blocks = 0;  // that the SM has taken and not finished
  std::uint32_t resident_blocks = 0, resident_warps = 0;
  std::uint32_t ended = 0;   // blocks, since somebody asked
  std::uint32_t stores = 0;  // of its warps, those that have ended included, which L2 has not acknowledged
  Cycle residency_since = 0, finished_at = 0;

  void count_residency(Cycle now) {
    if (now <= residency_since) return;
    const Cycle span = now - residency_since;
    counters.warp_cycles += span * resident_warps;
    if (resident_blocks > 0) counters.active_cycles += span;
    residency_since = now;
  }
};

}  // namespace simtlab::timing
