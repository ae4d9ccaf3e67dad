// The network between SMs and L2 slices: a crossbar of fixed latency with one port per SM and direction.
//
// A request crosses in `latency` cycles once its SM's port is free; the port is then busy for bytes / bandwidth. Slices have
// their own bandwidth (memory_system.h). Not modelled: contention inside the switch, flits and virtual channels.
#pragma once

#include <vector>

#include "device/device.h"
#include "memory/ring.h"
#include "timing/messages.h"

namespace simtlab::timing {

inline constexpr unsigned header_bytes = 8;   // address and command of a request; estimated

class Interconnect {
 public:
  Interconnect(const device::Device& device, Cycle latency)
      : latency_(latency),
        header_cost_(memory::to_fixed(header_bytes / device.interconnect.sm_write_bytes_per_cycle)),
        request_sector_cost_(memory::to_fixed(32 / device.interconnect.sm_write_bytes_per_cycle)),
        reply_sector_cost_(memory::to_fixed(32 / device.interconnect.sm_bytes_per_cycle)),
        request_ports_(device.sm.count),
        reply_ports_(device.sm.count),
        inboxes_(device.sm.count) {}

  Cycle latency() const { return latency_; }

  // SM -> slices: arrival time of a request handed over at `now`. Used by one SM only.
  Cycle send(std::uint32_t sm, Cycle now, unsigned data_sectors) {
    return request_ports_[sm].take(now, header_cost_ + data_sectors * request_sector_cost_) + latency_;
  }
  Cycle request_port_free(std::uint32_t sm) const { return request_ports_[sm].free_at(); }

  // Slices -> SM: in order of `now`. Returns when it begins to leave the network; later than now + latency if the port is taken.
  // Replies are in the SMs' inboxes after deliver(): SMs and slices may work on one quantum at the same time.
  Cycle reply(std::uint32_t sm, Cycle now, unsigned data_sectors, Reply reply) {
    reply.at = reply_ports_[sm].take(now + latency_, data_sectors * reply_sector_cost_);
    sent_.push_back({sm, reply});
    read_sectors_ += data_sectors;
    return reply.at;
  }
  void deliver() {
    for (const Sent& sent : sent_) inboxes_[sent.sm].push(sent.reply);
    sent_.clear();
  }
  memory::Ring<Reply>& inbox(std::uint32_t sm) { return inboxes_[sm]; }

  std::uint64_t read_bytes() const { return read_sectors_ * 32; }
  // Sums over the SMs.
  FixedCycles request_busy() const { return busy(request_ports_); }
  FixedCycles reply_busy() const { return busy(reply_ports_); }

  void restart() {
    for (memory::Port& port : request_ports_) port.reset();
    for (memory::Port& port : reply_ports_) port.reset();
    for (auto& inbox : inboxes_) inbox.clear();
    sent_.clear();
    read_sectors_ = 0;
  }

 private:
  static FixedCycles busy(const std::vector<memory::Port>& ports) {
    FixedCycles sum = 0;
    for (const memory::Port& port : ports) sum += port.busy();
    return sum;
  }

  Cycle latency_;
  FixedCycles header_cost_, request_sector_cost_, reply_sector_cost_;
  std::vector<memory::Port> request_ports_, reply_ports_;
  std::vector<memory::Ring<Reply>> inboxes_;
  struct Sent {
    std::uint32_t sm;
    Reply reply;
  };
  std::vector<Sent> sent_;
  std::uint64_t read_sectors_ = 0;
};

}  // namespace simtlab::timing
