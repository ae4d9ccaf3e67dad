#include "memory/dram/scheduler.h"

#include <vector>

namespace simtlab::memory::dram {
namespace {

const SchedulerRule& rule_of(const device::MemoryController::Schedule& schedule) {
  const SchedulerRule* const rule = find_named(scheduler_rules(), schedule.kind);
  SIMTLAB_ASSERT(rule != nullptr, "a controller names a scheduler that there is");
  return *rule;
}

}  // namespace

ActiveScheduler::ActiveScheduler(const device::MemoryController::Schedule& schedule, std::uint32_t banks)
    : events(rule_of(schedule).events),
      policy(rule_of(schedule).make(PolicySetup(banks, rule_of(schedule).parameters, schedule.parameters))),
      strict(policy->strict()),
      rotates(policy->rotates()),
      steady(policy->steady()) {}

}  // namespace simtlab::memory::dram

// What device/policy_parameters.h asks for.
std::span<const simtlab::device::DeclaredPolicy> simtlab::device::memory_schedulers() {
  static const std::vector<DeclaredPolicy> all = [] {
    std::vector<DeclaredPolicy> out;
    for (const auto& [name, rule] : memory::dram::scheduler_rules())
      out.push_back({name, rule->doc, rule->parameters});
    return out;
  }();
  return all;
}
