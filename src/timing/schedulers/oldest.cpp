// Oldest: always the warp launched first of those that can issue.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

unsigned pick(const WarpScheduler& scheduler, WarpScheduler::Mask eligible) {
  return oldest_of(scheduler, eligible);
}

}  // namespace

extern constinit const SchedulerPolicy scheduler_oldest{"The oldest ready warp", pick};

}  // namespace simtlab::timing
