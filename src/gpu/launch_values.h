// What OpenCL's work-item functions know of a launch and PTX has no register for: offset of the global ids, dimensions.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/gpu.h"

namespace simtlab::gpu {

struct LaunchValues {
  std::array<std::uint32_t, 3> offset{};
  std::uint32_t dimensions = 1;
  bool operator==(const LaunchValues&) const = default;
};

// Writes the constant simtlab_launch of the module for launches that follow. False if the module has none (nothing in it asks)
// while there is an offset: get_global_id would not honour it.
bool set_launch_values(Gpu& gpu, ModuleId module, const LaunchValues& values);

}  // namespace simtlab::gpu
