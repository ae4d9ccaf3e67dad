// Hands thread blocks to SMs: launch by launch in the order of priority and coming, a launch's blocks in the
// order of their index, one at a time: to the SM whose place has been free for longest, of equal ones in
// turn.
//
// The GPU hands out a block at most every launch.block_interval cycles, and its first instruction comes
// launch.block_latency cycles later. Places that became free are seen at the end of a quantum (the network's
// latency), so that SMs can be simulated independently in between. Their next blocks begin as if they had
// been seen at once, if that is not before the quantum's end.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
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
      : interval_(memory::to_fixed(device.launch.block_interval)),
        latency_(static_cast<Cycle>(std::llround(device.launch.block_latency))) {}

  void begin() {
    turns_ = 0;
    hand_outs_.reset();
  }

  // opens: the launch's first blocks may be handed out from then on. now: nobody begins before.
  void hand_out(Grid& grid, Cycle opens, Cycle now, std::deque<Sm>& sms) {
    const LaunchContext& launch = *grid.launch;
    if (launch.cluster_blocks > 1) {
      while (grid.next < grid.blocks && hand_out_cluster(grid, opens, now, sms)) {}
      return;
    }
    places_.clear();
    for (std::size_t i = 0; i < sms.size(); ++i) {
      const std::size_t sm = (turns_ + i) % sms.size();
      if (sm >= launch.first_sm && sm < launch.end_sm && sms[sm].has_room(launch))
        places_.push_back({std::max(opens, sms[sm].freed_at(now)), turns_ + i});
    }
    std::ranges::make_heap(places_, std::greater{});
    while (grid.next < grid.blocks && !places_.empty()) {
      std::ranges::pop_heap(places_, std::greater{});
      Place& place = places_.back();
      Sm& sm = sms[place.turn % sms.size()];
      assign(grid, place.free, now, sm);
      turns_ = place.turn + 1;
      if (sm.has_room(launch)) {
        place = {std::max(opens, sm.freed_at(now)), place.turn + sms.size()};
        std::ranges::push_heap(places_, std::greater{});
      } else {
        places_.pop_back();
      }
    }
  }

 private:
  // The next place of an SM. turn: numbers of SMs, counted on round by round.
  struct Place {
    Cycle free = 0;
    std::size_t turn = 0;
    auto operator<=>(const Place&) const = default;
  };
  void assign(Grid& grid, Cycle free, Cycle now, Sm& sm) {
    sm.assign(*grid.launch, grid.next++, std::max(hand_outs_.take(free, interval_) + latency_, now));
  }
  // The blocks of a cluster go to SMs next to each other that have room, one to each, once all are free.
  // False: there are too few of them now.
  bool hand_out_cluster(Grid& grid, Cycle opens, Cycle now, std::deque<Sm>& sms) {
    const LaunchContext& launch = *grid.launch;
    cluster_.clear();
    Cycle free = opens;
    for (std::size_t i = 0; i < sms.size() && cluster_.size() < launch.cluster_blocks; ++i) {
      const std::size_t sm = (turns_ + i) % sms.size();
      if (sm < launch.first_sm || sm >= launch.end_sm || !sms[sm].has_room(launch)) continue;
      cluster_.push_back(turns_ + i);
      free = std::max(free, sms[sm].freed_at(now));
    }
    if (cluster_.size() < launch.cluster_blocks) return false;
    for (const std::size_t turn : cluster_) assign(grid, free, now, sms[turn % sms.size()]);
    turns_ = cluster_.back() + 1;
    return true;
  }

  FixedCycles interval_;
  Cycle latency_;
  memory::Port hand_outs_;
  std::size_t turns_ = 0;  // whose turn it is
  std::vector<Place> places_;
  std::vector<std::size_t> cluster_;  // turns of the SMs for one
};

}  // namespace simtlab::timing
