// Cycles of one clock in cycles of another, in fixed point: equal on every machine and in every run.
//
// The ratio has 40 binary places: over 2^40 cycles (minutes of simulated time) the two clocks drift apart by
// a cycle.
#pragma once

#include <cmath>

#include "base/error.h"
#include "memory/time.h"

namespace simtlab::memory {

class ClockRatio {
 public:
  // Periods in one unit. Outer: the clock of the side that asks; inner: that of the part behind it.
  ClockRatio(double outer_period, double inner_period) {
    SIMTLAB_ASSERT(outer_period > 0 && inner_period > 0 && outer_period < inner_period * 4096 &&
                       inner_period < outer_period * 4096,
                   "clocks have periods and are not worlds apart");
    inner_per_outer_ =
        static_cast<std::uint64_t>(std::llround(outer_period / inner_period * static_cast<double>(one)));
    outer_per_inner_ = static_cast<std::uint64_t>((wide{one} << places) / inner_per_outer_);
  }

  // The inner cycle in which the outer one begins.
  Cycle to_inner(Cycle outer) const { return outer == never ? never : times(outer, inner_per_outer_); }

  // The first outer cycle that begins with or after the inner one: the least one with to_inner(outer) >=
  // inner.
  Cycle to_outer(Cycle inner) const {
    if (inner == never) return never;
    Cycle outer = times(inner, outer_per_inner_);  // never too late: both factors are rounded down
    while (to_inner(outer) < inner) ++outer;
    return outer;
  }

 private:
  __extension__ using wide = unsigned __int128;
  static constexpr unsigned places = 40;
  static constexpr std::uint64_t one = std::uint64_t{1} << places;
  static Cycle times(Cycle cycles, std::uint64_t factor) {
    return static_cast<Cycle>(wide{cycles} * factor >> places);
  }

  std::uint64_t inner_per_outer_ = one, outer_per_inner_ = one;
};

}  // namespace simtlab::memory
