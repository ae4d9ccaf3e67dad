// What policies and the fast host want to know of a kernel, from the result of a simulation.
#pragma once

#include "corun/profile.h"
#include "device/device.h"
#include "result/metrics.h"

namespace simtlab::cohost {

// kernel: all its launches, merged; alone on the device.
corun::Profile profile_of(const result::KernelResult& kernel, const device::Device& device);

}  // namespace simtlab::cohost
