// Greedy then oldest: the warp that issued last as long as it can, else the one launched first.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

unsigned pick(const WarpScheduler& scheduler, WarpScheduler::Mask eligible) {
  if (eligible & WarpScheduler::bit(scheduler.last)) return scheduler.last;
  auto oldest = static_cast<unsigned>(std::countr_zero(eligible));
  for (WarpScheduler::Mask rest = eligible & (eligible - 1); rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<unsigned>(std::countr_zero(rest));
    if (scheduler.age[warp] < scheduler.age[oldest]) oldest = warp;
  }
  return oldest;
}

}  // namespace

constinit const SchedulerPolicy greedy_then_oldest{"gto", device::Scheduler::gto, pick};

}  // namespace simtlab::timing
