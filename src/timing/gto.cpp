// Greedy then oldest: the warp that issued last as long as it can, else the one launched first.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

unsigned pick(const WarpScheduler& scheduler, WarpScheduler::Mask eligible) {
  if (eligible & WarpScheduler::bit(scheduler.last)) return scheduler.last;
  return oldest_of(scheduler, eligible);
}

}  // namespace

constinit const SchedulerPolicy greedy_then_oldest{"gto", device::Scheduler::gto, pick};

}  // namespace simtlab::timing
