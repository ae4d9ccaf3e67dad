// The load-store unit of an SM: global, local and texture accesses, asynchronous copies and atomics, through
// L1 or past it.
//
// An instruction is coalesced into segments of 128-byte lines. It takes its turn at the unit's port for all
// of them when it issues; L1's tags are looked at then, too, up to a few cycles before that turn. What the
// port takes is a line a cycle, or, where the device says how many tags it looks up in a cycle
// (l1.tag_banks), two stages: tags, as many cycles as the fullest bank of tags has lines; and data, as many
// as the fullest of the 32 banks of data has words. Each
// segment needs something to go on: a miss register, a store credit, room in the network. A segment that gets
// none waits in a queue with the segments behind it, and so do all later instructions: the unit works in
// order.
#pragma once

#include "memory/cache.h"
#include "memory/mshr.h"
#include "memory/ring.h"
#include "stream/coalescer.h"
#include "timing/load_table.h"
#include "timing/request_port.h"
#include "timing/scoreboard.h"
#include "timing/tag_banks.h"
#include "timing/unit_ports.h"
#include "timing/warp_policies.h"

namespace simtlab::timing {

class LoadStoreUnit {
 public:
  // The parts of the SM that it works with. as_written: null unless --what-if perfect-coalescing.
  struct Parts {
    std::vector<Warp>& warps;
    Scoreboard& scoreboard;
    UnitPorts& ports;
    LoadTable& loads;
    RequestPort& requests;
    WarpPolicies& policies;
    MemoryWaiter& waiter;
    AsWritten* as_written;
  };
  LoadStoreUnit(SmContext& sm, const Parts& parts);

  void begin();                           // nothing is under way
  void make_cold(std::uint32_t l1_ways);  // L1 is empty and has so many ways
  // at: when the unit may begin at the earliest.
  void access(std::uint32_t warp, const InstInfo& info, const stream::Step& step, Cycle now, Cycle at);

  // The cycle in which the queue tries again; never: a reply will say.
  Cycle next_retry() const { return retry_at_; }
  // Segments of the queue, in order, as far as they can go on. True: an instruction has left the queue.
  bool retry(Cycle now);
  // A reply frees something that the queue may wait for.
  void reply_arrived(Cycle now) {
    if (!queue_.empty()) retry_at_ = now;
  }
  void fill(const Reply& reply);  // sectors of a line have come for L1
  // Hints that a line comes to L1 soon: its set, and its place among the misses.
  [[gnu::always_inline]] void expect(std::uint64_t line) const {
    l1_.prefetch(line);
    misses_.expect(line);
  }
  const memory::Mshr& misses() const { return misses_; }
  void answer_direct(const Reply& reply);  // sectors of one load have come, past L1
  // Of a warp of the tenant, which may have ended; or of nobody.
  void acknowledge_store(std::uint32_t tag, Tenant* tenant, Cycle now);

  std::size_t waiting() const { return queue_.size(); }
  std::uint32_t misses_under_way() const { return misses_.used(); }

 private:
  enum class Access : std::uint8_t { load, store, atomic, reduction };
  // A memory instruction, or what is left of it.
  struct Instruction {
    Access access = Access::load;
    bool cached = true;  // looks into L1
    bool local = false;
    bool found = false;  // --what-if perfect-coalescing: as it is written, it finds its data in L1
    std::uint16_t warp = 0;
    std::uint32_t load = 0;   // in the load table, if it returns data
    std::uint32_t extra = 0;  // texture: latency beyond L1's, 8 binary places
    unsigned segments = 0;    // left, at the front of the queue of segments
    bool returns() const { return access == Access::load || access == Access::atomic; }
  };

  bool coalesce(std::uint32_t warp, const InstInfo& info, const stream::Step& step);
  bool pack(const InstInfo& info, const stream::Step& step);
  void count(const Warp& warp, const InstInfo& info, const stream::Step& step);
  bool looks_into_l1(const InstInfo& info, bool local) const;
  void begin_load(Instruction& instruction, const Warp& warp, const InstInfo& info, Cycle now);
  void enqueue_from(unsigned first, Instruction& instruction, Cycle now);
  void add_store(Warp& warp);
  void leaves(Warp& warp, const Request& request, Cycle arrives) const;
  // One segment. False: it has to wait. at: its turn at the unit.
  bool process(Instruction& instruction, const stream::Segment& segment, Cycle at, Cycle now);
  bool process_load(Instruction& instruction, const stream::Segment& segment, Cycle at, Cycle now);
  bool process_direct_load(Instruction& instruction, const stream::Segment& segment, Cycle at, Cycle now);
  bool process_store(Instruction& instruction, const stream::Segment& segment, Cycle at);
  bool process_atomic(Instruction& instruction, const stream::Segment& segment, Cycle at);
  FixedCycles l1_cost(const stream::Segment& segment) const;
  // What the instruction in sm_.segments takes of the port.
  struct Turn {
    FixedCycles tags = 0, data = 0;
  };
  Turn turn_of(const InstInfo& info, const stream::Step& step) const;
  Cycle leaves_at(Cycle at) const { return at + sm_.config.latencies.to_network; }

  SmContext& sm_;
  const Parts parts_;
  memory::Cache l1_;
  memory::Mshr misses_;
  memory::Ring<Instruction> queue_;
  memory::Ring<stream::Segment> queued_segments_;
  Cycle queued_since_ = 0;  // the queue has held something since
  Cycle retry_at_ = never;
  Cycle blocked_since_ = never;  // the head of the queue has waited for a miss register since
  unsigned counted_in_ = 0;      // L1's counters are in 2^counted_in_ sectors of 32 bytes
  FixedCycles sector_cost_ = 0, byte_cost_ = 0;
  Cycle partial_store_cycles_ = 0;
  TagBanks tag_banks_;
};

}  // namespace simtlab::timing
