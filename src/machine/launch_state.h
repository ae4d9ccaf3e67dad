// Constant bank 0 of a launch: what the driver puts before the parameters, by generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace simtlab::machine {

// In ptx::Constant::symbol of a variable: what it holds at the constant's offset, not its address. Of
// constant banks that only the assembler fills.
inline constexpr std::uint32_t held_value = std::uint32_t{1} << 30;

// Byte offsets in the bank. no_slot: the generation reads it elsewhere.
inline constexpr std::uint32_t no_slot = 0xffffffffu;

struct LaunchSlots {
  std::uint32_t block = 0, grid = 0x0c;                     // three words each
  std::uint32_t shared_window = 0x18, local_window = 0x20;  // generic addresses, 64 bits
  // Their upper words, where they stand apart
  std::uint32_t shared_window_high = no_slot, local_window_high = no_slot;
  std::uint32_t stack = 0x28;  // initial value of R1, in local memory
  std::uint32_t dynamic_shared = 0x2c, grid_id = 0x30, sm_count = 0x10c;
  std::uint32_t reserved_shared = 0x114;  // bytes of shared memory that belong to the driver
  // Generic addresses: of this bank or, from sm_90 on, of the parameters in it; of bank 3
  std::uint32_t parameter_window = 0x40, constants = 0x50;
  std::uint32_t parameters = 0x160;
  // From sm_90 on: shared memory of a block, and what the cluster is: blocks by dimension, 1 / each of them
  // as floats, the grid in clusters, blocks in all.
  std::uint32_t shared = 0x13c, cluster = 0x144, cluster_inverse = 0x150, grid_of_clusters = 0x15c,
                cluster_blocks = 0x188;
};
LaunchSlots launch_slots(unsigned generation);

// Before Pascal code takes windows for addresses below 2^32 that are multiples of 2^24: the generic addresses
// of those generations say 1 and 2 where those of the executor have it in the upper word.
constexpr bool has_low_windows(unsigned generation) { return generation < 60; }
inline constexpr unsigned low_window_at = 24;
inline constexpr std::uint64_t low_shared_window = std::uint64_t{1} << low_window_at,
                               low_local_window = std::uint64_t{2} << low_window_at;

struct LaunchState {
  std::uint32_t block[3] = {1, 1, 1}, grid[3] = {1, 1, 1};
  std::uint64_t shared_window = 0, local_window = 0, parameter_window = 0, grid_id = 0;
  bool low_windows = true;  // where the generation has them (has_low_windows): simtlab's own code does not
  std::uint32_t stack = 0, dynamic_shared = 0, shared = 0, sm_count = 1;
};
// Shared memory of a program begins here from sm_90 on.
inline constexpr std::uint32_t reserved_shared_bytes = 0x400;
// The bank up to the end of the parameters.
std::vector<std::byte> launch_bank(unsigned generation, const LaunchState& state,
                                   std::span<const std::byte> parameters);

}  // namespace simtlab::machine
