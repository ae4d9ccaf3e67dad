#include "timing/warp_policy.h"

#include "base/error.h"
#include "device/policy_names.h"

namespace simtlab::timing {

const SchedulerPolicy& scheduler_policy(device::Scheduler id) {
  const SchedulerPolicy* const policy = find_named(scheduler_policies(), device::name_of(id));
  SIMTLAB_ASSERT(policy != nullptr, "every name of a scheduler has its file");
  return *policy;
}

}  // namespace simtlab::timing
