// When the warps of a scheduler have their operands: a calendar of up to 64 warps.
//
// Wake-ups up to 64 cycles ahead sit in a ring of masks, a bit for each warp. So advancing time costs a few
// bit operations, whatever the number of warps. Later wake-ups are kept aside and moved to the ring when
// their time is near.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "memory/time.h"

namespace simtlab::timing {

inline constexpr unsigned max_scheduler_warps = 64;
using WarpMask = std::uint64_t;  // warps of a scheduler, by their number in it
constexpr WarpMask warp_bit(unsigned warp) { return WarpMask{1} << warp; }

class WakeUps {
 public:
  using Cycle = memory::Cycle;

  // The warp becomes ready at `at`. Returns it in the mask if that is now.
  WarpMask add(unsigned warp, Cycle at) {
    if (at <= time_) return warp_bit(warp);
    if (at - time_ <= ring_size) {
      put_in_ring(warp, at);
    } else {
      far_ |= warp_bit(warp);
      far_at_[warp] = at;
      far_next_ = std::min(far_next_, at);
    }
    return 0;
  }

  // The warps whose time has come until `now`.
  WarpMask collect(Cycle now) {
    if (now <= time_) return 0;
    WarpMask due = 0;
    if (ring_used_ != 0) due = collect_ring(now);
    time_ = now;
    if (far_ != 0 && far_next_ <= now + ring_size) due |= far_to_ring();
    return due;
  }

  // When the next warp becomes ready, and which; never if none does.
  struct Next {
    Cycle at = memory::never;
    unsigned warp = 0;
  };
  Next next() const {
    if (ring_used_ != 0) {
      const auto first = static_cast<int>((time_ + 1) % ring_size);
      const auto ahead = static_cast<unsigned>(std::countr_zero(std::rotr(ring_used_, first)));
      const Cycle at = time_ + 1 + ahead;
      return {at, static_cast<unsigned>(std::countr_zero(ring_[at % ring_size]))};
    }
    Next next;
    for (WarpMask rest = far_; rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      if (far_at_[warp] < next.at) next = {far_at_[warp], warp};
    }
    return next;
  }
  Cycle time() const { return time_; }
  // A hint that warps are added and collected soon.
  [[gnu::always_inline]] void expect() const {
    for (const WarpMask* slot = ring_.data(); slot < ring_.data() + ring_size; slot += 64 / sizeof(WarpMask))
      __builtin_prefetch(slot, 1);
  }
  // The warps that become ready within the next 64 cycles.
  WarpMask soon() const {
    WarpMask warps = 0;
    for (WarpMask rest = ring_used_; rest != 0; rest &= rest - 1)
      warps |= ring_[static_cast<unsigned>(std::countr_zero(rest))];
    return warps;
  }

 private:
  static constexpr Cycle ring_size = 64;

  void put_in_ring(unsigned warp, Cycle at) {
    ring_[at % ring_size] |= warp_bit(warp);
    ring_used_ |= WarpMask{1} << (at % ring_size);
  }

  WarpMask collect_ring(Cycle now) {
    const Cycle span = std::min<Cycle>(now - time_, ring_size);
    const WarpMask ones = span == ring_size ? ~WarpMask{0} : (WarpMask{1} << span) - 1;
    const WarpMask window = std::rotl(ones, static_cast<int>((time_ + 1) % ring_size));
    WarpMask warps = 0;
    for (WarpMask due = ring_used_ & window; due != 0; due &= due - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(due));
      warps |= ring_[slot];
      ring_[slot] = 0;
    }
    ring_used_ &= ~window;
    return warps;
  }

  // Keeps the invariant that every warp of far_ is more than a ring ahead of time_. Returns those whose time
  // has come.
  WarpMask far_to_ring() {
    WarpMask due = 0;
    far_next_ = memory::never;
    for (WarpMask rest = far_; rest != 0; rest &= rest - 1) {
      const auto warp = static_cast<unsigned>(std::countr_zero(rest));
      const Cycle at = far_at_[warp];
      if (at > time_ + ring_size) {
        far_next_ = std::min(far_next_, at);
        continue;
      }
      far_ &= ~warp_bit(warp);
      if (at <= time_) {
        due |= warp_bit(warp);
      } else {
        put_in_ring(warp, at);
      }
    }
    return due;
  }

  std::array<WarpMask, ring_size> ring_{};
  WarpMask ring_used_ = 0;  // slots of the ring that hold a warp
  Cycle time_ = 0;          // wake-ups until here have been collected
  WarpMask far_ = 0;
  Cycle far_next_ = memory::never;
  std::array<Cycle, max_scheduler_warps> far_at_{};
};

}  // namespace simtlab::timing
