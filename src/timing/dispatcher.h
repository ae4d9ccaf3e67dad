// Hands thread blocks to SMs: launch by launch in the order of priority and coming, a launch's blocks in the
// order of their index, round-robin over the SMs with room, one at a time.
//
// The GPU hands out a block at most every launch.block_interval cycles, an SM takes one at most every
// host.block_launch cycles, and its first instruction comes launch.block_latency cycles later. Freed places
// are seen at the end of a quantum (the network's latency), so that SMs can be simulated independently in
// between: a refill is late by half a quantum on average.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "timing/sm.h"

namespace simtlab::timing {

// The blocks of a launch that no SM has yet.
struct Grid {
  LaunchContext* launch = nullptr;
  std::uint64_t blocks = 0, next = 0;
  bool all_handed_out() const { return next == blocks; }
};

class BlockDispatcher {
 public:
  explicit BlockDispatcher(const device::Device& device)
      : interval_of_gpu_(memory::to_fixed(device.launch.block_interval)),
        interval_of_sm_(static_cast<Cycle>(std::llround(device.host.block_launch_cycles))),
        latency_(static_cast<Cycle>(std::llround(device.launch.block_latency))),
        ready_at_(device.sm.count, 0) {}

  void begin() {
    next_sm_ = 0;
    hand_outs_.reset();
    std::ranges::fill(ready_at_, 0);
  }

  void hand_out(Grid& grid, Cycle earliest, std::deque<Sm>& sms) {
    const LaunchContext& launch = *grid.launch;
    for (std::size_t without_room = 0; grid.next < grid.blocks && without_room < sms.size();) {
      Sm& sm = sms[next_sm_];
      if (next_sm_ >= launch.first_sm && next_sm_ < launch.end_sm && sm.has_room(launch)) {
        const Cycle at = std::max(hand_outs_.take(earliest, interval_of_gpu_), ready_at_[next_sm_]);
        ready_at_[next_sm_] = at + interval_of_sm_;
        sm.assign(*grid.launch, grid.next++, at + latency_);
        without_room = 0;
      } else {
        ++without_room;
      }
      next_sm_ = next_sm_ + 1 == sms.size() ? 0 : next_sm_ + 1;
    }
  }

 private:
  FixedCycles interval_of_gpu_;
  Cycle interval_of_sm_, latency_;
  memory::Port hand_outs_;
  std::size_t next_sm_ = 0;
  std::vector<Cycle> ready_at_;
};

}  // namespace simtlab::timing
