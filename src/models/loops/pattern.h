// What the lanes of a warp do to memory under a mapping of loops to thread dimensions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "models/loops/shape.h"

namespace simtlab::models::loops {

struct Mapping {
  // loops[0] is the x dimension of the threads, loops[1] y, loops[2] z
  std::vector<int> loops;
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint64_t, 3> grid{1, 1, 1};
  std::uint64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
};

struct Pattern {
  int access = 0;
  bool evaluable = false;              // false: the worst is assumed, a line of its own for each lane
  std::optional<std::int64_t> stride;  // bytes from lane to lane, where it is the same between all
  double lines = 0, sectors = 0;       // of one warp access, mean over iterations here and there
  double passes = 0;                   // of shared memory, if the same offsets were in it
  double requests = 0;                 // warp accesses of the whole nest
  // Sectors that the warps of a block ask for in one step, by those that are different
  double block_reuse = 1;
  // The same of a warp in consecutive iterations of the loop around the access
  double step_reuse = 1;
  // The same of all warps of a block in consecutive iterations, with all accesses that walk along
  double near_reuse = 1;
  double wave_reuse = 1;        // the same of the blocks that run at once
  double parts = 1;             // accesses of the machine that one of the nest was taken apart into
  std::uint64_t footprint = 0;  // bytes from the lowest to the highest address of the nest
  std::uint64_t end = 0;        // bytes from the start of the array to the highest address
};

// Threads of the whole nest under the mapping, and its grid for a block.
Mapping with_block(const Description& nest, const Shape& shape, std::vector<int> loops,
                   std::array<std::uint32_t, 3> block);
// Of each access to memory that threads share.
std::vector<Pattern> patterns(const Description& nest, const Shape& shape, const Mapping& mapping,
                              const device::Device& device);

}  // namespace simtlab::models::loops
