// The width of a memory bus, which device files don't have.
#pragma once

#include <cmath>
#include <cstdint>

#include "device/device.h"

namespace simtlab::device {

// Bits, a multiple of 32. Two transfers a clock of the memory are assumed, as usual where a bandwidth is
// computed from width and clock. 0: the clock is not known.
inline std::uint32_t bus_bits(const Device& d) {
  if (d.memory_clock_hz <= 0) return 0;
  return static_cast<std::uint32_t>(std::llround(d.dram.bandwidth * 8 / (2 * d.memory_clock_hz) / 32) * 32);
}

}  // namespace simtlab::device
