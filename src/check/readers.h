// Several readers (or atomic writers) of a word that nothing orders: lists that words share by number.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "check/half.h"

namespace simtlab::check {

class Readers {
 public:
  using Id = std::uint32_t;  // 0: empty
  struct Node {
    Half half = 0;  // of one warp
    std::uint32_t lanes = 0;
    Id next = 0;
    std::uint32_t length = 0;
  };
  const Node& at(Id list) const { return nodes_[list]; }
  Id add(Id list, Half half, std::uint32_t lanes);
  void clear();
  bool cut() const { return cut_; }  // a list became too long: what it holds first was dropped

 private:
  struct Key {
    Half half;
    std::uint32_t lanes;
    Id next;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const {
      std::uint64_t x = k.half * 0x9e3779b97f4a7c15ull ^ (std::uint64_t{k.lanes} << 32 | k.next);
      x ^= x >> 29;
      return x * 0xbf58476d1ce4e5b9ull;
    }
  };
  std::vector<Node> nodes_{1};
  std::unordered_map<Key, Id, Hash> known_;
  bool cut_ = false;
};

// A half that stands for a list.
inline constexpr std::uint64_t list_mask = (std::uint64_t{1} << many_shift) - 1;
constexpr Half list_half(std::uint64_t instance, Readers::Id list) {
  return instance << instance_shift | Half{no_time} << time_shift |
         static_cast<Half>(Many::grid) << many_shift | list;
}
constexpr Readers::Id list_of(Half h) { return static_cast<Readers::Id>(h & list_mask); }

}  // namespace simtlab::check
