// Pseudo-LRU by a tree: one bit in each inner node points to the half that was used longer ago. Any number of
// ways: the tree has as many leaves as the next power of two, and turns away from leaves that are no way.
#include <bit>
#include <vector>

#include "memory/replacement.h"

namespace simtlab::memory {
namespace {

class TreeLru final : public Replacement {
 public:
  TreeLru(std::uint32_t sets, std::uint32_t ways)
      : ways_(ways), leaves_(std::bit_ceil(ways)), nodes_(std::size_t{sets} * leaves_, 0) {}

  void filled(std::uint32_t set, std::uint32_t way) override { used(set, way); }

  void used(std::uint32_t set, std::uint32_t way) override {
    std::uint8_t* const tree = &nodes_[std::size_t{set} * leaves_];
    // To the other half
    for (std::uint32_t node = leaves_ + way; node > 1; node /= 2) tree[node / 2] = (node & 1) == 0;
  }

  std::uint32_t victim(std::uint32_t set) override {
    const std::uint8_t* const tree = &nodes_[std::size_t{set} * leaves_];
    std::uint32_t node = 1, first = 0;  // first: leaf below the node
    for (std::uint32_t width = leaves_ / 2; node < leaves_; width /= 2) {
      const bool right = tree[node] != 0 && first + width < ways_;
      node = 2 * node + (right ? 1 : 0);
      first += right ? width : 0;
    }
    return first;
  }

  void clear() override { nodes_.assign(nodes_.size(), 0); }
  void save(stream::trace::Buffer& out) const override {
    out.insert(out.end(), nodes_.begin(), nodes_.end());
  }
  void restore(stream::trace::Bytes& in) override {
    for (std::uint8_t& node : nodes_) node = static_cast<std::uint8_t>(in.byte() & 1);
  }

 private:
  std::uint32_t ways_, leaves_;
  std::vector<std::uint8_t> nodes_;  // of a set: node 1 is the root, 2n and 2n + 1 its halves
};

std::unique_ptr<Replacement> make(std::uint32_t sets, std::uint32_t ways) {
  return std::make_unique<TreeLru>(sets, ways);
}

}  // namespace

extern constinit const ReplacementRule replace_plru{
    "A tree of bits, each of which points away from what was used last", make};

}  // namespace simtlab::memory
