// The loads of an SM whose data is not all there, whichever unit they went to.
//
// A load instruction waits for as many answers as its lines and sectors need, and for its own last line to be
// looked up. When the last of them has come its registers are ready, and whoever waits for it goes on.
#pragma once

#include <algorithm>
#include <vector>

#include "timing/as_written.h"
#include "timing/slot_pool.h"
#include "timing/sm_context.h"

namespace simtlab::timing {

// A load instruction under way.
struct Load {
  const InstInfo* info = nullptr;
  const Program* program = nullptr;
  Cycle ready_at = 0;           // of the data that hit
  std::uint32_t remaining = 0;  // answers still expected, + 1 until all its lines have been looked up
  std::uint16_t warp = 0;
  std::uint8_t async_group = 0;
};

// Who goes on when memory has answered.
class MemoryWaiter {
 public:
  virtual void load_done(const Load& load, Cycle at) = 0;  // all data of the load is there
  virtual void stores_done(std::uint32_t warp,
                           Cycle now) = 0;  // L2 has acknowledged all of the warp's stores
  virtual void stores_left(std::uint32_t warp, Cycle now) = 0;  // none of them waits in the SM any more
 protected:
  ~MemoryWaiter() = default;
};

class LoadTable {
 public:
  // as_written: null unless --what-if perfect-coalescing.
  LoadTable(SmContext& sm, std::vector<Warp>& warps, MemoryWaiter& waiter, AsWritten* as_written)
      : sm_(sm), warps_(warps), waiter_(waiter), as_written_(as_written) {}

  void begin() { loads_.clear(); }
  std::uint32_t add(std::uint32_t warp, const InstInfo& info);
  Load& operator[](std::uint32_t load) { return loads_[load]; }
  // A hint that the load is answered soon; numbers of loads are below most().
  [[gnu::always_inline]] void expect(std::uint32_t load) const { __builtin_prefetch(&loads_[load], 1); }
  std::size_t most() const { return loads_.most(); }
  // One of the things that the load waits for has come.
  void answer(std::uint32_t load, Cycle now) {
    if (--loads_[load].remaining == 0) complete(load, std::max(now, loads_[load].ready_at));
  }
  std::size_t under_way() const { return loads_.used(); }

 private:
  void complete(std::uint32_t load, Cycle at);

  SmContext& sm_;
  std::vector<Warp>& warps_;
  MemoryWaiter& waiter_;
  AsWritten* as_written_;
  SlotPool<Load> loads_;
};

}  // namespace simtlab::timing
