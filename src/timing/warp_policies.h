// The policies of the schedulers of one SM, and the events that they listen to.
//
// An event costs its caller one test of events() if the policy does not listen. A scheduler whose policy held
// its warps back is evaluated again after an event of its own.
#pragma once

#include <memory>
#include <vector>

#include "timing/scheduler.h"
#include "timing/warp.h"

namespace simtlab::timing {

class WarpPolicies {
 public:
  WarpPolicies(const SchedulerPolicy& policy, const device::Device& device,
               std::vector<WarpScheduler>& schedulers);

  void begin();  // the GPU was idle, and the SM gets its first block
  const PolicyEvents& events() const { return events_; }

  void issued(WarpScheduler& scheduler, unsigned warp, Cycle now);
  void load_missed(const Warp& warp, std::uint64_t line, std::uint8_t sectors, Cycle now);
  void data_returned(const Warp& warp, Cycle now);
  // Warps with consecutive numbers in the SM.
  void block_started(const std::vector<Warp>& warps, std::uint32_t first, std::uint32_t count, Cycle now);
  void block_ended(const std::vector<Warp>& warps, std::uint32_t first, std::uint32_t count, Cycle now);

 private:
  void try_again(WarpScheduler& scheduler, Cycle now) {
    if (scheduler.held_back) scheduler.try_at(now + 1);
  }
  template <class Tell>
  void tell_block(const std::vector<Warp>& warps, std::uint32_t first, std::uint32_t count, Cycle now,
                  Tell&& tell);

  PolicyEvents events_;
  std::vector<WarpScheduler>& schedulers_;
  std::vector<std::unique_ptr<WarpPolicy>> policies_;  // of the schedulers
};

}  // namespace simtlab::timing
