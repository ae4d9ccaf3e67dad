// Which loops become threads, and in blocks of what size.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/loops/counts.h"

namespace simtlab::models::loops {

// Every ordered choice of one to three loops that may become threads.
std::vector<std::vector<int>> mappings(const Description& nest, const Parallelism& parallel,
                                       bool assume_parallel);

// Three answers to the same question; the least of them wins.
struct BlockSizes {
  std::uint32_t latency = 0;    // enough warps to hide the latencies of arithmetic and memory
  std::uint32_t occupancy = 0;  // most warps resident
  std::uint32_t even = 0;       // every SM the same number of blocks, as nearly as can be
  std::uint32_t chosen = 0;
  double warps_for_compute = 0, warps_for_memory = 0;  // per SM, that the first asks for
};
BlockSizes block_sizes(const Code& code, std::uint64_t threads, const device::Device& device);
// A block of so many threads for so many dimensions: a warp in x, the rest in y.
std::array<std::uint32_t, 3> block_shape(std::uint32_t threads, std::size_t dimensions);

// An array, or a part of it, that several threads of a block read.
struct Staging {
  int access = 0;
  double saved = 0;         // sectors of L1 of the whole nest that would not be asked for again
  double reuse = 1;         // threads of a block that want the same
  std::uint64_t bytes = 0;  // of shared memory, for a block
  double passes = 1;        // of an access to it, by its bank conflicts
  bool chosen = false;
};
// Worth most per byte first, as long as the block's shared memory lasts.
std::vector<Staging> stagings(const Description& nest, const NestCounts& counts,
                              const device::Device& device);

}  // namespace simtlab::models::loops
