// The memory below L2 that a device file and --dram ask for.
#pragma once

#include <memory>

#include "device/device.h"
#include "memory/main_memory.h"
#include "timing/latencies.h"

namespace simtlab::timing {

// What a plug-in knows better than the device file (bandwidth, smallest transfer) goes into `device`. Throws
// Error: a technology, controller or plug-in that cannot be used. unlimited: as if it answered everything
// after its idle latency, whatever it is (--what-if).
std::unique_ptr<memory::MainMemory> make_main_memory(device::Device& device, const Latencies& latencies,
                                                     bool unlimited = false);

// Throws what make_main_memory would: before a program is started for nothing.
void check_main_memory(device::Device device);

}  // namespace simtlab::timing
