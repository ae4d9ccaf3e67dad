// Counts of a kernel that is not executed, because its arguments are unknown: one warp in the middle of a
// block is followed through the code.
//
// What follows from the launch alone (thread numbers, sizes of grid and block, constants) is computed;
// parameters that nobody gives and loaded values are unknown, but for being the same in all lanes where that
// follows. Branches whose condition is known are taken as it says; lanes that differ go both ways in turn
// until they meet. Of others a branch back is taken until the loop has run a given number of times, and a
// branch forward is not taken: guards of the edge of a problem are, and of two sides the first is followed.
// Accesses have the lanes' distances where these are known, else each lane a line of its own. Caches hold
// nothing: every access of a load comes from DRAM.
#pragma once

#include <optional>
#include <vector>

#include "exec/executor.h"
#include "models/counts/profile.h"

namespace simtlab::models::counts {

struct StaticLaunch {
  const ptx::Module& module;
  const ptx::Function& function;
  exec::Dim3 grid, block;
  device::Occupancy occupancy;
  double trips = 10;  // of loops whose end is unknown
  bool lowering = true;
  std::vector<std::optional<std::int64_t>> parameters =
      {};                                       // values of the kernel's, as far as they are known
  std::optional<exec::Dim3> at = std::nullopt;  // the block; default: in the middle of the grid
  std::optional<unsigned> warp = std::nullopt;  // of the block; default: in its middle
  std::uint64_t longest = 100000;               // instructions that are followed
};

struct StaticProfile {
  Profile profile;
  std::uint64_t instructions = 0;      // of the way
  std::uint64_t assumed_loops = 0;     // branches back whose condition was unknown
  std::uint64_t assumed_branches = 0;  // branches forward, the same
  std::uint64_t unknown_accesses = 0;  // whose lanes are taken to lie apart
  bool complete = true;                // false: the way was too long, its first part counts
};
StaticProfile static_profile(const StaticLaunch& launch, const device::Device& device);

}  // namespace simtlab::models::counts
