// What each warp of an SM does next, and when: its next instruction, the operands that instruction needs, and
// what holds the warp up.
//
// Issue is in order. A warp whose next instruction has all operands at known cycles gets a wake-up at the
// latest of them. If an operand is under way the warp waits until that load has come. Instructions that
// machine code has no instruction for (folded ones) happen on the way to the next one. The line of the
// instruction cache that the end of the warp's instruction buffer reaches is asked for when the warp gets
// there, so that a late line delays the next issue.
#pragma once

#include <compare>
#include <vector>

#include "timing/block_slots.h"
#include "timing/front_end.h"
#include "timing/load_table.h"
#include "timing/scheduler.h"
#include "timing/scoreboard.h"
#include "timing/sm_context.h"
#include "timing/warp_policies.h"

namespace simtlab::timing {

class Sequencer final : public MemoryWaiter {
 public:
  // The parts of the SM that it works with.
  struct Parts {
    std::vector<Warp>& warps;
    std::vector<WarpScheduler>& schedulers;
    Scoreboard& scoreboard;
    BlockSlots& blocks;
    FrontEnd& front_end;
    WarpPolicies& policies;
  };
  Sequencer(SmContext& sm, const Parts& parts)
      : sm_(sm), parts_(parts), warp_interval_(memory::to_fixed(sm.config.device.launch.warp_interval)) {}

  void begin();  // every warp is free
  // The block in the slot has started: its warps get their first instruction.
  void start_block(std::uint32_t slot, Cycle now);
  // The warp goes on to its next instruction. floor: no issue before that cycle, for that reason.
  void advance(std::uint32_t warp, Cycle floor, Stall reason);
  // The warp goes on when an event says so.
  void wait_for_event(std::uint32_t warp, WarpState state, Stall reason);
  // The warp has arrived at a barrier that is not complete.
  void wait_at_barrier(std::uint32_t warp);
  // Warps of the block that the executor has let go; called when one arrives or exits.
  void release_barriers(std::uint32_t block_slot, Cycle now) {
    if (parts_.blocks[block_slot].at_barrier > 0) release(block_slot, now);
  }
  void meet_in_clusters(Cycle now);
  // It ends when its loads are there and its stores have left the SM.
  void exit(std::uint32_t warp, Cycle now);

  // When the first warp ends of those whose stores leave the SM, and the end of those whose have.
  Cycle next_drained() const { return draining_.empty() ? never : draining_.front().at; }
  void end_drained(Cycle now);

  void load_done(const Load& load, Cycle at) override;
  void stores_done(std::uint32_t warp, Cycle now) override;
  void stores_left(std::uint32_t warp, Cycle now) override;

 private:
  void resume(Warp& warp) { scheduler_of(warp).waiting &= ~warp_bit(warp.local); }
  WarpScheduler& scheduler_of(const Warp& warp) { return parts_.schedulers[warp.scheduler]; }
  const InstInfo& decode(Warp& warp);
  bool fold(std::uint32_t warp, const InstInfo& info, Cycle at);
  Stall fetch(Warp& warp, const InstInfo& info, Stall reason);
  bool wake_when_ready(std::uint32_t warp, Stall reason);
  void release(std::uint32_t block_slot, Cycle now);
  void drain(std::uint32_t warp, Cycle now);
  void end_warp(std::uint32_t warp, Cycle now);
  struct Draining {
    Cycle at = 0;
    std::uint32_t warp = 0;
    auto operator<=>(const Draining&) const = default;
  };

  SmContext& sm_;
  const Parts parts_;
  const FixedCycles warp_interval_;  // between the first instructions of two warps of a block
  std::uint64_t started_warps_ = 0;  // the age of the next warp
  std::vector<Draining> draining_;   // a heap, the next one first
};

}  // namespace simtlab::timing
