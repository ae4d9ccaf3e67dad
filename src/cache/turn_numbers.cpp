#include "cache/turn_numbers.h"

#include <algorithm>
#include <tuple>

namespace simtlab::cache {

TurnNumbers::TurnNumbers(std::uint32_t block_places, std::uint32_t units_per_block, bool alternate)
    : units_per_block_(units_per_block) {
  if (!alternate) return;
  unit_of_.resize(std::size_t{block_places} * units_per_block);
  number_of_.resize(unit_of_.size());
  std::uint32_t next = 0;
  for (std::uint32_t in_block = 0; in_block < units_per_block; ++in_block)
    for (std::uint32_t place = 0; place < block_places; ++place)
      number(place * units_per_block + in_block, next);
}

void TurnNumbers::number(std::uint32_t unit, std::uint32_t& next) {
  unit_of_[next] = unit;
  number_of_[unit] = next++;
}

std::span<const std::uint32_t> TurnNumbers::by_grid(std::span<const std::uint64_t> blocks, stream::Dim3 grid,
                                                    stream::Dim3 block) {
  rows_.clear();
  for (std::uint32_t place = 0; place < blocks.size(); ++place) {
    if (blocks[place] == vacant) continue;
    const std::uint64_t x = blocks[place] % grid.x, y = blocks[place] / grid.x % grid.y,
                        z = blocks[place] / grid.x / grid.y;
    for (std::uint32_t in_z = 0; in_z < block.z; ++in_z)
      for (std::uint32_t in_y = 0; in_y < block.y; ++in_y)
        rows_.push_back(
            {(z * block.z + in_z) * grid.y * block.y + y * block.y + in_y, x,
             place * units_per_block_ + (in_z * block.y + in_y) * static_cast<std::uint32_t>(block.x)});
  }
  std::ranges::sort(rows_, {}, [](const Row& row) { return std::tie(row.row, row.column); });
  before_ = number_of_;
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::ranges::fill(number_of_, none);
  std::uint32_t next = 0;
  for (const Row& row : rows_)
    for (std::uint32_t in_x = 0; in_x < block.x; ++in_x) number(row.unit + in_x, next);
  for (std::uint32_t unit = 0; unit < number_of_.size(); ++unit)
    if (number_of_[unit] == none) number(unit, next);
  new_number_.resize(before_.size());
  for (std::uint32_t unit = 0; unit < before_.size(); ++unit) new_number_[before_[unit]] = number_of_[unit];
  return new_number_;
}

}  // namespace simtlab::cache
