// Translation of addresses (tlb.* of the device file; off by default): one table for the whole GPU, least
// recently used page out. A request whose page is not in it waits miss_latency before L2 looks at it;
// requests of a page whose translation is under way wait for that one.
#pragma once

#include <vector>

#include "device/device.h"
#include "memory/cache.h"
#include "memory/time.h"

namespace simtlab::timing {

class Translation {
 public:
  explicit Translation(const device::Device& device)
      : enabled_(device.tlb.enabled),
        page_lines_(device.tlb.page_bytes / 128),
        latency_(static_cast<memory::Cycle>(device.tlb.miss_latency + 0.5)),
        table_({.bytes = std::uint64_t{device.tlb.entries} * 128,
                .line_bytes = 128,
                .sector_bytes = 128,
                .ways = device.tlb.entries}) {}

  bool enabled() const { return enabled_; }

  // Cycles that a request for `line` at `now` has to wait. Calls come in the order of time.
  memory::Cycle wait(std::uint64_t line, memory::Cycle now) {
    const std::uint64_t page = line / page_lines_;
    std::erase_if(walks_, [&](const Walk& walk) { return walk.done <= now; });
    if (table_.read(page, 1).miss == 0) {
      for (const Walk& walk : walks_)
        if (walk.page == page) return walk.done - now;
      return 0;
    }
    memory::Evictions none;
    table_.fill(page, 0xf, false, none);
    if (latency_ > 0) walks_.push_back({page, now + latency_});
    return latency_;
  }

  void save(stream::trace::Buffer& out) const { table_.save(out); }
  void restore(stream::trace::Bytes& in) { table_.restore(in); }

  // A new launch: time begins anew, translations stay.
  void restart() { walks_.clear(); }

 private:
  struct Walk {
    std::uint64_t page;
    memory::Cycle done;
  };
  bool enabled_;
  std::uint64_t page_lines_;
  memory::Cycle latency_;
  memory::Cache table_;
  std::vector<Walk> walks_;
};

}  // namespace simtlab::timing
