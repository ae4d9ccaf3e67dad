// DRAM bandwidth that a long copy can reach.
#pragma once

#include <algorithm>

#include "device/device.h"

namespace simtlab::timing {

// Share of the theoretical bandwidth that refresh and bus turnarounds leave, where the device file has no
// measured copy.
inline constexpr double sustained_share = 0.95;

inline double sustained_bandwidth(const device::Device& device) {
  return device.dram.bandwidth_measured > 0 ? std::min(device.dram.bandwidth_measured, device.dram.bandwidth)
                                            : device.dram.bandwidth * sustained_share;
}

// Of a long read; as a copy where the file does not say.
inline double read_bandwidth(const device::Device& device) {
  const double read = device.dram.read_bandwidth_measured;
  return read > 0 ? std::min(read, device.dram.bandwidth) : sustained_bandwidth(device);
}

// Time of a write over that of a read: such that a copy, half of both, reaches what was measured.
inline double write_cost(const device::Device& device) {
  return std::max(1.0, 2 * read_bandwidth(device) / sustained_bandwidth(device) - 1);
}

}  // namespace simtlab::timing
