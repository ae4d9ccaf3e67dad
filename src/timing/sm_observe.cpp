// What an SM tells its observer, and what it is asked between two events.
#include <fmt/format.h>

#include <algorithm>

#include "timing/sm.h"

namespace simtlab::timing {

void Sm::observe_charge(const WarpScheduler& scheduler, Cycle now) {
  if (now > scheduler.charged_until)
    observer_->charge(index_of(scheduler), scheduler.reason, now - scheduler.charged_until);
}

// The slots from now on are charged to the warp that gave them their reason (Sm::evaluate).
void Sm::observe_stall(const WarpScheduler& scheduler, unsigned local) {
  const unsigned index = index_of(scheduler);
  if (local == nobody) return observer_->blame_nobody(index);
  const Warp& warp = warp_of(scheduler, local);
  observer_->blame(index, warp.tenant->context->slot, *warp.program, warp.pc);
}

// For a timeline: what each warp of the scheduler does from this cycle on.
void Sm::observe_warps(const WarpScheduler& scheduler, unsigned issued, WarpScheduler::Mask throttled,
                       Cycle now) {
  const unsigned index = index_of(scheduler);
  for (unsigned local = 0; local * schedulers_.size() + index < warps_.size(); ++local) {
    const auto number = static_cast<std::uint32_t>(local * schedulers_.size() + index);
    const WarpScheduler::Mask bit = WarpScheduler::bit(local);
    const bool there = (scheduler.resident & bit) != 0;
    if (local == issued) {
      observer_->state(number, name_of(Stall::selected), now);
      if (!there) observer_->state(number, {}, now + 1);  // that was its last one
    } else if (!there) {
      observer_->state(number, {}, now);
    } else if ((scheduler.ready & bit) == 0) {
      observer_->state(number, name_of(scheduler.why[local]), now);
    } else if ((throttled & bit) != 0) {
      const Warp& warp = warps_[number];
      observer_->state(number, name_of(throttle_stall((*warp.program)[warp.pc].pipe_of(warp.part))), now);
    } else {
      observer_->state(number, "not_selected", now);
    }
  }
}

void Sm::add_slots(Cycle now, SlotCounts& out) const {
  if (unused_) {
    out[static_cast<std::size_t>(Stall::no_warp)] += now * schedulers_.size();
    return;
  }
  for (std::size_t i = 0; i < stall_count; ++i) {
    out[i] += past_.slots[i] + nobody_[i];
    for (const auto& tenant : tenants_) out[i] += tenant->counters.slots[i];
  }
  for (const WarpScheduler& scheduler : schedulers_) {
    if (now > scheduler.charged_until)
      out[static_cast<std::size_t>(scheduler.reason)] += now - scheduler.charged_until;
  }
}

std::uint64_t Sm::warp_cycles(Cycle now) const {
  std::uint64_t sum = past_.warp_cycles;
  for (const auto& tenant : tenants_)
    sum += tenant->counters.warp_cycles +
           (now > tenant->residency_since ? now - tenant->residency_since : 0) * tenant->resident_warps;
  return sum;
}

std::string Sm::unfinished() const {
  if (unused_) return {};
  const auto say = [&](const char* what, std::size_t count) {
    return fmt::format("SM {}: {} {}", id_, count, what);
  };
  if (!network_.inbox(id_).empty()) return say("replies that nobody took", network_.inbox(id_).size());
  if (!lg_queue_.empty()) return say("memory instructions that wait", lg_queue_.size());
  if (loads_.size() != free_loads_.size())
    return say("loads without an answer", loads_.size() - free_loads_.size());
  if (stores_outstanding_ != 0) return say("stores without an acknowledgement", stores_outstanding_);
  if (direct_outstanding_ != 0) return say("sectors without an answer", direct_outstanding_);
  if (mshr_.used() + constant_mshr_.used() != 0)
    return say("miss registers in use", mshr_.used() + constant_mshr_.used());
  return {};
}

}  // namespace simtlab::timing
