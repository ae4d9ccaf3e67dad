// The launches that an SM has blocks of, each with its counters, and what belongs to none of them.
#pragma once

#include <memory>
#include <vector>

#include "timing/tenant.h"

namespace simtlab::timing {

class LaunchAccounts {
 public:
  using Tenants = std::vector<std::unique_ptr<Tenant>>;

  void begin();
  // In the order of their first block here. A launch whose blocks have all ended stays until remove().
  const Tenants& all() const { return tenants_; }
  Tenant* find(unsigned slot) const;     // null: the launch has not been here
  Tenant& admit(LaunchContext& launch);  // a launch that has not been here
  // The launch has ended: what it did here joins the past.
  void remove(Tenant& tenant);

  // Everybody sees what its blocks have written.
  void commit() {
    for (const auto& tenant : tenants_) tenant->work->commit();
  }

  SlotCounts& unowned_slots() { return unowned_; }  // issue slots that no launch lost
  SmCounters& past() { return past_; }

  // Of all launches since begin().
  SmCounters counters() const;
  std::uint64_t warp_instructions() const;
  std::uint64_t warp_cycles(Cycle now) const;  // resident warps summed over the cycles until `now`
  void add_slots(SlotCounts& out) const;

 private:
  Tenants tenants_;
  SmCounters past_;  // of launches that have been removed
  SlotCounts unowned_{};
};

}  // namespace simtlab::timing
