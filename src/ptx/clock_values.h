// Where the values of a function's clock reads go: which of them are stored, and which are subtracted from
// which before.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/flow.h"

namespace simtlab::ptx {

// Numbers of clock reads, in the order of the code.
class ClockSet {
 public:
  explicit ClockSet(std::size_t size = 0) : words_((size + 63) / 64, 0) {}
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool has(std::size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  bool empty() const {
    return std::ranges::all_of(words_, [](std::uint64_t w) { return w == 0; });
  }
  void add(const ClockSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  auto operator<=>(const ClockSet&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

// A sum of clock values: the reads that count positively in it, and the reads that count negatively.
struct ClockSum {
  ClockSet plus, minus;
  bool empty() const { return plus.empty() && minus.empty(); }
  void add(const ClockSum& other) { plus.add(other.plus), minus.add(other.minus); }
  void subtract(const ClockSum& other) { plus.add(other.minus), minus.add(other.plus); }
  auto operator<=>(const ClockSum&) const = default;
};

// Sums of clock values that the function stores, each sum once. clocks: pcs of the reads.
std::vector<ClockSum> stored_clock_sums(const Function& function, const Flow& flow,
                                        const std::vector<std::uint32_t>& clocks);

}  // namespace simtlab::ptx
