// Calls of functions in machine code of Maxwell and Pascal, where the hardware keeps who returns where to.
//
// The lanes that make a call return together, and a function begins with convergence barriers of its own:
// what a lane saw of its caller's is kept until it returns. So a function may call itself, and lanes that run
// apart may be in different calls of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace simtlab::exec {

using LaneSets = std::array<std::uint32_t, 32>;  // one for each lane

class Calls {
 public:
  // What the largest stack has room for, at 8 bytes a call.
  static constexpr std::uint32_t most = 65536;

  void clear();
  // None is under way.
  bool empty() const { return open_ == 0; }
  // How many a lane is in.
  std::uint32_t level(unsigned lane) const { return lanes_.empty() ? 0 : lanes_[lane].level; }
  // Where a lane returns to; it is in a call.
  std::uint32_t back(unsigned lane) const;

  // The lanes' views are kept, and that of the last one, at which they meet when they return, is set. The
  // caller has used `used` of them.
  void enter(std::span<LaneSets> views, std::uint32_t lanes, unsigned used, std::uint32_t back);
  // They have the views of the caller again.
  void leave(std::span<LaneSets> views, std::uint32_t lanes);
  // Lanes of the call at `level` no longer wait for `lanes` at a barrier.
  void forget(std::span<LaneSets> views, unsigned barrier, std::uint32_t level, std::uint32_t lanes);

  bool operator==(const Calls&) const = default;

 private:
  // A call: views 0 to used - 1, the last view, the place to return to, `used`.
  struct Lane {
    std::uint32_t level = 0;
    std::vector<std::uint32_t> words;
    bool operator==(const Lane&) const = default;
  };
  static constexpr std::size_t words_beside = 3;

  std::vector<Lane> lanes_;  // none until the first call
  std::uint32_t open_ = 0;   // calls of all lanes
};

}  // namespace simtlab::exec
