// Static wavefront limiting, SWL(n): only so many warps of a scheduler run at a time, the oldest (Rogers et
// al., Cache-Conscious Wavefront Scheduling, MICRO 2012). Where each warp uses its lines again soon, and all
// warps together use more lines than L1 has, fewer warps find their lines still there. A warp at a barrier
// waits for others and does not count: else a block with more warps than scheduler.swl.warps would never
// leave it.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

using device::whole_parameter;

constexpr device::SchedulerParameter parameters[] = {
    whole_parameter("warps", 2, 1, 64, "Warps of a scheduler that may run at a time"),
};

class StaticLimit final : public WarpPolicy {
 public:
  explicit StaticLimit(const device::SchedulerValues& values) : warps_(values.whole("warps")) {}

  // Greedy then oldest among the warps that run.
  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle) override {
    const WarpMask allowed = eligible & running(scheduler);
    if (allowed == 0) return nobody;
    return (allowed & warp_bit(scheduler.last)) != 0 ? scheduler.last : oldest_of(scheduler, allowed);
  }

 private:
  WarpMask running(const WarpScheduler& scheduler) const {
    WarpMask rest = scheduler.resident, oldest = 0;
    for (WarpMask waiting = scheduler.resident & scheduler.waiting; waiting != 0; waiting &= waiting - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(waiting));
      if (scheduler.why[warp] == Stall::barrier) rest &= ~warp_bit(warp);
    }
    for (std::uint64_t i = 0; i < warps_ && rest != 0; ++i) {
      const WarpMask next = warp_bit(oldest_of(scheduler, rest));
      oldest |= next;
      rest &= ~next;
    }
    return oldest;
  }

  std::uint64_t warps_;
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_swl = policy_entry<StaticLimit>(
    "Static wavefront limiting: greedy then oldest among the few oldest warps", parameters);

}  // namespace simtlab::timing
