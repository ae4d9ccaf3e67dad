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
  bool empty() const { return calls_.empty(); }
  // How many a lane is in.
  std::uint32_t level(unsigned lane) const { return levels_[lane]; }
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
  struct Call {
    std::uint32_t lanes = 0;  // that are in it
    std::uint32_t made = 0;   // that have made it
    std::uint32_t back = 0;
    std::uint32_t used = 0;
    std::size_t first = 0;  // in kept_: views 0 to used - 1, then the last one, of each lane that has made it
    bool operator==(const Call&) const = default;
  };
  std::uint32_t* kept(const Call& call, unsigned view, unsigned lane);
  void restore(std::span<LaneSets> views, const Call& call, std::uint32_t lanes);
  void drop_ended();

  std::vector<Call> calls_;  // in the order in which they were made; some may have ended
  std::vector<std::uint32_t> kept_;
  std::array<std::uint32_t, 32> levels_{};
  std::size_t ended_ = 0;  // calls without lanes
};

}  // namespace simtlab::exec
