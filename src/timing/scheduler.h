// One warp scheduler: which of its warps have their operands, when the next one will, and whose turn it is.
//
// Warps are known by their number within the scheduler (bit positions of 64-bit masks). Wake-ups up to 64
// cycles ahead sit in a ring of masks, so that advancing time costs a few bit operations whatever the number
// of warps; later ones are kept aside. The policy only picks among warps that could issue now: one file a
// policy, schedulers/NAME.cpp, which gives a SchedulerPolicy scheduler_NAME. A new one is a new file: the
// build makes the list (cmake/registry.cmake).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/named.h"
#include "timing/pipes.h"
#include "timing/stall.h"

namespace simtlab::timing {

inline constexpr unsigned max_scheduler_warps = 64;

struct WarpScheduler {
  using Mask = std::uint64_t;

  Mask ready = 0;  // operands are there
  Mask resident = 0;
  Mask waiting = 0;                          // for an event that has no time yet: memory, barrier, stores
  std::array<Mask, pipe_count> next_pipe{};  // warps by the pipeline of their next instruction
  std::array<FixedCycles, pipe_count> pipe_free{};
  std::uint32_t busy_pipes = 0;   // superset of the pipelines that are not free
  Cycle closed_until = 0;         // no issue before: registers are read
  Cycle next_try = never;         // evaluate again at this cycle
  Cycle charged_until = 0;        // slots before this cycle have their reason
  Stall reason = Stall::no_warp;  // of the slots from charged_until on
  std::uint8_t last = 0;          // who issued last
  // Of the registers of what issued last: cycles of `dispatch` before the next issue
  std::uint8_t conflicts = 0;
  std::uint8_t turn = 0;                         // it issues in cycles with this remainder (sm.issue_turns)
  bool gated = false;                            // it has turns, or closed_until may be to come
  std::array<Stall, max_scheduler_warps> why{};  // of warps that are not ready
  std::array<std::uint64_t, max_scheduler_warps> age{};  // order of launch: lower is older
  SlotCounts* account = nullptr;                         // whose slots those are

  static constexpr Mask bit(unsigned warp) { return Mask{1} << warp; }

  // The warp becomes ready at cycle `at`.
  void wake(unsigned warp, Cycle at) {
    if (at <= time_) {
      ready |= bit(warp);
    } else if (at - time_ <= ring_size) {
      ring_[at % ring_size] |= bit(warp);
      ring_used_ |= Mask{1} << (at % ring_size);
    } else {
      far_ |= bit(warp);
      far_at_[warp] = at;
      far_next_ = std::min(far_next_, at);
    }
    next_try = std::min(next_try, std::max(at, time_));
  }

  // Warps whose time has come until `now` become ready.
  void collect(Cycle now) {
    if (now <= time_) return;
    if (ring_used_ != 0) collect_ring(now);
    time_ = now;
    if (far_ != 0 && far_next_ <= now + ring_size) far_to_ring();
  }

  // When the next timed warp becomes ready, and which; never if none.
  struct Next {
    Cycle at = never;
    unsigned warp = 0;
  };
  Next next_wake() const {
    if (ring_used_ != 0) {
      const auto ahead = static_cast<unsigned>(
          std::countr_zero(std::rotr(ring_used_, static_cast<int>((time_ + 1) % ring_size))));
      const Cycle at = time_ + 1 + ahead;
      return {at, static_cast<unsigned>(std::countr_zero(ring_[at % ring_size]))};
    }
    Next next;
    for (Mask rest = far_; rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      if (far_at_[warp] < next.at) next = {far_at_[warp], warp};
    }
    return next;
  }

  void charge(Cycle now) {
    if (now <= charged_until) return;
    (*account)[static_cast<std::size_t>(reason)] += now - charged_until;
    charged_until = now;
  }
  void charge_issue(Cycle now, SlotCounts& issuer) {
    ++issuer[static_cast<std::size_t>(Stall::selected)];
    charged_until = now + 1;
  }

 private:
  static constexpr Cycle ring_size = 64;

  void collect_ring(Cycle now) {
    const Cycle span = std::min<Cycle>(now - time_, ring_size);
    const Mask ones = span == ring_size ? ~Mask{0} : (Mask{1} << span) - 1;
    const Mask window = std::rotl(ones, static_cast<int>((time_ + 1) % ring_size));
    for (Mask due = ring_used_ & window; due != 0; due &= due - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(due));
      ready |= ring_[slot];
      ring_[slot] = 0;
    }
    ring_used_ &= ~window;
  }

  // Keeps the invariant that whoever is in far_ is more than a ring ahead of time_.
  void far_to_ring() {
    far_next_ = never;
    for (Mask rest = far_; rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      const Cycle at = far_at_[warp];
      if (at > time_ + ring_size) {
        far_next_ = std::min(far_next_, at);
        continue;
      }
      far_ &= ~bit(warp);
      if (at <= time_) {
        ready |= bit(warp);
      } else {
        ring_[at % ring_size] |= bit(warp);
        ring_used_ |= Mask{1} << (at % ring_size);
      }
    }
  }

  std::array<Mask, ring_size> ring_{};
  Mask ring_used_ = 0;
  Cycle time_ = 0;  // wake-ups until here have been collected
  Mask far_ = 0;
  Cycle far_next_ = never;
  std::array<Cycle, max_scheduler_warps> far_at_{};
};

// The warp of `eligible` (not 0) that was launched first.
inline unsigned oldest_of(const WarpScheduler& scheduler, WarpScheduler::Mask eligible) {
  auto oldest = static_cast<unsigned>(std::countr_zero(eligible));
  for (WarpScheduler::Mask rest = eligible & (eligible - 1); rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<unsigned>(std::countr_zero(rest));
    if (scheduler.age[warp] < scheduler.age[oldest]) oldest = warp;
  }
  return oldest;
}

struct SchedulerPolicy {
  std::string_view doc;  // one sentence
  // One of the warps of `eligible` (never 0)
  unsigned (*pick)(const WarpScheduler& scheduler, WarpScheduler::Mask eligible);
};
std::span<const Named<SchedulerPolicy>> scheduler_policies();  // in the order of the names
const SchedulerPolicy& scheduler_policy(device::Scheduler id);

}  // namespace simtlab::timing
