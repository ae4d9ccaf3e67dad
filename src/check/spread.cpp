#include "check/spread.h"

#include <algorithm>

#include "check/half.h"
#include "check/wide.h"

namespace simtlab::check {

SIMTLAB_WIDE Spread spread_of(const std::uint64_t* addresses, std::uint32_t lanes) {
  const std::uint64_t leader = addresses[__builtin_ctz(lanes)];
  std::uint64_t low = leader, high = leader;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t a = (lanes >> lane & 1) != 0 ? addresses[lane] : leader;
    low = a < low ? a : low;
    high = a > high ? a : high;
  }
  return {low, high};
}

SIMTLAB_WIDE std::uint32_t lanes_not_set(const std::uint64_t* bits, const std::uint64_t* addresses,
                                         std::uint32_t lanes, std::uint64_t first, unsigned bytes) {
  const std::uint64_t all = (std::uint64_t{1} << bytes) - 1, leader = addresses[__builtin_ctz(lanes)];
  std::uint32_t out = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t at = ((lanes >> lane & 1) != 0 ? addresses[lane] : leader) - first;
    const std::uint64_t missing = ~(bits[at / 64] >> at % 64) & all;
    out |= (missing != 0 ? 1u : 0u) << lane;
  }
  return out & lanes;
}

}  // namespace simtlab::check
