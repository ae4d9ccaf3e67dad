// The scoreboard of an SM: when each register of each warp is ready, and why those who need it earlier wait.
//
// An entry is one number, so that the latest of several operands is their maximum and brings its reason
// along: the cycle above, the reason below. A register whose data is under way has no cycle yet and compares
// greater than any that has.
//
// Folded instructions. An instruction that machine code has no instruction for happens on the way to the next
// one, without an issue slot: its results are ready when its operands are. If a load still owes it an operand
// the instruction is kept here, and its results get their cycle when that load has come.
//
// Machine code from Volta on names what it waits for: six counters a warp (InstInfo::controlled), which an
// instruction raises when it issues and lowers when its results are there (or its operands were read). They
// are the first slots of a warp. One that several loads have raised is open until the last of them has come.
// DEPBAR.LE of Maxwell and Pascal waits for the first of them alone: where a program has such waits, who
// holds a counter is kept in the order of issue, in which they let go of it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "timing/counter_holders.h"
#include "timing/messages.h"
#include "timing/program.h"
#include "timing/stall.h"

namespace simtlab::timing {

inline constexpr unsigned reason_bits = 8;
inline constexpr std::uint64_t no_cycle = ~std::uint64_t{0} >> reason_bits;

constexpr std::uint64_t entry(Cycle ready, Stall reason) {
  return ready << reason_bits | static_cast<std::uint64_t>(reason);
}
constexpr std::uint64_t open_entry(Stall reason) { return entry(no_cycle, reason); }
constexpr Cycle cycle_of(std::uint64_t entry) { return entry >> reason_bits; }
constexpr Stall reason_of(std::uint64_t entry) { return static_cast<Stall>(entry & 0xff); }

class Scoreboard {
 public:
  void begin(
      std::uint32_t warps);  // every register of so many warps is ready, and no launch has asked for slots
  void widen(std::uint32_t slots);  // each warp gets at least so many slots; entries stay
  // The warps begin: their registers are ready.
  void clear(std::uint32_t first_warp, std::uint32_t warps);

  void set_destinations(std::uint32_t warp, const Program& program, const InstInfo& info,
                        std::uint64_t value) {
    std::uint64_t* const board = of(warp);
    if (info.dst_count == 0) return;
    if (info.controlled) return raise(warp, program, info, value);
    for (const std::uint16_t slot : program.registers(info).first(info.dst_count)) board[slot] = value;
  }
  // The same when the data of a load has come.
  void arrive(std::uint32_t warp, const Program& program, const InstInfo& info, std::uint64_t value) {
    if (info.controlled) return lower(warp, program, info, value);
    set_destinations(warp, program, info, value);
  }
  [[gnu::always_inline]] void expect(std::uint32_t warp) const {
    __builtin_prefetch(of(warp), 1);
    const Pending* const first = &pending_[std::size_t{warp} * control_counters];
    __builtin_prefetch(first, 1);
    __builtin_prefetch(first + control_counters - 1, 1);
  }
  // One counter alone: operands have been read by the cycle in `value`.
  void hold(std::uint32_t warp, unsigned counter, std::uint64_t value) {
    std::uint64_t& entry = of(warp)[counter];
    entry = std::max(entry, value);
  }
  // The latest of the entries that the instruction reads or overwrites, and of `floor`. Counters that it
  // raises are neither.
  std::uint64_t latest(std::uint32_t warp, const Program& program, const InstInfo& info,
                       std::uint64_t floor) const {
    const std::uint64_t* const board = of(warp);
    for (const std::uint16_t slot : program.awaited(info)) floor = std::max(floor, board[slot]);
    if (info.partial.scoreboard < control_counters) [[unlikely]]
      floor = std::max(
          floor, holders_.all_but(warp * control_counters + info.partial.scoreboard, info.partial.left));
    return floor;
  }

  // The entry of a folded instruction's results; nothing: it cannot be folded now and has to issue in its
  // turn, because too many folded ones wait for loads already, or because it may need what an atomic answers,
  // which is in no register yet (answers_under_way: the warp has such atomics).
  std::optional<std::uint64_t> fold(std::uint32_t warp, const Program& program, const InstInfo& info,
                                    bool answers_under_way);
  // A load of the warp has come: the results of folded instructions that waited for it alone get their cycle.
  void resolve_folded(std::uint32_t warp) {
    if (folded_count_[warp] > 0) resolve(warp);
  }

 private:
  struct Folded {
    const Program* program = nullptr;
    const InstInfo* info = nullptr;
    std::uint64_t latest = 0;             // of the operands whose entries have a cycle
    std::array<std::uint16_t, 3> open{};  // slots of the others
    std::uint8_t count = 0;               // of `open`
  };
  static constexpr unsigned most_folded = 4;  // of a warp; the next one waits for its operands
  std::uint64_t* of(std::uint32_t warp) { return &entries_[std::size_t{warp} * slots_]; }
  const std::uint64_t* of(std::uint32_t warp) const { return &entries_[std::size_t{warp} * slots_]; }
  void resolve(std::uint32_t warp);
  void raise(std::uint32_t warp, const Program& program, const InstInfo& info, std::uint64_t value);
  void lower(std::uint32_t warp, const Program& program, const InstInfo& info, std::uint64_t value);
  // Of a counter with loads under way: how many, and the latest cycle of those that have come.
  struct Pending {
    std::uint32_t loads = 0;
    std::uint64_t latest = 0;
  };
  Pending& pending(std::uint32_t warp, unsigned counter) {
    return pending_[std::size_t{warp} * control_counters + counter];
  }
  std::uint32_t warps_ = 0, slots_ = 0;
  std::vector<std::uint64_t> entries_;      // warps x slots
  std::vector<Folded> folded_;              // warps x most_folded
  std::vector<std::uint8_t> folded_count_;  // by warp
  std::vector<Pending> pending_;            // warps x control_counters
  CounterHolders holders_;                  // the same, of programs that wait for some of them
};

}  // namespace simtlab::timing
