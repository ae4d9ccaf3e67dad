// What a thread knows of other threads beyond its own block's barriers: immutable lists, shared by number.
// Needed where threads synchronise by releases and acquires, by barriers for a part of a block, or by masks.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "check/half.h"

namespace simtlab::check {

// All that lanes of a warp (or whole blocks) did before `before`.
struct Known {
  std::uint32_t launch = 0;
  std::uint64_t block = 0;
  std::uint32_t warp = all_warps, lanes = ~0u;
  Time before;
  static constexpr std::uint32_t all_warps = ~0u;
  friend bool operator==(const Known&, const Known&) = default;
};

// One list says one thing in one way, and has one number: of a warp each lane stands in one entry, the latest
// ones first, and nothing that is known of the whole block is repeated for a warp.
class Clocks {
 public:
  using Id = std::uint32_t;  // 0: nothing

  Id merge(Id a, Id b);
  Id with(Id clock, const Known& known);
  // lanes: all of them have to be known of.
  bool knows(Id clock, std::uint32_t launch, std::uint64_t block, std::uint32_t warp, std::uint32_t lanes,
             Time time) const;
  // Anything at all of the block.
  bool knows_of(Id clock, std::uint32_t launch, std::uint64_t block) const;
  void clear();

  std::size_t held() const { return held_; }
  // Lists whose numbers `each` does not hand to the function that it is given go; the others get new numbers.
  template <class Each>
  void collect(const Each& each) {
    std::vector<Id> now(lists_.size());
    each([&](Id& id) { now[id] = 1; });
    now[0] = 0;
    Id last = 0;
    for (std::size_t id = 1; id < lists_.size(); ++id)
      if (now[id] != 0 && (now[id] = ++last) != id) lists_[last] = std::move(lists_[id]);
    each([&](Id& id) { id = now[id]; });
    lists_.resize(std::size_t{last} + 1);
    number_anew();
  }

 private:
  using List = std::vector<Known>;
  static std::size_t cost(const List& list) { return sizeof list + list.capacity() * sizeof(Known); }
  void number_anew();  // what is derived from the lists
  Id keep(const List& list);
  std::span<const Known> at(Id clock) const { return lists_[clock]; }
  void join(std::span<const Known> a, std::span<const Known> b);

  std::vector<List> lists_{1};
  std::unordered_map<std::uint64_t, Id> merged_;            // of two numbers
  std::unordered_multimap<std::uint64_t, Id> by_contents_;  // of the hash of a list
  List joined_;                                             // what join() makes
  std::size_t held_ = 0;                                    // bytes of the lists
};

}  // namespace simtlab::check
