// One warp scheduler of an SM: which of its warps have their operands, when the next one will, and what its
// issue slots are charged to.
//
// Warps are known by their number within the scheduler. The policy (warp_policy.h) only picks among the warps
// that could issue in a cycle.
#pragma once

#include "timing/pipes.h"
#include "timing/stall.h"
#include "timing/wake_ups.h"
#include "timing/warp_policy.h"

namespace simtlab::timing {

// The issue slots of a scheduler, one a cycle. Every slot has exactly one reason: slots before a cycle have
// been charged to a launch, those from there on have a reason that holds until something happens.
class SlotAccount {
 public:
  // The slots from now on: why nothing issues in them, and whose they are.
  void set(Stall reason, SlotCounts& owner) {
    reason_ = reason;
    owner_ = &owner;
  }
  void set_owner(SlotCounts& owner) { owner_ = &owner; }
  Stall reason() const { return reason_; }
  bool belongs_to(const SlotCounts& owner) const { return owner_ == &owner; }
  Cycle charged_until() const { return charged_until_; }
  Cycle uncharged(Cycle now) const { return now > charged_until_ ? now - charged_until_ : 0; }

  void charge(Cycle now) {
    if (now <= charged_until_) return;
    (*owner_)[static_cast<std::size_t>(reason_)] += now - charged_until_;
    charged_until_ = now;
  }
  void charge_issue(Cycle now, SlotCounts& issuer) {
    ++issuer[static_cast<std::size_t>(Stall::selected)];
    charged_until_ = now + 1;
  }

 private:
  Cycle charged_until_ = 0;
  Stall reason_ = Stall::no_warp;
  SlotCounts* owner_ = nullptr;
};

// No issue before: registers are read, or instructions are fetched.
struct Closed {
  Cycle until = 0;
  std::uint8_t conflicts = 0;  // of the registers of what issued last: cycles of `dispatch`
  FixedCycles fetched = 0;     // when what has issued, and what taken branches dropped, has been fetched
};

struct WarpScheduler {
  using Mask = WarpMask;

  Mask ready = 0;  // operands are there
  Mask resident = 0;
  Mask waiting = 0;                          // for an event that has no time yet: memory, barrier, stores
  std::array<Mask, pipe_count> next_pipe{};  // warps by the pipeline of their next instruction
  std::array<FixedCycles, pipe_count> pipe_free{};
  std::uint32_t busy_pipes = 0;  // superset of the pipelines that are not free
  Closed closed;
  Cycle next_try = never;                        // evaluate again at this cycle
  std::uint8_t index = 0;                        // in the SM
  std::uint8_t warps = 0;                        // in `resident`
  std::uint8_t last = 0;                         // the warp that issued last
  std::uint8_t turn = 0;                         // it issues in cycles with this remainder (sm.issue_turns)
  bool gated = false;                            // it has turns, or closed.until may be to come
  bool yielded = false;                          // what issued last said that another warp should go first
  bool held_back = false;                        // its policy lets none of the warps go that could issue
  std::array<Stall, max_scheduler_warps> why{};  // of warps that are not ready
  std::array<std::uint64_t, max_scheduler_warps> age{};  // order of launch: lower is older
  SlotAccount slots;
  WakeUps wake_ups;
  WarpPolicy* policy = nullptr;

  static constexpr Mask bit(unsigned warp) { return warp_bit(warp); }

  // The warp becomes ready at cycle `at`.
  void wake(unsigned warp, Cycle at) {
    ready |= wake_ups.add(warp, at);
    next_try = std::min(next_try, std::max(at, wake_ups.time()));
  }
  // Warps whose time has come until `now` become ready.
  void collect(Cycle now) { ready |= wake_ups.collect(now); }
  // Something has changed: evaluate again at `now` at the latest.
  void try_at(Cycle now) { next_try = std::min(next_try, now); }
};

// The warp of `eligible` (not 0) that was launched first.
inline unsigned oldest_of(const WarpScheduler& scheduler, WarpMask eligible) {
  auto oldest = static_cast<unsigned>(std::countr_zero(eligible));
  for (WarpMask rest = eligible & (eligible - 1); rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<unsigned>(std::countr_zero(rest));
    if (scheduler.age[warp] < scheduler.age[oldest]) oldest = warp;
  }
  return oldest;
}

}  // namespace simtlab::timing
