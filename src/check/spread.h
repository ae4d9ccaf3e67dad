// How far the lanes of an access lie apart.
#pragma once

#include <cstdint>

namespace simtlab::check {

struct Spread {
  std::uint64_t low = 0, high = 0;  // the lowest and the highest address
};
// addresses: of 32 lanes, of which `lanes` (at least one) count.
Spread spread_of(const std::uint64_t* addresses, std::uint32_t lanes);

// Lanes of which not all bytes are set in a bitmap with a bit a byte. Their accesses begin at multiples of
// `bytes`, at most 8; address - first is the place of the first bit.
std::uint32_t lanes_not_set(const std::uint64_t* bits, const std::uint64_t* addresses, std::uint32_t lanes,
                            std::uint64_t first, unsigned bytes);

}  // namespace simtlab::check
