// Greedy then youngest: the warp that issued last as long as it can, else the one launched last. Measured on
// Ampere by Huerta et al. (MICRO 2025), where the assembler's stall counts and yields guide it.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

class GreedyThenYoungest final : public WarpPolicy {
 public:
  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle) override {
    if (eligible & warp_bit(scheduler.last)) return scheduler.last;
    auto youngest = static_cast<unsigned>(std::countr_zero(eligible));
    for (WarpMask rest = eligible & (eligible - 1); rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      if (scheduler.age[warp] > scheduler.age[youngest]) youngest = warp;
    }
    return youngest;
  }
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_cggty = policy_entry<GreedyThenYoungest>(
    "Compiler-guided greedy then youngest: the same warp while it is ready, else the youngest");

}  // namespace simtlab::timing
