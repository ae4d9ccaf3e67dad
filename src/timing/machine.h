// The device that is simulated: its file checked, limits lifted as asked, its memory made.
#pragma once

#include <memory>

#include "device/device.h"
#include "device/what_if.h"
#include "memory/main_memory.h"
#include "timing/latencies.h"

namespace simtlab::timing {

// The memory may turn out to be another than the device's file says. Throws Error(bad_input "device-value").
struct Machine {
  Machine(const device::Device& device, const device::WhatIf& what_if);
  device::Device device;
  Latencies latencies;
  std::unique_ptr<memory::MainMemory> dram;
};

}  // namespace simtlab::timing
