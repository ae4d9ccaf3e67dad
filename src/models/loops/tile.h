// What a block of threads reads of an array from its first to its last instruction, and which of these parts
// shared memory should hold.
#pragma once

#include <string>
#include <vector>

#include "models/loops/linear.h"
#include "models/loops/pattern.h"

namespace simtlab::models::loops {

// Bytes of an array, sorted, apart from each other.
struct Interval {
  std::int64_t low = 0, high = 0;
};
using Intervals = std::vector<Interval>;

std::uint64_t bytes_of(const Intervals& all);
// The union of `copies` copies, each `stride` bytes behind the last; nothing if it has too many pieces.
std::optional<Intervals> repeated(const Intervals& all, std::uint64_t stride, std::uint64_t copies);

// Loads of one array whose addresses go with the iterations in the same way: they read parts of one tile.
struct Tile {
  int input = 0;
  std::vector<int> accesses;
  std::map<int, std::int64_t> factors;  // bytes by iteration of each loop
  Intervals pieces;                     // of the block at the origin
  std::uint64_t bytes = 0;              // different ones
  std::uint64_t sectors = 0;            // in which they lie
  double reads = 0;                     // of a byte by the threads of a block
  double requests = 0,
         asked_sectors = 0;        // warp accesses of a block to it, and sectors of L1 that they ask for
  double passes = 1;               // of a warp access to the tile in shared memory
  bool padded = false;             // its pieces lie further apart, which avoids conflicts
  std::uint64_t shared_bytes = 0;  // with the padding
  double wave_reuse = 1;           // blocks that run at once and read the same
  // Where a byte of the array lies in shared memory.
  std::uint64_t place(std::int64_t offset, unsigned pad) const;
};

// How the threads of a block copy a tile: an element each and step, some steps' loads waiting together.
struct TileCopy {
  std::uint64_t elements = 0, steps = 0, at_once = 1, rounds = 0;
  bool ragged = false;  // the last of them are no whole round of all threads
};
TileCopy copy_of(const Tile& tile, unsigned element, std::uint32_t threads);

// Tiles of arrays that the nest only reads, whose size follows from the block.
std::vector<Tile> tiles_of(const Description& nest, const Shape& shape, const Mapping& mapping,
                           const std::vector<Pattern>& patterns, const device::Device& device);

}  // namespace simtlab::models::loops
