// Spreads the bits of a number: neighbours and strides of powers of two land far apart.
#pragma once

#include <cstdint>

namespace simtlab::memory {

constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 29;
  return x;
}

}  // namespace simtlab::memory
