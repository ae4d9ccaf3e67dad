// The one occupancy calculator: blocks of one launch on an SM, and whether one more block fits beside blocks
// of other launches.
#pragma once

#include <cstdint>
#include <string_view>

#include "device/device.h"

namespace simtlab::device {

enum class OccupancyLimit : std::uint8_t { warps, blocks, registers, shared_memory, none };
std::string_view name_of(OccupancyLimit limit);  // "registers"

struct Occupancy {
  std::uint32_t blocks_per_sm = 0;  // 0: the block does not fit at all
  std::uint32_t warps_per_sm = 0;
  double ratio = 0;  // warps_per_sm / max warps
  OccupancyLimit limit = OccupancyLimit::none;
  // Blocks per SM that each resource alone would allow.
  std::uint32_t by_warps = 0, by_blocks = 0, by_registers = 0, by_shared = 0;
  std::uint32_t registers_per_block = 0;  // as allocated, with granularity
  std::uint64_t shared_per_block = 0;     // as allocated
};

// threads: per block; registers: per thread; shared: static + dynamic bytes per block.
Occupancy occupancy(const Device& device, std::uint32_t threads, std::uint32_t registers,
                    std::uint64_t shared);

// Warps that an SM holds at once, of any number of blocks.
std::uint32_t warp_slots(const Device& device);

// Resources of an SM that its blocks hold, be the blocks of one launch or of several.
struct Held {
  std::uint32_t blocks = 0, warps = 0;
  std::uint64_t registers = 0, shared_bytes = 0;
  // A block of so many warps of a launch comes or goes.
  void add(const Occupancy& launch, std::uint32_t block_warps);
  void remove(const Occupancy& launch, std::uint32_t block_warps);
};

// Room for one more block of the launch. shared_bytes: of the SM, for all its blocks. Registers are summed:
// how a launch's own blocks lie in the parts of the register file is in Occupancy::blocks_per_sm only.
bool fits_beside(const Device& device, const Held& held, const Occupancy& launch, std::uint32_t block_warps,
                 std::uint64_t shared_bytes);

}  // namespace simtlab::device
