// The way of an SM's memory requests into the network, and how many of them are under way.
#pragma once

#include <cmath>
#include <vector>

#include "memory/cache.h"
#include "stream/coalescer.h"
#include "timing/interconnect.h"
#include "timing/sm_context.h"

namespace simtlab::timing {

class RequestPort {
 public:
  RequestPort(SmContext& sm, Interconnect& network)
      : sm_(sm),
        network_(network),
        backlog_(static_cast<Cycle>(std::llround(sm.config.device.interconnect.sm_backlog))) {}

  void begin() { stores_ = direct_sectors_ = 0; }
  std::vector<TimedRequest>& outbox() { return outbox_; }

  // Whether requests still wait in the SM, not in the network: its port is booked too far ahead. Until when,
  // then.
  bool full(Cycle now, Cycle& until) const {
    const Cycle free = network_.request_port_free(sm_.id);
    if (free <= now + backlog_) return false;
    until = free - backlog_;
    return true;
  }

  // The request leaves the SM at `at`; data_sectors: how much data it carries. Returns its arrival at L2.
  Cycle send(Request request, Cycle at, unsigned data_sectors) {
    request.sm = static_cast<std::uint16_t>(sm_.id);
    request.launch = sm_.launch;
    sm_.counters->request_bytes += header_bytes + std::uint64_t{data_sectors} * stream::sector_bytes;
    const bool mask = masked(request);
    sm_.counters->request_flits += network_.flits(data_sectors, mask);
    outbox_.push_back({network_.send(sm_.id, at, data_sectors, mask), request});
    if (sm_.observer != nullptr) sm_.observer->sent(at, outbox_.back().at);
    return outbox_.back().at;
  }
  // Modified lines that had to leave L1. Their acknowledgements belong to no warp.
  void write_back(const memory::Evictions& evicted, Cycle at) {
    for (unsigned i = 0; i < evicted.count; ++i) {
      add_store();
      send({.line = evicted.items[i].line,
            .bytes = {~0u, ~0u, ~0u, ~0u},
            .tag = no_warp,
            .kind = RequestKind::write,
            .route = Route::store,
            .sectors = evicted.items[i].sectors},
           at, stream::count_sectors(evicted.items[i].sectors));
    }
  }
  static constexpr std::uint32_t no_warp = ~std::uint32_t{0};

  // Stores, reductions and write-backs that L2 has not acknowledged.
  bool takes_store() const { return stores_ < sm_.config.device.sm.stores_in_flight; }
  void add_store() { ++stores_; }
  void acknowledge_store() { --stores_; }
  std::uint32_t stores() const { return stores_; }

  // Sectors that come back for one load alone, past L1 and the miss registers.
  void add_direct(unsigned sectors) { direct_sectors_ += sectors; }
  void answer_direct(unsigned sectors) { direct_sectors_ -= sectors; }
  std::uint32_t direct_sectors() const { return direct_sectors_; }

 private:
  SmContext& sm_;
  Interconnect& network_;
  Cycle backlog_;
  std::vector<TimedRequest> outbox_;
  std::uint32_t stores_ = 0, direct_sectors_ = 0;
};

}  // namespace simtlab::timing
