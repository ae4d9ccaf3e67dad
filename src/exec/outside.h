// Accesses outside of every allocation, where the run goes on after them (--memory-errors report, ignore).
//
// A board finds such an access only where the address lies in no page that is mapped. Here the lane is given
// another address: a load reads zeros there, a store is lost, an atomic reads zero and is lost. A load that
// begins in an allocation and ends beyond it reads what is there. Which lanes that are, and what the program
// gets, is the same for any number of host threads.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>

namespace simtlab::exec {

class GlobalMemory;

class OutsideAccesses {
 public:
  enum class Does : std::uint8_t { read, write, atomic };
  // The instruction, in its module
  using Place = std::pair<const void*, const void*>;
  using Tell = std::function<void(const std::string& message)>;

  // Takes room at the end of the memory, so that the program's own allocations lie where they would lie
  // without it. tell: hears of each place once; empty: nobody does.
  OutsideAccesses(GlobalMemory& memory, Tell tell);

  // Where the lane accesses instead: a device address, an offset in the block's room behind shared memory.
  std::uint64_t instead(Does does, std::uint64_t address, unsigned lane) const {
    return first_ + offset(does, address, lane);
  }
  static std::uint64_t offset(Does does, std::uint64_t address, unsigned lane) {
    if (does == Does::atomic) return atomics + lane * atomic_bytes;
    return (does == Does::read ? zeros : lost) + address % line;
  }

  // Those that are not aligned go on, too, at a place of their own.
  void let_misaligned_go_on() { misaligned_ = true; }
  bool misaligned() const { return misaligned_; }
  bool knows(const Place& place) const { return places_.contains(place); }
  // Not while blocks are being stepped by several host threads.
  void note(const Place& place, const std::string& message);
  std::uint64_t places() const { return places_.size(); }
  std::uint64_t first() const { return first_; }

  // Of the room: a line that is read and what a vector reaches beyond it; likewise to write; a cell a lane.
  static constexpr std::uint64_t line = 128, zeros = 0, lost = 256, atomics = 512, atomic_bytes = 16,
                                 room = 1024;

 private:
  Tell tell_;
  std::uint64_t first_ = 0;
  bool misaligned_ = false;
  std::set<Place> places_;
};

}  // namespace simtlab::exec
