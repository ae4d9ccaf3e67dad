// The network between SMs and L2 slices: a crossbar of fixed latency with one port per SM and direction.
//
// A request crosses in `latency` cycles once its SM's port is free; the port is then busy for its flits: as
// many as its data fills, one at least (a read's address, a write's acknowledgement), each with address and
// command beside the data; a write that fills its sectors only in part may send a mask in flits of its own
// first. Neighbouring SMs may share one way into the network: what they send in a quantum passes it in the
// order of time, and an SM whose neighbours have filled it waits. Where the device has no flits bytes count:
// those of data, and of a request a header's. Slices have their own bandwidth (memory_system.h). Not
// modelled: contention inside the switch, virtual channels.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "device/device.h"
#include "memory/ring.h"
#include "timing/messages.h"

namespace simtlab::timing {

inline constexpr unsigned most_on_a_port = 64;  // SMs
inline constexpr unsigned header_bytes = 8;     // address and command of a request; estimated

class Interconnect {
 public:
  Interconnect(const device::Device& device, Cycle latency)
      : latency_(latency),
        sharing_(std::max(1u, device.interconnect.sms_per_write_port)),
        request_ports_(device.sm.count),
        reply_ports_(device.sm.count),
        inboxes_(device.sm.count) {
    if (sharing_ > 1) shared_ports_.resize((device.sm.count + sharing_ - 1) / sharing_);
    const std::uint32_t flit = device.interconnect.flit_bytes;
    for (unsigned sectors = 0; sectors <= most_sectors; ++sectors) {
      const unsigned data = sectors * 32;
      flits_[sectors] = static_cast<std::uint8_t>(flit == 0 ? 0 : std::max(1u, (data + flit - 1) / flit));
      for (const bool mask : {false, true}) {
        const unsigned header = flit != 0 && mask && sectors > 0 ? device.interconnect.write_header_flits : 0;
        request_flits_[mask][sectors] = static_cast<std::uint8_t>(flits_[sectors] + header);
        const unsigned request = flit == 0 ? header_bytes + data : request_flits_[mask][sectors] * flit;
        request_cost_[mask][sectors] =
            memory::to_fixed(request / device.interconnect.sm_write_bytes_per_cycle);
      }
      const unsigned reply = flit == 0 ? data : flits_[sectors] * flit;
      reply_cost_[sectors] = memory::to_fixed(reply / device.interconnect.sm_bytes_per_cycle);
    }
  }

  Cycle latency() const { return latency_; }

  // SM -> slices: arrival time of a request handed over at `now`. Used by one SM only.
  Cycle send(std::uint32_t sm, Cycle now, unsigned data_sectors, bool mask) {
    return request_ports_[sm].take(now, request_cost_[mask][data_sectors]) + latency_;
  }
  Cycle request_port_free(std::uint32_t sm) const { return request_ports_[sm].free_at(); }

  bool share_a_port(std::uint32_t sm, std::uint32_t other) const { return sm / sharing_ == other / sharing_; }
  // On a shared way the request's turn comes later: its arrival then. In the order of time.
  Cycle pass(const TimedRequest& timed) {
    if (sharing_ == 1) return timed.at;
    const Request& request = timed.request;
    const unsigned data =
        request.kind == RequestKind::read ? 0 : static_cast<unsigned>(std::popcount(request.sectors));
    return shared_ports_[request.sm / sharing_].take(timed.at - latency_,
                                                     request_cost_[masked(request)][data]) +
           latency_;
  }
  // The SM sends nothing before the shared way is free.
  void hold(std::uint32_t sm) {
    if (sharing_ > 1) request_ports_[sm].close_until(shared_ports_[sm / sharing_].free_at());
  }

  // Slices -> SM: in order of `now`. Returns when it begins to leave the network; later than now + latency if
  // the port is taken. Replies are in the SMs' inboxes after deliver(): SMs and slices may work on one
  // quantum at the same time.
  Cycle reply(std::uint32_t sm, Cycle now, unsigned data_sectors, Reply reply) {
    reply.at = reply_ports_[sm].take(now + latency_, reply_cost_[data_sectors]);
    reply_flits_ += flits_[data_sectors];
    sent_.push_back({sm, reply});
    read_sectors_ += data_sectors;
    return reply.at;
  }
  void deliver() {
    for (const Sent& sent : sent_) inboxes_[sent.sm].push(sent.reply);
    sent_.clear();
  }
  memory::Ring<Reply>& inbox(std::uint32_t sm) { return inboxes_[sm]; }

  // Of a request with so many sectors of data; 0: the device has none.
  unsigned flits(unsigned data_sectors, bool mask) const { return request_flits_[mask][data_sectors]; }
  std::uint64_t reply_flits() const { return reply_flits_; }
  std::uint64_t read_bytes() const { return read_sectors_ * 32; }
  // Sums over the SMs.
  FixedCycles request_busy() const { return busy(request_ports_); }
  FixedCycles reply_busy() const { return busy(reply_ports_); }

  void restart() {
    for (memory::Port& port : request_ports_) port.reset();
    for (memory::Port& port : shared_ports_) port.reset();
    for (memory::Port& port : reply_ports_) port.reset();
    for (auto& inbox : inboxes_) inbox.clear();
    sent_.clear();
    read_sectors_ = reply_flits_ = 0;
  }

 private:
  static FixedCycles busy(const std::vector<memory::Port>& ports) {
    FixedCycles sum = 0;
    for (const memory::Port& port : ports) sum += port.busy();
    return sum;
  }

  Cycle latency_;
  std::uint32_t sharing_;                      // SMs on one way into the network
  static constexpr unsigned most_sectors = 4;  // of a line
  template <class T>
  using BySectors = std::array<T, most_sectors + 1>;  // of data
  BySectors<FixedCycles> reply_cost_{};
  BySectors<std::uint8_t> flits_{};
  std::array<BySectors<FixedCycles>, 2> request_cost_{};  // without and with a mask
  std::array<BySectors<std::uint8_t>, 2> request_flits_{};
  std::vector<memory::Port> request_ports_, reply_ports_, shared_ports_;
  std::vector<memory::Ring<Reply>> inboxes_;
  struct Sent {
    std::uint32_t sm;
    Reply reply;
  };
  std::vector<Sent> sent_;
  std::uint64_t read_sectors_ = 0, reply_flits_ = 0;
};

}  // namespace simtlab::timing
