// The places of an SM for thread blocks: which are taken, which warps belong to them, what is left for
// further blocks.
//
// The dispatcher reserves a place some cycles before the block starts. Blocks of several launches may share
// an SM. A launch that has the SM for itself gets as many places as the occupancy calculator says. Beside
// others, what all blocks hold together must fit the SM. The warps of a block have consecutive numbers, so
// that a block also needs a gap of its size among the taken ones.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/spin.h"
#include "memory/ring.h"
#include "timing/tenant.h"

namespace simtlab::timing {

struct BlockSlot {
  std::unique_ptr<stream::ResidentBlock> block;  // kept for the next block of the same launch
  Tenant* tenant = nullptr;
  std::uint32_t first_warp = 0;
  std::uint32_t warps_left = 0;  // that have not ended
  std::uint32_t at_barrier = 0;  // warps that wait at a barrier
  std::uint64_t number = 0;      // of the block in the grid
  bool reserved = false;         // from the dispatcher's decision to the block's end
  bool resident = false;         // from the block's start to its end
};

class BlockSlots {
 public:
  explicit BlockSlots(const device::Device& device) : device_(device) {}

  void begin();                                                              // nothing is reserved
  void set_warps(std::uint32_t warps) { warp_taken_.assign(warps, false); }  // of the SM
  // Where L1 and shared memory share their storage: the launch that finds the SM empty decides how much is
  // shared memory.
  void divide_storage(const LaunchContext& launch);

  bool empty() const { return held_.blocks == 0; }
  // own: the launch on this SM; null if it has not been here.
  bool has_room(const LaunchContext& launch, const Tenant* own) const;
  // A place for a block that starts at `at`, which never decreases; has_room() said that there is one.
  void reserve(Tenant& tenant, std::uint64_t block, Cycle at);
  void begin_quantum() { freed_.clear(); }
  // When the place became free that the next block gets; `now` if it did in no quantum since then.
  Cycle freed_at(Cycle now) const { return freed_.empty() ? now : freed_.front(); }
  Cycle next_start() const { return starts_.empty() ? never : starts_.front().at; }
  std::uint32_t pop_start();  // the slot of the block that starts next
  // The block in the slot becomes the one that was reserved for.
  BlockSlot& start(std::uint32_t slot, std::uint32_t sm);
  void end(std::uint32_t slot, Cycle now);  // its last warp has ended
  void forget(const Tenant& tenant);        // the launch has ended

  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
  BlockSlot& operator[](std::uint32_t slot) { return slots_[slot]; }
  std::string whereabouts(
      const LaunchContext* launch) const;  // of its first resident block; empty if there is none
  void check_progress() const;             // throws Fault(deadlock) if a block cannot go on
  // No block is about to start, and the resident ones are stuck (exec/spin.h): adds who waits for what.
  bool stuck(std::uint32_t steps, std::vector<exec::Stuck>& who);

 private:
  struct Start {
    std::uint32_t slot = 0;
    Cycle at = 0;
  };
  // The first warp of so many free ones in a row; the number of warps if there are none.
  std::uint32_t free_run(std::uint32_t warps) const;

  const device::Device& device_;
  device::Held held_;               // by reserved slots
  std::uint64_t shared_bytes_ = 0;  // of the SM, beside L1 as it is now
  std::vector<BlockSlot> slots_;
  std::vector<bool> warp_taken_;
  memory::Ring<Start> starts_;
  memory::Ring<Cycle> freed_;  // in this quantum: since when the places are free
};

}  // namespace simtlab::timing
