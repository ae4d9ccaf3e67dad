// The allocations that a kernel touches, by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/counts.h"

namespace simtlab::cache {

struct Buffer {
  std::uint64_t begin = 0, end = 0;  // device addresses
  std::string name;
};

class Buffers {
 public:
  explicit Buffers(std::vector<Buffer> list) : list_(std::move(list)), counts_(list_.size() + 1) {
    std::ranges::sort(list_, {}, &Buffer::begin);
  }
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  // hint: of the last look-up, which is likely to hold again.
  std::uint32_t find(std::uint64_t address, std::uint32_t hint) const {
    if (hint < list_.size() && address >= list_[hint].begin && address < list_[hint].end) return hint;
    const auto after = std::ranges::upper_bound(list_, address, {}, &Buffer::begin);
    if (after == list_.begin() || address >= std::prev(after)->end) return unknown;
    return static_cast<std::uint32_t>(std::prev(after) - list_.begin());
  }
  // Of a buffer; those outside all of them have counters of their own.
  AccessCounts& counts(std::uint32_t i) { return counts_[std::min<std::size_t>(i, list_.size())]; }
  const AccessCounts& counts(std::uint32_t i) const {
    return counts_[std::min<std::size_t>(i, list_.size())];
  }
  const std::vector<Buffer>& list() const { return list_; }

 private:
  std::vector<Buffer> list_;
  std::vector<AccessCounts> counts_;
};

}  // namespace simtlab::cache
