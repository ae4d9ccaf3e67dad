#include "timing/scheduler.h"

#include "base/error.h"

namespace simtlab::timing {

// The table of policies: a new one adds its file and a line here.
const SchedulerPolicy& scheduler_policy(device::Scheduler id) {
  static constexpr std::array policies = {&loose_round_robin, &greedy_then_oldest, &oldest_first, &two_level};
  for (const SchedulerPolicy* policy : policies)
    if (policy->id == id) return *policy;
  SIMTLAB_ASSERT(false, "every scheduler of the device file has a policy");
  return loose_round_robin;
}

}  // namespace simtlab::timing
