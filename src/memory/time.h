// Time in the memory system and the SMs: cycles of the SM clock, and bandwidth in fixed point.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace simtlab::memory {

using Cycle = std::uint64_t;
inline constexpr Cycle never = ~Cycle{0};

// Cycles with 20 binary places: exact sums, equal on every machine.
using FixedCycles = std::uint64_t;
inline constexpr unsigned fixed_bits = 20;

// Rounded up, so that a resource never beats its peak.
inline FixedCycles to_fixed(double cycles) {
  return static_cast<FixedCycles>(
      std::ceil(cycles * static_cast<double>(FixedCycles{1} << fixed_bits) - 1e-6));
}
inline double to_cycles(FixedCycles fixed) {
  return static_cast<double>(fixed) / static_cast<double>(FixedCycles{1} << fixed_bits);
}

// A resource that serves one request at a time, in order of asking. A request delays later requests by its
// whole cost but is itself served from its start on (cut-through): an idle resource adds no latency.
class Port {
 public:
  // Start of the service, not before now.
  Cycle take(Cycle now, FixedCycles cost) {
    const FixedCycles start = std::max(free_, now << fixed_bits);
    free_ = start + cost;
    busy_ += cost;
    return start >> fixed_bits;
  }
  // First cycle at which something could start.
  Cycle free_at() const { return free_ >> fixed_bits; }
  FixedCycles busy() const { return busy_; }
  // Takes nothing before.
  void close_until(Cycle at) { free_ = std::max(free_, at << fixed_bits); }
  void reset() { free_ = busy_ = 0; }

 private:
  FixedCycles free_ = 0;
  FixedCycles busy_ = 0;  // sum of all costs since reset
};

}  // namespace simtlab::memory
