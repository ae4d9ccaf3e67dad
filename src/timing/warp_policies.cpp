#include "timing/warp_policies.h"

#include "device/policy_names.h"

namespace simtlab::timing {

WarpPolicies::WarpPolicies(const SchedulerPolicy& policy, const device::Device& device,
                           std::vector<WarpScheduler>& schedulers)
    : events_(policy.events), schedulers_(schedulers) {
  // Names are looked up for policies with parameters alone: a GPU has hundreds of schedulers.
  const bool none = policy.parameters.empty();
  const device::SchedulerValues values(device,
                                       none ? std::string_view{} : device::name_of(device.sm.scheduler));
  for (std::size_t i = 0; i < schedulers.size(); ++i) policies_.push_back(policy.make(values));
}

void WarpPolicies::begin() {
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    policies_[i]->begin();
    schedulers_[i].policy = policies_[i].get();
  }
}

void WarpPolicies::issued(WarpScheduler& scheduler, unsigned warp, Cycle now) {
  scheduler.policy->issued(warp, now);
}

void WarpPolicies::load_missed(const Warp& warp, std::uint64_t line, std::uint8_t sectors, Cycle now) {
  WarpScheduler& scheduler = schedulers_[warp.scheduler];
  scheduler.policy->load_missed(warp.local, line, sectors, now);
  try_again(scheduler, now);
}

void WarpPolicies::data_returned(const Warp& warp, Cycle now) {
  WarpScheduler& scheduler = schedulers_[warp.scheduler];
  scheduler.policy->data_returned(warp.local, now);
  try_again(scheduler, now);
}

template <class Tell>
void WarpPolicies::tell_block(const std::vector<Warp>& warps, std::uint32_t first, std::uint32_t count,
                              Cycle now, Tell&& tell) {
  std::vector<WarpMask> masks(schedulers_.size(), 0);
  for (std::uint32_t i = first; i < first + count; ++i) masks[warps[i].scheduler] |= warp_bit(warps[i].local);
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    if (masks[i] == 0) continue;
    tell(*schedulers_[i].policy, masks[i]);
    try_again(schedulers_[i], now);
  }
}

void WarpPolicies::block_started(const std::vector<Warp>& warps, std::uint32_t first, std::uint32_t count,
                                 Cycle now) {
  tell_block(warps, first, count, now,
             [&](WarpPolicy& policy, WarpMask mask) { policy.block_started(mask, now); });
}

void WarpPolicies::block_ended(const std::vector<Warp>& warps, std::uint32_t first, std::uint32_t count,
                               Cycle now) {
  tell_block(warps, first, count, now,
             [&](WarpPolicy& policy, WarpMask mask) { policy.block_ended(mask, now); });
}

}  // namespace simtlab::timing
