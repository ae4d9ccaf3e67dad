// Accesses of a thread that wait for its turn, first in, first out. The place for a few stays; a thread that
// was far behind gives back what it needed then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cache/code.h"

namespace simtlab::cache {

struct Kept {
  std::uint64_t address;
  Code* code;
  std::uint32_t pc, step;  // step: of its warp
  std::uint16_t bytes;
  bool local;
};

class KeptAccesses {
 public:
  bool empty() const { return first_ == items_.size(); }
  const Kept& front() const { return items_[first_]; }
  void push_back(const Kept& kept) {
    if (items_.size() == items_.capacity() && first_ != 0 && 2 * first_ >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    items_.push_back(kept);
  }
  void pop_front() {
    if (++first_ != items_.size()) return;
    items_.clear();
    first_ = 0;
    if (items_.capacity() > stays) std::vector<Kept>().swap(items_);
  }

 private:
  static constexpr std::size_t stays = 64;
  std::vector<Kept> items_;
  std::size_t first_ = 0;
};

}  // namespace simtlab::cache
