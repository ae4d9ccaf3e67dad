#include "assembler/occupied.h"

#include <algorithm>
#include <bit>

namespace simtlab::assembler {

Occupied::Occupied(std::uint32_t gaps)
    : leaves_(std::bit_ceil(std::max(gaps, std::uint32_t{1}))), whole_(2 * leaves_), some_(2 * leaves_) {}

void Occupied::clear() {
  std::ranges::fill(whole_, Numbers());
  std::ranges::fill(some_, Numbers());
}

void Occupied::take(unsigned number, std::uint32_t from, std::uint32_t to) {
  if (from >= to) return;
  const std::uint32_t first = from + leaves_, last = to - 1 + leaves_;
  for (std::uint32_t l = first, r = last + 1; l < r; l /= 2, r /= 2) {
    if ((l & 1u) != 0) {
      whole_[l].add(number);
      some_[l++].add(number);
    }
    if ((r & 1u) != 0) {
      whole_[--r].add(number);
      some_[r].add(number);
    }
  }
  for (std::uint32_t l = first / 2, r = last / 2; l > 0; l /= 2, r /= 2) {
    some_[l].add(number);
    some_[r].add(number);
  }
}

Numbers Occupied::in(std::uint32_t from, std::uint32_t to) const {
  Numbers out;
  if (from >= to) return out;
  const std::uint32_t first = from + leaves_, last = to - 1 + leaves_;
  for (std::uint32_t l = first, r = last + 1; l < r; l /= 2, r /= 2) {
    if ((l & 1u) != 0) out |= some_[l++];
    if ((r & 1u) != 0) out |= some_[--r];
  }
  for (std::uint32_t l = first, r = last; l > 0; l /= 2, r /= 2) {
    out |= whole_[l];
    if (l != r) out |= whole_[r];
  }
  return out;
}

}  // namespace simtlab::assembler
