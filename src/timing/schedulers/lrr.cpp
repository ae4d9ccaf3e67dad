// Loose round-robin: the next warp after the last that issued, skipping those that cannot.
#include "timing/scheduler.h"

namespace simtlab::timing {
namespace {

class LooseRoundRobin final : public WarpPolicy {
 public:
  unsigned select_warp(const WarpScheduler& scheduler, WarpMask eligible, Cycle) override {
    const unsigned start = (scheduler.last + 1u) % max_scheduler_warps;
    const auto ahead = static_cast<unsigned>(std::countr_zero(std::rotr(eligible, static_cast<int>(start))));
    return (start + ahead) % max_scheduler_warps;
  }
};

}  // namespace

extern constinit const SchedulerPolicy scheduler_lrr =
    policy_entry<LooseRoundRobin>("Loose round-robin: the ready warp after the one that issued last");

}  // namespace simtlab::timing
