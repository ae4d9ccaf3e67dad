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
#include <memory>
#include <span>

#include "base/error.h"
#include "exec/calls.h"
#include "exec/executor.h"

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

// The lanes of a warp that run apart. Most warps never have any, and there are thousands of them: what only
// those need that do is allocated when it is first used.
class Splits {
 public:
  using View = LaneSets;

  std::uint32_t count = 0;  // of others()
  std::uint32_t alive = 0;  // lanes that have not exited
  std::uint32_t turns = 0;  // since lanes began to wait at a convergence barrier
  // Since clear(): convergence barriers that a lane's view has had a set of; and below
  std::uint32_t used = 0;
  static constexpr std::uint32_t used_returns = 1u << convergence_barriers, used_calls = used_returns << 1;

  Splits() = default;
  Splits(const Splits& other) { *this = other; }
  Splits& operator=(const Splits& other) {
    count = other.count;
    alive = other.alive;
    turns = other.turns;
    used = other.used;
    if (other.apart_ == nullptr)
      apart_.reset();
    else
      apart() = *other.apart_;
    return *this;
  }
  ~Splits() = default;

  // Beside the running one.
  std::span<const Split> others() const { return std::span(apart().others).first(count); }
  Split& other(std::uint32_t index) { return apart().others[index]; }
  void add(const Split& split) {
    SIMTLAB_ASSERT(count < warp_size, "a warp has at most one split a lane");
    apart().others[count++] = split;
  }
  void remove(std::uint32_t index) {
    const auto at = apart().others.begin();
    std::copy(at + index + 1, at + count--, at + index);
  }

  // The sets in each lane's view.
  View& barrier(unsigned number) { return apart().barriers[number]; }
  const View& barrier(unsigned number) const { return apart().barriers[number]; }
  std::span<View> barriers() { return apart().barriers; }
  View& returns() { return apart().returns; }  // where a lane goes on behind ENDCOLLECTIVE
  Calls& calls() { return apart().calls; }
  const Calls& calls() const { return apart().calls; }

  bool same_place(const Splits& other) const {
    return count == other.count && alive == other.alive && turns == other.turns &&
           apart().barriers == other.apart().barriers && calls() == other.calls() &&
           std::ranges::equal(others(), other.others());
  }
  // Warps start often, and most of them have used little of it.
  void clear(std::uint32_t lanes) {
    for (unsigned i = 0; used != 0 && i < convergence_barriers; ++i)
      if ((used >> i & 1) != 0) barrier(i) = {};
    if ((used & used_returns) != 0) returns().fill(no_return);
    if ((used & used_calls) != 0) calls().clear();
    count = turns = used = 0;
    alive = lanes;
  }

 private:
  struct Apart {
    Apart() { returns.fill(no_return); }
    std::array<View, convergence_barriers> barriers{};
    std::array<Split, warp_size> others{};
    View returns;
    Calls calls;
  };
  Apart& apart() {
    if (apart_ == nullptr) [[unlikely]]
      apart_ = std::make_unique<Apart>();
    return *apart_;
  }
  const Apart& apart() const {
    static const Apart none;
    return apart_ == nullptr ? none : *apart_;
  }
  std::unique_ptr<Apart> apart_;
};

}  // namespace simtlab::exec
