// Greedy then oldest: the warp that issued last as long as it can, else the one launched first.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

unsigned pick(const WarpScheduler& scheduler, WarpScheduler::Mask eligible) {
  if (eligible & WarpScheduler::bit(scheduler.last)) return scheduler.last;
  return oldest_of(scheduler, eligible);
}

}  // namespace

extern constinit const SchedulerPolicy scheduler_gto{
    "Greedy then oldest: the same warp while it is ready, else the oldest", pick};

}  // namespace simtlab::timing
