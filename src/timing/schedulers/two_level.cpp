// Two levels: the scheduler's warps are in groups of eight. Warps of one group take turns; only when none of
// them can issue the next group that has one becomes the current one. So the groups reach their long waits at
// different times (Narasiman et al., MICRO 2011, who switch when the whole group waits for memory; here any
// wait of the whole group counts, as a slot would be lost otherwise).
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

constexpr unsigned group_warps = 8;

// The next of `eligible` from `start` on, around the end.
unsigned next_of(WarpMask eligible, unsigned start) {
  const auto first = static_cast<int>(start % max_scheduler_warps);
  const auto ahead = static_cast<unsigned>(std::countr_zero(std::rotr(eligible, first)));
  return (start + ahead) % max_scheduler_warps;
}

class TwoLevel final : public WarpPolicy {
 public:
  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle) override {
    const unsigned first = scheduler.last / group_warps * group_warps;
    const WarpMask group = ((WarpMask{1} << group_warps) - 1) << first;
    if ((eligible & group) == 0) return next_of(eligible, first + group_warps);
    // After the last of the group comes its first.
    const WarpMask after = eligible & group & ~((warp_bit(scheduler.last) << 1) - 1);
    return static_cast<unsigned>(std::countr_zero(after != 0 ? after : eligible & group));
  }
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_two_level = policy_entry<TwoLevel>(
    "Round-robin within a group of eight warps, the next group when none of them is ready");

}  // namespace simtlab::timing
