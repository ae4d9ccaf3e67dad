// Greedy then oldest: the warp that issued last as long as it can, else the one launched first.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

class GreedyThenOldest final : public WarpPolicy {
 public:
  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle) override {
    if (eligible & warp_bit(scheduler.last)) return scheduler.last;
    return oldest_of(scheduler, eligible);
  }
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_gto =
    policy_entry<GreedyThenOldest>("Greedy then oldest: the same warp while it is ready, else the oldest");

}  // namespace simtlab::timing
