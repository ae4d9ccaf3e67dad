// A launch under the clock, as everybody sees it: what it is, what a block of it takes, where it may run.
#pragma once

#include <cstdint>

#include "device/occupancy.h"
#include "stream/warp_source.h"
#include "timing/program.h"

namespace simtlab::timing {

// Launches that can be under way at once; each has a slot. No device takes more grids (CUDA C Programming
// Guide, technical specifications per compute capability: at most 128 resident grids).
inline constexpr unsigned max_launches = 128;

struct LaunchContext {
  const stream::WarpSource* launch = nullptr;
  Programs programs;
  device::Occupancy occupancy;
  std::uint32_t registers = 0;  // a thread
  std::uint32_t warps_per_block = 1;
  std::uint32_t cluster_blocks = 1;             // that start together
  bool machine_code = false;                    // a trace of it, not PTX
  std::uint32_t l1_ways = 0;                    // of an SM that it has for itself
  std::uint8_t slot = 0;                        // among the launches under way
  int priority = 0;                             // higher is served first
  std::uint32_t own_first_sm = 0, own_sms = 0;  // SMs that it is bound to; none: any
  // Where its next blocks may go (sharing.h): SMs from first to below end, at most so many blocks on each.
  std::uint32_t first_sm = 0, end_sm = 0, blocks_per_sm = 0;
};

}  // namespace simtlab::timing
