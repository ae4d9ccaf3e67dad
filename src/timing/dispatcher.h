// Hands thread blocks to SMs: in order of their index, round-robin over the SMs with room, one at a time.
//
// An SM takes a block at most every block_launch_cycles. Freed places are seen at the end of a quantum (the network's latency), so that
// SMs can be simulated independently in between: a refill is late by half a quantum on average.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "timing/sm.h"

namespace simtlab::timing {

class BlockDispatcher {
 public:
  BlockDispatcher(std::uint64_t blocks, std::size_t sms, Cycle interval) : blocks_(blocks), interval_(interval), ready_at_(sms, 0) {}

  void hand_out(Cycle earliest, std::vector<Sm>& sms) {
    for (std::size_t without_room = 0; next_block_ < blocks_ && without_room < sms.size();) {
      Sm& sm = sms[next_sm_];
      if (sm.free_blocks() > 0) {
        const Cycle at = std::max(earliest, ready_at_[next_sm_]);
        ready_at_[next_sm_] = at + interval_;
        sm.assign(next_block_++, at);
        without_room = 0;
      } else {
        ++without_room;
      }
      next_sm_ = next_sm_ + 1 == sms.size() ? 0 : next_sm_ + 1;
    }
  }
  bool all_handed_out() const { return next_block_ == blocks_; }
  std::uint64_t handed_out() const { return next_block_; }
  void stop() { blocks_ = next_block_; }   // the rest is left out

 private:
  std::uint64_t blocks_, next_block_ = 0;
  Cycle interval_;
  std::size_t next_sm_ = 0;
  std::vector<Cycle> ready_at_;
};

}  // namespace simtlab::timing
