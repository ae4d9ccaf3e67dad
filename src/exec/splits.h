// Lanes of a warp of machine code that run apart, and what they wait for.
//
// From Volta on every lane has a program counter. The lanes with one program counter that run together are a
// split. A warp executes one split at a time; the others are ready, or wait: for the lanes of a convergence
// barrier, for those of a mask, at a barrier of the block.
//
// A convergence barrier is a register of the warp that holds a set of lanes, but two splits may use one
// register at a time: both sides of a branch, or a function that calls itself. So each lane has its own view
// of it here. Lanes meet that have the same set in their view and all wait there.
//
// Lanes that yield are not waited for without end: a lane may hold what the others spin for, and wait for
// them at a convergence barrier behind their loop. After many turns it goes on alone.
//
// Splits take turns where the code yields, or waits. Between, the code may keep what belongs to one split in
// uniform registers, which all splits share. So a split that does not yield runs for long before another one
// is let go, and then at a branch backwards.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "exec/calls.h"

namespace simtlab::exec {

struct Warp;
struct XInst;

// The last one is where the lanes of a call meet when they return (calls.h): no code names it.
inline constexpr unsigned convergence_barriers = 17, return_barrier = convergence_barriers - 1;
// Instructions of a split until it must let others go.
inline constexpr std::uint32_t longest_turn = 8192;
// Turns that lanes take while others wait for them at a convergence barrier.
inline constexpr std::uint32_t most_turns = 256;
inline constexpr std::uint32_t no_return = 0xffffffffu;

struct Split {
  enum class State : std::uint8_t { ready, meets, meets_mask, block_barrier };
  std::uint32_t pc = 0, mask = 0;
  State state = State::ready;
  std::uint8_t barrier = 0;  // meets: convergence barrier
  std::uint8_t meeting = 0;  // meets_mask: machine::Meeting
  std::uint32_t wanted = 0;  // meets_mask: lanes; block_barrier: those whose predicate is true
  bool operator==(const Split&) const = default;
};

struct Splits {
  using View = LaneSets;
  // Before all else, in the one line that a warp without divergence needs
  alignas(64) std::uint32_t count = 0;
  std::uint32_t alive = 0;  // lanes that have not exited
  std::uint32_t turns = 0;  // since lanes began to wait at a convergence barrier
  // Since clear(): convergence barriers that a lane's view has had a set of; and below
  std::uint32_t used = ~0u;
  static constexpr std::uint32_t used_returns = 1u << convergence_barriers, used_calls = used_returns << 1;
  std::array<Split, 32> others{};                                 // beside the running one
  alignas(64) std::array<View, convergence_barriers> barriers{};  // the set in each lane's view
  View returns{};                                                 // where a lane goes on behind ENDCOLLECTIVE
  Calls calls;

  bool same_place(const Splits& other) const {
    return count == other.count && alive == other.alive && turns == other.turns &&
           barriers == other.barriers && calls == other.calls &&
           std::equal(others.begin(), others.begin() + count, other.others.begin());
  }
  // Warps start often, and most of them have used little of it.
  void clear(std::uint32_t lanes) {
    for (unsigned i = 0; used != 0 && i < convergence_barriers; ++i)
      if ((used >> i & 1) != 0) barriers[i] = {};
    if ((used & used_returns) != 0) returns.fill(no_return);
    if ((used & used_calls) != 0) calls.clear();
    count = turns = used = 0;
    alive = lanes;
  }
};

}  // namespace simtlab::exec
