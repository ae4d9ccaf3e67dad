// DRAM bandwidth that a long copy can reach.
#pragma once

#include <algorithm>

#include "device/device.h"

namespace simtlab::timing {

// Share of the theoretical bandwidth that refresh and bus turnarounds leave, where the device file has no measured copy.
inline constexpr double sustained_share = 0.95;

inline double sustained_bandwidth(const device::Device& device) {
  return device.dram.bandwidth_measured > 0 ? std::min(device.dram.bandwidth_measured, device.dram.bandwidth)
                                            : device.dram.bandwidth * sustained_share;
}

}  // namespace simtlab::timing
