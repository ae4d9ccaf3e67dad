// Everything that the models want to know of a nest under one mapping.
#pragma once

#include <vector>

#include "device/occupancy.h"
#include "models/loops/code.h"
#include "models/loops/parallel.h"
#include "models/loops/tile.h"

namespace simtlab::models::loops {

// Of one access, how its bytes come.
struct Traffic {
  double l1 = 0, l2 = 0, dram = 0;  // bytes at each level, of the whole nest
};

// What a warp of the optimised kernel executes, a mean over the grid.
struct KernelCode {
  Mix mix{};
  double instructions = 0;  // PTX
  double working = 1;       // share of the warps that have an iteration
  double memory = 0;        // accesses to arrays
  double fused = 0;         // multiply-adds
  double ilp = 1, memory_parallelism = 1;
  double chain_cycles = 0, chain_accesses = 0;
};

struct NestCounts {
  Mapping mapping;
  device::Occupancy occupancy;
  Code code;
  std::vector<Pattern> patterns;
  std::vector<Traffic> traffic;  // of each pattern
  double warps = 0;              // of the grid
  double active_lanes = 0;
  double coalesced = 0, uncoalesced = 0;  // accesses per thread
  double lines_per_uncoalesced = 1;
  double lines_per_access = 1, bytes_per_access = 0;  // means over all warp accesses
  double l1_bytes = 0, l2_bytes = 0, dram_bytes = 0, useful_bytes = 0;
  double chain_cycles = 0, chain_accesses = 0;  // of a warp alone
  // Share of those accesses that wait for L2: neighbours that ask for the same don't make it sooner
  double chain_miss_ratio = 1;
  double h2d_bytes = 0, d2h_bytes = 0;
  bool optimised = false;  // `code` counts the kernel that is made; false: LLVM's code before the optimiser
  double fused = 0;        // multiply-adds of a warp, where that is so
  double working = 1;      // share of the warps that have an iteration; others are in the means, too
  // With tiles in shared memory
  double shared_insts = 0, shared_passes = 1;  // per warp, loads and stores; passes of one
  double barriers = 0;                         // per thread
  std::uint64_t shared_bytes = 0;              // of a block
};

NestCounts counts_of(const Description& nest, const Shape& shape, const Mapping& mapping,
                     const device::Device& device, const std::vector<Touched>& touched);
// The same with the instructions of the kernel that was made of the nest.
NestCounts with_code(const Description& nest, const Shape& shape, const NestCounts& plain,
                     const KernelCode& code, const device::Device& device,
                     const std::vector<Touched>& touched);
// The same with tiles that each block copies to shared memory, before it waits at a barrier and begins.
NestCounts staged(const Description& nest, const Shape& shape, const NestCounts& plain,
                  const std::vector<Tile>& tiles, const device::Device& device,
                  const std::vector<Touched>& touched);

}  // namespace simtlab::models::loops
