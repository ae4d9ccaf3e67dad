// The order in which the blocks of a grid run in functional mode, where there is no clock: one block after
// another, each to its end. A block that waits for another block (exec/spin.h) is parked, and the next block
// runs; a parked block goes on when the memory that it reads has changed. One that goes on for very long lets
// the others go first, too. At most as many blocks have begun
// and not ended as fit the GPU, because a program may rely on that many running side by side.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "exec/spin.h"

namespace simtlab::exec {

class BlockTurns {
 public:
  // resident: blocks that may have begun and not ended; 0: all.
  BlockTurns(std::uint64_t first, std::uint64_t count, std::uint64_t resident)
      : next_(first), end_(first + count), resident_(resident) {}
  virtual ~BlockTurns() = default;
  BlockTurns(const BlockTurns&) = delete;
  BlockTurns& operator=(const BlockTurns&) = delete;

  // Runs blocks until all have ended (true), or until no block can go on while memory stays as it is (false).
  // May be called again after another kernel or the host has written to memory.
  bool go_on();
  // go_on() said false: throws Fault(deadlock).
  [[noreturn]] void report(const std::string& kernel, const Dim3& grid) const {
    report_stuck(who_, not_started(kernel, grid, next_, end_ - next_));
  }

 protected:
  using Place = std::size_t;  // of a block that has begun; used again when it has ended
  virtual void begin(Place place, std::uint64_t block) = 0;  // places are made in their order
  virtual bool run(Place place) = 0;                         // to its end, or until it is stuck (false)
  // For run, before it returns false: the block is not stuck, others shall go on first.
  void hand_over() { handed_over_ = true; }
  // After so many instructions a block hands over that asks by atomics: it may take and release locks in
  // search of work that others have, which no look ahead can tell from work.
  std::uint64_t long_turn() const { return std::uint64_t{1} << (handed_before_ ? 16 : 22); }
  virtual bool stuck(Place place, std::uint32_t steps, std::vector<Stuck>& who) = 0;
  virtual void ended() {}
  // Blocks of a grid that have waited for each other once will probably do so again: the first look comes
  // early then.
  Lookout lookout() const {
    return parked_before_ ? Lookout(4096, 8) : Lookout(std::uint64_t{1} << 19, 1024);
  }

 private:
  std::optional<Place> fresh();
  std::optional<Place> awake();

  std::uint64_t next_, end_, resident_;
  std::size_t places_ = 0;
  std::vector<Place> free_;
  struct Parked {
    Place place = 0;
    bool stuck = true;  // false: it has only handed over
  };
  std::deque<Parked> parked_;  // in the order in which they stopped
  bool handed_over_ = false;
  bool parked_before_ = false, handed_before_ = false;
  std::vector<Stuck> who_;  // warps of all parked blocks, if no block can go on
};

}  // namespace simtlab::exec
