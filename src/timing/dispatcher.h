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
    if (launch.cluster_blocks > 1) {
      while (grid.next < grid.blocks && hand_out_cluster(grid, earliest, sms)) {}
      return;
    }
    for (std::size_t without_room = 0; grid.next < grid.blocks && without_room < sms.size();) {
      Sm& sm = sms[next_sm_];
      if (next_sm_ >= launch.first_sm && next_sm_ < launch.end_sm && sm.has_room(launch)) {
        assign(grid, earliest, sm, next_sm_);
        without_room = 0;
      } else {
        ++without_room;
      }
      next_sm_ = next_sm_ + 1 == sms.size() ? 0 : next_sm_ + 1;
    }
  }

 private:
  void assign(Grid& grid, Cycle earliest, Sm& sm, std::size_t number) {
    const Cycle at = std::max(hand_outs_.take(earliest, interval_of_gpu_), ready_at_[number]);
    ready_at_[number] = at + interval_of_sm_;
    sm.assign(*grid.launch, grid.next++, at + latency_);
  }
  // The blocks of a cluster go to SMs next to each other that have room, one to each. False: there are too
  // few of them now.
  bool hand_out_cluster(Grid& grid, Cycle earliest, std::deque<Sm>& sms) {
    const LaunchContext& launch = *grid.launch;
    places_.clear();
    for (std::size_t i = 0; i < sms.size() && places_.size() < launch.cluster_blocks; ++i) {
      const std::size_t sm = (next_sm_ + i) % sms.size();
      if (sm >= launch.first_sm && sm < launch.end_sm && sms[sm].has_room(launch)) places_.push_back(sm);
    }
    if (places_.size() < launch.cluster_blocks) return false;
    for (const std::size_t sm : places_) assign(grid, earliest, sms[sm], sm);
    next_sm_ = (places_.back() + 1) % sms.size();
    return true;
  }

  FixedCycles interval_of_gpu_;
  Cycle interval_of_sm_, latency_;
  memory::Port hand_outs_;
  std::size_t next_sm_ = 0;
  std::vector<Cycle> ready_at_;
  std::vector<std::size_t> places_;  // SMs for a cluster
};

}  // namespace simtlab::timing
