// Entries of the scoreboard: the cycle at which a register is ready, and why those who need it before wait.
// Later entries compare greater; a register under way has no cycle yet.
#pragma once

#include "timing/messages.h"
#include "timing/stall.h"

namespace simtlab::timing {

inline constexpr unsigned reason_bits = 8;
inline constexpr std::uint64_t no_cycle = ~std::uint64_t{0} >> reason_bits;

constexpr std::uint64_t entry(Cycle ready, Stall reason) {
  return ready << reason_bits | static_cast<std::uint64_t>(reason);
}
constexpr std::uint64_t open_entry(Stall reason) { return entry(no_cycle, reason); }
constexpr Cycle cycle_of(std::uint64_t entry) { return entry >> reason_bits; }
constexpr Stall reason_of(std::uint64_t entry) { return static_cast<Stall>(entry & 0xff); }

}  // namespace simtlab::timing
