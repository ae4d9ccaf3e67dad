// Which warp of an SM accesses next: order.h has the policies.
//
// A turn of a warp goes up to its next access to memory: that is the grain at which caches see a schedule.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "cache/bits.h"

namespace simtlab::cache {

// Places of warps of an SM.
class WarpSet {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  explicit WarpSet(std::uint32_t size = 0) : words_((size + 63) / 64, 0) {}
  void add(std::uint32_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void remove(std::uint32_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  bool has(std::uint32_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  bool empty() const {
    for (const std::uint64_t word : words_)
      if (word != 0) return false;
    return true;
  }
  // The first from `from` on; none if there is none.
  std::uint32_t next(std::uint32_t from) const {
    for (std::size_t w = from / 64; w < words_.size(); ++w) {
      std::uint64_t word = words_[w];
      if (w == from / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (word != 0)
        return static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(word)));
    }
    return none;
  }
  std::uint32_t count() const {
    std::uint32_t sum = 0;
    for (const std::uint64_t word : words_) sum += count_bits(word);
    return sum;
  }
  // Number `which` of them, from 0 on, in their order; which < count().
  std::uint32_t at(std::uint32_t which) const {
    std::size_t w = 0;
    for (std::uint32_t here; which >= (here = count_bits(words_[w])); ++w) which -= here;
    std::uint64_t word = words_[w];
    for (; which != 0; --which) word &= word - 1;
    return static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(word)));
  }
  // The first after `after`, beginning again at 0.
  std::uint32_t next_around(std::uint32_t after) const {
    const std::uint32_t found = after + 1 < words_.size() * 64 ? next(after + 1) : none;
    return found != none ? found : next(0);
  }

 private:
  std::vector<std::uint64_t> words_;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual void fetch_group(std::uint32_t /*warps*/) {}   // before the first warp: Options::fetch_group
  virtual void began(std::uint32_t /*warp*/) {}          // a place has a new warp
  virtual void waits(std::uint32_t /*warp*/) {}          // for data or at a barrier
  virtual std::uint32_t pick(const WarpSet& ready) = 0;  // ready is not empty
};

}  // namespace simtlab::cache
