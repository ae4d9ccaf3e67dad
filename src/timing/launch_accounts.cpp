#include "timing/launch_accounts.h"

#include <algorithm>

namespace simtlab::timing {

void LaunchAccounts::begin() {
  tenants_.clear();
  past_ = {};
  unowned_ = {};
}

Tenant* LaunchAccounts::find(unsigned slot) const {
  for (const auto& tenant : tenants_)
    if (tenant->context->slot == slot) return tenant.get();
  return nullptr;
}

Tenant& LaunchAccounts::admit(LaunchContext& launch) {
  auto& tenant = tenants_.emplace_back(std::make_unique<Tenant>());
  tenant->context = &launch;
  tenant->work = launch.launch->make_share(stream::Effects::at_commit);
  return *tenant;
}

void LaunchAccounts::remove(Tenant& tenant) {
  past_.add(tenant.counters);
  tenants_.erase(std::ranges::find(tenants_, &tenant, [](const auto& one) { return one.get(); }));
}

SmCounters LaunchAccounts::counters() const {
  SmCounters all = past_;
  for (const auto& tenant : tenants_) all.add(tenant->counters);
  return all;
}

std::uint64_t LaunchAccounts::warp_instructions() const {
  std::uint64_t sum = past_.warp_instructions;
  for (const auto& tenant : tenants_) sum += tenant->counters.warp_instructions;
  return sum;
}

std::uint64_t LaunchAccounts::warp_cycles(Cycle now) const {
  std::uint64_t sum = past_.warp_cycles;
  for (const auto& tenant : tenants_) {
    const Cycle since = now > tenant->residency_since ? now - tenant->residency_since : 0;
    sum += tenant->counters.warp_cycles + since * tenant->resident_warps;
  }
  return sum;
}

void LaunchAccounts::add_slots(SlotCounts& out) const {
  for (std::size_t i = 0; i < stall_count; ++i) {
    out[i] += past_.slots[i] + unowned_[i];
    for (const auto& tenant : tenants_) out[i] += tenant->counters.slots[i];
  }
}

}  // namespace simtlab::timing
