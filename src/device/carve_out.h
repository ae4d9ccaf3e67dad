// L1 and shared memory on one storage.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/device.h"

namespace simtlab::device {

// Ways of L1 on an SM whose blocks take so much shared memory: where L1 and shared memory have one storage
// (l1.unified_bytes), L1 gets the rest of it, in whole ways, at least one.
inline std::uint32_t l1_ways_beside(const Device& device, std::uint64_t shared_bytes) {
  if (device.l1_unified_bytes == 0) return device.l1.ways;
  const double way_bytes = static_cast<double>(device.l1.bytes) / device.l1.ways;
  const std::uint64_t rest =
      device.l1_unified_bytes > shared_bytes ? device.l1_unified_bytes - shared_bytes : 0;
  return std::clamp(static_cast<std::uint32_t>(static_cast<double>(rest) / way_bytes), 1u, device.l1.ways);
}

}  // namespace simtlab::device
