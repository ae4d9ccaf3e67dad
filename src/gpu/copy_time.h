// What copies and fills take on the device when nothing else is copied, and what they do to its caches: for
// programs that run and for those that are replayed.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "gpu/gpu.h"
#include "timing/timing.h"

namespace simtlab::gpu {

double copy_ns(const device::Device& device, std::uint64_t bytes, Gpu::CopyKind kind);
double fill_ns(const device::Device& device, std::uint64_t bytes);

// A copy or a fill has written there, on a GPU that several processes have: no cache holds it any more, and
// what others hold stays.
void written(timing::CycleGpu& gpu, const device::Device& device, std::uint64_t address, std::uint64_t bytes);

}  // namespace simtlab::gpu
