// The one occupancy calculator.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/device.h"

namespace simtlab::device {

enum class OccupancyLimit : std::uint8_t { warps, blocks, registers, shared_memory, none };
std::string_view name_of(OccupancyLimit limit);   // "registers"

struct Occupancy {
  std::uint32_t blocks_per_sm = 0;    // 0: the block does not fit at all
  std::uint32_t warps_per_sm = 0;
  double ratio = 0;                   // warps_per_sm / max warps
  OccupancyLimit limit = OccupancyLimit::none;
  // Blocks per SM that each resource alone would allow.
  std::uint32_t by_warps = 0, by_blocks = 0, by_registers = 0, by_shared = 0;
  std::uint32_t registers_per_block = 0;    // as allocated, with granularity
  std::uint64_t shared_per_block = 0;       // as allocated
};

// threads: per block; registers: per thread; shared: static + dynamic bytes per block.
Occupancy occupancy(const Device& device, std::uint32_t threads, std::uint32_t registers, std::uint64_t shared);

}  // namespace simtlab::device
