// What a launch costs beside its kernel.
#pragma once

#include <algorithm>

#include "device/device.h"

namespace simtlab::device {

// From the launch of a kernel until its time begins, where launches queue. host.launch_overhead is the time
// from one launch to the next in a queue of empty kernels; a part of it, launch.floor, is in the kernel's own
// time.
inline double queued_launch_ns(const Device& device) {
  return std::max(0.0, device.host.launch_overhead_ns - device.launch.floor / device.sm_clock_hz * 1e9);
}

}  // namespace simtlab::device
