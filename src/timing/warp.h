// A warp that is resident on an SM: where it is in its program, and what it waits for.
#pragma once

#include <array>
#include <cstdint>

#include "stream/warp_source.h"
#include "timing/messages.h"
#include "timing/program.h"
#include "timing/tenant.h"

namespace simtlab::timing {

enum class WarpState : std::uint8_t {
  empty,
  running,      // the cycle of its next issue is known
  on_register,  // an operand comes at a time that nobody knows yet
  at_barrier,
  on_stores,  // a fence waits for acknowledgements
  on_async,   // cp.async.wait_group
  drain,      // it has exited; loads of it are under way, or stores have not left the SM
};

// Asynchronous copies under way, by group. There is room for the open group and seven committed ones; the
// copies of an older group count with the group whose place they share, so that a wait is never too short.
class AsyncCopies {
 public:
  std::uint8_t open_group() const { return open_; }
  void issue() { ++under_way_[open_ % groups]; }
  void complete(std::uint8_t group) { --under_way_[group % groups]; }
  void commit() { open_ = static_cast<std::uint8_t>(open_ + 1); }
  // The warp waits until no more than the newest `may_stay` committed groups are under way.
  void wait_for(std::uint64_t may_stay) {
    may_stay_ = static_cast<std::uint8_t>(may_stay < groups ? may_stay : groups - 1);
  }
  bool wait_is_over() const { return are_done(may_stay_); }
  // An arrival at a barrier in shared memory follows the copies so far, which become a group.
  void arrive() {
    commit();
    arrivals_[arrivals_count_++] = static_cast<std::uint8_t>(open_ - 1);
  }
  // The oldest arrival has nothing to wait for any more.
  bool may_arrive() const {
    return arrivals_count_ > 0 && are_done(static_cast<std::uint8_t>(open_ - 1 - arrivals_[0]));
  }
  void has_arrived() {
    --arrivals_count_;
    for (unsigned i = 0; i < arrivals_count_; ++i) arrivals_[i] = arrivals_[i + 1];
  }
  bool arrivals_full() const { return arrivals_count_ == arrivals_.size(); }

 private:
  static constexpr unsigned groups = 8;
  // All groups but the newest `may_stay` committed ones.
  bool are_done(unsigned may_stay) const {
    for (unsigned back = may_stay; back + 1 < groups; ++back)
      if (under_way_[(open_ + 2 * groups - 1 - back) % groups] > 0) return false;
    return true;
  }
  std::uint8_t open_ = 0, may_stay_ = 0, arrivals_count_ = 0;
  std::array<std::uint8_t, groups - 2> arrivals_{};  // groups, the oldest first
  std::array<std::uint16_t, groups> under_way_{};
};

// What an answer to a store says of who has sent it.
struct StoreTag {
  static constexpr unsigned number_bits = 11;  // as many warps as an SM may have
  static constexpr std::uint32_t lives = 1u << (32 - number_bits);
  std::uint32_t number = 0, life = 0;
  static std::uint32_t of(std::uint32_t number, std::uint32_t life) { return life << number_bits | number; }
  static StoreTag from(std::uint32_t tag) { return {tag & ((1u << number_bits) - 1), tag >> number_bits}; }
};

struct Warp {
  stream::ResidentBlock* block = nullptr;
  Tenant* tenant = nullptr;
  const Program* program = nullptr;
  const void* place = nullptr;  // of the block's own state of it
  std::uint32_t pc = 0;
  std::uint16_t in_block = 0, block_slot = 0;
  std::uint8_t scheduler = 0, local = 0;  // its scheduler, and its number there
  WarpState state = WarpState::empty;
  std::uint8_t fraction = 0;  // of a cycle, carried from one latency to the next
  std::uint8_t part = 0;      // machine instructions of the next instruction that have issued
  std::uint32_t answers = 0;  // outstanding ones of atomics: they reach the registers at the end of a quantum
  AsyncCopies async = {};
  std::uint32_t loads = 0, stores = 0;  // outstanding
  std::uint32_t held_stores = 0;        // instructions whose stores wait in the SM
  Cycle stores_at = 0;                  // the others have left the SM then
  std::uint32_t life = 0;               // of this number: answers to stores may come when it has ended
  Cycle floor = 0;                      // no issue before
  Cycle reach_at = 0;                   // when the line at the end of its instruction buffer is there
  std::uint32_t reach = 0;              // that line
  std::uint32_t constant = 0;           // line of constants that its next instruction has waited for

  const InstInfo& next() const { return (*program)[pc]; }
  // Whole cycles of a latency with 8 binary places. The fraction is carried on, so that the mean is exact.
  Cycle whole_cycles(std::uint32_t fine) {
    const std::uint32_t sum = fine + fraction;
    fraction = static_cast<std::uint8_t>(sum & 0xff);
    return sum >> 8;
  }
};

}  // namespace simtlab::timing
