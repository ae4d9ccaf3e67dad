// Everything behind the network: L2 slices with their miss registers, and the DRAM below them.
//
// Event-driven over a calendar. A request occupies its slice for bytes / bandwidth (atomics: for their
// operations), looks its tag up `slice` cycles later, and either answers or waits in the slice's miss
// registers for DRAM. A slice whose head request finds no register, no waiter slot or a full DRAM queue
// blocks, in order, until one frees. Writes allocate with byte masks and are acknowledged at the tag look-up;
// dirty sectors go to DRAM when their line is replaced. Atomics are performed at the slice.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "memory/address_map.h"
#include "memory/cache.h"
#include "memory/calendar.h"
#include "memory/main_memory.h"
#include "memory/mshr.h"
#include "memory/ring.h"
#include "timing/dram_waiters.h"
#include "timing/interconnect.h"
#include "timing/l2_accounts.h"
#include "timing/l2_parts.h"
#include "timing/latencies.h"
#include "timing/launch.h"
#include "timing/load_latency.h"
#include "timing/slot_pool.h"
#include "timing/statistics.h"
#include "timing/translation.h"

namespace simtlab::timing {

class MemorySystem {
 public:
  MemorySystem(const device::Device& device, const Latencies& latencies, Interconnect& network,
               std::unique_ptr<memory::MainMemory> dram);

  void push(const TimedRequest& request);
  Cycle next_event() const;
  // Handles all events before `end`; replies go to the network's inboxes.
  void advance(Cycle end);
  // Who listens; null: nobody. It is told of the request that push() took last by entered().
  void observe(MemoryObserver* observer) { observer_ = observer; }
  void observe_last(Flight flight) {
    flight.arrived += last_delay_;
    observer_->entered(last_, flight);
  }
  bool idle() const { return events_.empty() && dram_->next_event() == never; }

  // Of all launches since restart().
  L2Counters counters() const;
  std::vector<std::uint64_t> slice_accesses() const;  // sectors, since restart()
  L2Served served() const { return accounts_.all(); }
  // Of the launch in a slot. close_account: it has ended, and another one may get the slot.
  const L2Served& served(unsigned launch) const { return accounts_.of(launch); }
  void close_account(unsigned launch) { accounts_.close(launch); }
  // At the end of a launch: what is still under way, in words; empty if nothing is.
  std::string unfinished() const;
  memory::MemoryStatistics dram_statistics() const { return dram_->statistics(); }
  memory::dram::Channels* channel_memory() { return dram_->channels(); }  // null: not modelled
  // The GPU is idle again: the memory's clock goes on to `end`; returns it.
  Cycle settle(Cycle end) { return dram_->settle(end); }
  void invalidate(std::uint64_t address, std::uint64_t bytes);
  void make_cold();  // L2 holds nothing; what was written to it has gone to memory
  // The GPU was idle: time and counters start at 0, contents stay, what a failed launch left under way is
  // dropped.
  void restart();
  // What stays between launches, for checkpoints. restore() throws stream::trace::Malformed.
  void save(stream::trace::Buffer& out) const;
  void restore(stream::trace::Bytes& in);

 private:
  using Index = std::uint32_t;
  static constexpr Index no_index = ~Index{0};
  enum class What : std::uint8_t { arrive, look_up, answer, cross };
  struct Event {
    Index request;
    What what;
  };
  struct Pending {
    Request request;
    memory::AddressMap::Place place;
    bool counted = false;
    bool copy = false;  // looks for a copy in its near part of L2 (l2_parts.h)
  };
  // An answer on its way from a line's home to the part of L2 that asked.
  struct Crossing {
    Request request;
    std::uint8_t sectors = 0;
  };
  // What all slices have in common.
  struct SliceRules {
    explicit SliceRules(const device::Device& device);
    bool write_back, write_allocate, masked_writes;
    unsigned dram_access_sectors, fetch_sectors;  // what DRAM moves at least, what a read brings at least
    FixedCycles sector_cost, atomic_cost, flit_cost, request_cost;
    std::uint8_t dram_sectors(std::uint8_t sectors) const { return widened(sectors, dram_access_sectors); }
    std::uint8_t fetched(std::uint8_t sectors) const { return widened(sectors, fetch_sectors); }
    static std::uint8_t widened(std::uint8_t sectors, unsigned least);
  };
  struct Slice {
    memory::Cache cache;
    memory::Mshr mshr;
    memory::Port port;
    memory::Ring<Index> blocked;
    std::uint64_t accesses = 0;  // sectors moved
    Cycle reply_held_until = 0;  // the latest start of a reply that found its SM's port taken
  };

  void arrive(Cycle now, Index index);
  void look_up(Cycle now, Index index);
  bool serve(Cycle now, Index index);       // false: must wait
  bool serve_read(Cycle now, Index index);  // reads and atomics
  bool serve_write(Cycle now, Index index);
  void serve_copy(Cycle now, Index index);
  void cross(Cycle now, Index crossing);
  void drop_copies(const memory::AddressMap::Place& place, std::uint8_t sectors);
  void count_read(Pending& pending, const memory::Cache::Probe& probe, std::uint8_t under_way);
  void performed(Cycle now, Index index, std::uint8_t sectors);
  // Asked: no_index of a crossing
  void answer(Cycle now, Slice& slice, Index asked, const Request& request, std::uint8_t sectors);
  bool dram_ready(Cycle now, const memory::AddressMap::Place& place);  // false: the slice will be retried
  void block(Cycle now, Index index);
  void retry_waiting(Cycle now, std::uint32_t partition);
  void dram_done(Cycle now, const memory::MemoryDone& done);
  void retry(Cycle now, std::uint32_t number);
  void expect(Cycle end);
  template <class T>
  static void prefetch(const T& item);
  void write_back(Cycle now, std::uint32_t slice, const memory::Evictions& evicted);

  Latencies latencies_;
  Interconnect& network_;
  memory::AddressMap map_;
  L2Parts parts_;
  Translation translation_;
  std::unique_ptr<memory::MainMemory> dram_;
  const SliceRules rules_;
  std::vector<Slice> slices_;
  memory::Backlog backlog_;  // for gpu.stall.classic.dram_full
  DramWaiters dram_waiters_;
  memory::Calendar<Event> events_;
  SlotPool<Pending> pending_;
  SlotPool<Crossing> crossings_;
  std::vector<memory::MemoryDone> done_;
  std::vector<std::uint64_t> coming_;  // for expect()
  L2Accounts accounts_;
  MemoryObserver* observer_ = nullptr;
  Index last_ = 0;        // request that was pushed last
  Cycle last_delay_ = 0;  // its way to the other part of L2
};

}  // namespace simtlab::timing
