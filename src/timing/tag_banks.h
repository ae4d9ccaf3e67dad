// Tags of L1 in banks: how long an instruction takes to look up its lines.
//
// A cycle looks up one line in each bank. With 2^k banks, bit j of a line's bank is the exclusive or of all
// bits of the line's number whose place is j modulo k: neighbours fall in different banks, and so do most
// strides. Measured on A100, A40 and H200 with four banks (gpu-benches' strides: 1.6 to 2.1 % off).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "stream/coalescer.h"

namespace simtlab::timing {

class TagBanks {
 public:
  // unlimited: all in one cycle.
  explicit TagBanks(std::uint32_t banks, bool unlimited = false) : banks_(banks), unlimited_(unlimited) {
    const unsigned bits = banks > 1 ? static_cast<unsigned>(std::countr_zero(banks)) : 0;
    for (unsigned place = 0; bits > 0 && place < 64; ++place)
      masks_[place % bits] |= std::uint64_t{1} << place;
    bits_ = bits;
  }
  bool there() const { return banks_ > 0; }

  unsigned bank(std::uint64_t line) const {
    unsigned out = 0;
    for (unsigned bit = 0; bit < bits_; ++bit)
      out |= (static_cast<unsigned>(std::popcount(line & masks_[bit])) & 1u) << bit;
    return out;
  }
  // At least one.
  unsigned cycles(const stream::Segments& segments) const {
    if (segments.count <= 1 || unlimited_) return 1;
    std::array<std::uint16_t, most_banks> lines{};
    unsigned most = 1;
    for (unsigned i = 0; i < segments.count; ++i)
      most = std::max<unsigned>(most, ++lines[bank(segments.items[i].line)]);
    return most;
  }

 private:
  static constexpr unsigned most_banks = 32;
  std::uint32_t banks_;
  bool unlimited_;
  unsigned bits_ = 0;
  std::array<std::uint64_t, 5> masks_{};  // the places of each bit of a bank's number
};

}  // namespace simtlab::timing
