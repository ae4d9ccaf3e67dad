#include "memory/dram/page_policy.h"

#include <vector>

namespace simtlab::memory::dram {
namespace {

const PagePolicyRule& rule_of(const device::MemoryController::Page& page) {
  const PagePolicyRule* const rule = find_named(page_policy_rules(), page.policy);
  SIMTLAB_ASSERT(rule != nullptr, "a controller names a page policy that there is");
  return *rule;
}

}  // namespace

ActivePagePolicy::ActivePagePolicy(const device::MemoryController::Page& page, std::uint32_t banks)
    : events(rule_of(page).events),
      policy(rule_of(page).make(PolicySetup(banks, rule_of(page).parameters, page.parameters))) {}

}  // namespace simtlab::memory::dram

// What device/policy_parameters.h asks for.
std::span<const simtlab::device::DeclaredPolicy> simtlab::device::page_policies() {
  static const std::vector<DeclaredPolicy> all = [] {
    std::vector<DeclaredPolicy> out;
    for (const auto& [name, rule] : memory::dram::page_policy_rules())
      out.push_back({name, rule->doc, rule->parameters});
    return out;
  }();
  return all;
}
