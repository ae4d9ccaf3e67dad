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
// Warps of a block after Resios (thesis, 5.2.1); the least of the three.
struct ResiosBlock {
  double even = 0;      // threads / (SMs * 32)
  double resident = 0;  // warps that registers and the SM's limit allow
  double latency = 0;   // c L of arithmetic, c L / intensity of memory; the largest
  std::uint32_t threads = 0;
};
// intensity: on-chip instructions for an off-chip one; infinite without these.
ResiosBlock resios_block(const Code& code, double intensity, double threads, const device::Device& device);

BlockSizes block_sizes(const Code& code, std::uint64_t threads, const device::Device& device);
// A block of so many threads for so many dimensions: a warp in x, the rest in y.
std::array<std::uint32_t, 3> block_shape(std::uint32_t threads, std::size_t dimensions);

// A tile that shared memory could hold.
struct Staging {
  Tile tile;
  double saved = 0;     // sectors of L1 of the whole nest that would not be asked for
  bool fits = false;    // a block's shared memory has room for it alone
  bool chosen = false;  // the time with it, beside those that were chosen before it, is shorter
  double time_ns = 0;   // with those chosen before it and with it; 0: it found no room
};
// Those worth the copy, most saved per byte first.
std::vector<Staging> stagings(const Description& nest, const Shape& shape, const NestCounts& counts,
                              const device::Device& device);
// Takes them in their order, as long as the block's shared memory lasts and the time gets shorter. time: of
// the nest with tiles in shared memory. Returns the time with all that are chosen.
double choose(std::vector<Staging>& all, const device::Device& device, double time_ns,
              const std::function<double(const std::vector<Tile>&)>& time);
std::vector<Tile> chosen(const std::vector<Staging>& all);

}  // namespace simtlab::models::loops
