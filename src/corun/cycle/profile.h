// What policies and the fast host want to know of a kernel, from the result of a simulation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "corun/launch_shape.h"
#include "corun/profile.h"
#include "device/device.h"
#include "result/metrics.h"

namespace simtlab::corun::cycle {

struct ShapedKernel {
  std::string kernel;
  corun::LaunchShape shape;
  bool operator==(const ShapedKernel&) const = default;
};
ShapedKernel shape_of(const result::KernelResult& launch);

// What an application's launches are called: by their kernel, and by their shape, too, if it is launched with
// several. 64 blocks and one block of the same code are two kernels for whoever predicts their time.
std::vector<std::string> step_names(std::span<const ShapedKernel> launches);

// kernel: all its launches of one shape, merged; alone on the device.
corun::Profile profile_of(const result::KernelResult& kernel, const device::Device& device);
// What a launch with empty caches says.
void add_cold(const result::KernelResult& launch, const device::Device& device, corun::Profile& profile);

}  // namespace simtlab::corun::cycle
