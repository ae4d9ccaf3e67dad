// The smallest of many times that change one at a time: a tournament over a power of two of leaves, O(log n)
// a change.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "memory/time.h"

namespace simtlab::memory::dram {

class Earliest {
 public:
  explicit Earliest(std::uint32_t count)
      : leaves_(std::bit_ceil(std::max(count, 1u))), tree_(2 * leaves_, never) {}

  Cycle smallest() const { return tree_[1]; }
  void set(std::uint32_t leaf, Cycle at) {
    std::uint32_t node = leaves_ + leaf;
    tree_[node] = at;
    while (node > 1) {
      node /= 2;
      const Cycle best = std::min(tree_[2 * node], tree_[2 * node + 1]);
      if (tree_[node] == best) return;
      tree_[node] = best;
    }
  }
  // Visits the leaves before `end` in their order; the visit may change its own leaf.
  template <class Visit>
  void each_before(Cycle end, Visit&& visit) {
    if (tree_[1] < end) descend(1, end, visit);
  }
  void clear() { std::fill(tree_.begin(), tree_.end(), never); }

 private:
  template <class Visit>
  void descend(std::uint32_t node, Cycle end, Visit& visit) {
    if (node >= leaves_) return visit(node - leaves_);
    if (tree_[2 * node] < end) descend(2 * node, end, visit);
    if (tree_[2 * node + 1] < end) descend(2 * node + 1, end, visit);
  }
  std::uint32_t leaves_;
  std::vector<Cycle> tree_;
};

}  // namespace simtlab::memory::dram
