// Numbers of the device that several functions need.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/device.h"

namespace simtlab::hosts::opencl {

// Bytes; of buffers, and what sub-buffers begin at multiples of
inline constexpr std::uint32_t base_alignment = 256;

// A quarter of the memory, as drivers have it.
inline std::uint64_t most_buffer_bytes(const device::Device& d) {
  return std::max<std::uint64_t>(d.dram.bytes / 4, std::min<std::uint64_t>(d.dram.bytes, 128u << 20));
}

}  // namespace simtlab::hosts::opencl
