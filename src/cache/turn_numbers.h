// The numbers by which an order of threads knows the units of an SM: its threads, or neighbours of a block
// that take turns together.
//
// Blocks apart: all units of the first block, then all of the next one; a number is that of the unit.
// Blocks that alternate: of units of several threads the first of every block, then the second of every
// block. Single threads go by their number in the grid, its first dimension first, so that a row of the
// grid's threads crosses the blocks that lie beside each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stream/warp_source.h"

namespace simtlab::cache {

class TurnNumbers {
 public:
  static constexpr std::uint64_t vacant = ~std::uint64_t{0};
  // block_places: blocks that an SM holds.
  TurnNumbers(std::uint32_t block_places, std::uint32_t units_per_block, bool alternate);

  std::uint32_t unit_of(std::uint32_t number) const { return unit_of_.empty() ? number : unit_of_[number]; }
  std::uint32_t number_of(std::uint32_t unit) const { return number_of_.empty() ? unit : number_of_[unit]; }
  // Numbers single threads after the grid. blocks: by place, their number in the grid or `vacant`; what no
  // thread of theirs has comes last. Returns the new number of each old one.
  std::span<const std::uint32_t> by_grid(std::span<const std::uint64_t> blocks, stream::Dim3 grid,
                                         stream::Dim3 block);

 private:
  struct Row {  // threads of a block beside each other in the first dimension
    std::uint64_t row, column;
    std::uint32_t unit;
  };
  void number(std::uint32_t unit, std::uint32_t& next);

  std::uint32_t units_per_block_;
  std::vector<std::uint32_t> unit_of_, number_of_;  // empty: blocks apart
  std::vector<std::uint32_t> new_number_, before_;
  std::vector<Row> rows_;
};

}  // namespace simtlab::cache
