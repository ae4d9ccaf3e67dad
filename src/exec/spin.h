// Warps that can never go on.
//
// A warp spins if it comes back to the very state that it was in (program counter, divergence stack,
// registers, predicates, local memory) and has only read in between: as long as memory stays as it is, it
// goes round for ever. Registers that decide nothing in the loop may differ (spin_loop.h). If every resident
// warp spins or waits at a barrier, no warp writes, so memory does stay as it is: a deadlock.
// Block::stuck() (spin.cpp) finds out by looking ahead, warp by warp, and leaves the block as it was. A warp
// counts as going on wherever that cannot be disproved: prints, allocation, copies under way, a value that
// changes from round to round and decides something. Clocks are taken to be far ahead, first standing and
// then running: a loop that has a timeout ends, and one that only waits longer and longer (libcu++ does) does
// not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "exec/executor.h"

namespace simtlab::exec {

// A warp that is stuck: the barrier, the read or the loop that holds it, and its place.
struct Stuck {
  enum class Why : std::uint8_t { barrier, read, loop };  // loop: it goes round without reading anything
  Why why = Why::loop;
  const Launch::Impl* launch = nullptr;
  const ptx::Inst* inst = nullptr;  // the barrier, the read, or an instruction of the loop
  std::uint64_t block = 0;          // number in the grid
  std::uint32_t warp = 0;           // in the block
  std::uint32_t waiting_lanes = 0;  // lanes of the warp that wait for its lanes that go round
  // why == barrier
  std::uint32_t barrier = 0, arrived = 0, expected = 0;  // warps
  // why == read: place, size and value that the first reading lane reads
  std::uint32_t lane = 0;
  ptx::Space space = ptx::Space::global;
  std::uint16_t bytes = 0;
  std::uint64_t address = 0, value = 0;
};

// Blocks of a launch that cannot begin, in words; empty if there are none.
std::string not_started(const std::string& kernel, const Dim3& grid, std::uint64_t first,
                        std::uint64_t count);

// Throws Fault(deadlock) with what each warp waits for. left: from not_started().
[[noreturn]] void report_stuck(std::span<const Stuck> who, const std::string& left);

// When to look whether all warps are stuck. The interval between two looks doubles while warps go on, so that
// looking costs next to nothing.
class Lookout {
 public:
  // The first look comes after `first` instructions; it may look at one `share`-th as many of a warp.
  Lookout(std::uint64_t first, std::uint64_t share) : first_(first), share_(share), interval_(first) {}
  bool due(std::uint64_t instructions) const { return instructions - last_ >= interval_; }
  void looked(std::uint64_t instructions) {
    last_ = instructions;
    interval_ = std::min(2 * interval_, std::max(first_, longest * share_));
  }
  // A block has ended or begun since the last look.
  void restart(std::uint64_t instructions) {
    last_ = instructions;
    interval_ = first_;
  }
  std::uint32_t steps() const {
    return static_cast<std::uint32_t>(std::clamp(interval_ / share_, shortest, longest));
  }
  static constexpr std::uint64_t shortest = 512,
                                 longest = 65536;  // instructions of a warp that one look goes through

 private:
  std::uint64_t first_, share_, interval_, last_ = 0;
};

}  // namespace simtlab::exec
