// Oldest: always the warp launched first of those that can issue.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

unsigned pick(const WarpScheduler& scheduler, WarpScheduler::Mask eligible) { return oldest_of(scheduler, eligible); }

}  // namespace

constinit const SchedulerPolicy oldest_first{"oldest", device::Scheduler::oldest, pick};

}  // namespace simtlab::timing
