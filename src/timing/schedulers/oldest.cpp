// Oldest: always the warp launched first of those that can issue.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

class Oldest final : public WarpPolicy {
 public:
  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle) override {
    return oldest_of(scheduler, eligible);
  }
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_oldest = policy_entry<Oldest>("The oldest ready warp");

}  // namespace simtlab::timing
