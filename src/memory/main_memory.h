// Main memory below the L2 slices. Event-driven: nothing is done between next_event() and the call of
// advance(). SimpleMemory models latency and bandwidth; ChannelMemory drives channels with clocks and
// commands of their own, simtlab's or a plug-in's.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/backlog.h"
#include "memory/time.h"
#include "stream/trace/bytes.h"

namespace simtlab::memory {

namespace dram {
class Channels;
}

struct MemoryRequest {
  std::uint32_t partition = 0;
  std::uint64_t line = 0;    // partition-local 128-byte line
  std::uint8_t sectors = 0;  // 32-byte sectors of the line, already widened to whole accesses
  bool write = false;
  std::uint64_t tag = 0;     // given back when done
  std::uint32_t source = 0;  // number of the asking part, for schedulers that are fair
  std::uint32_t slice = 0;   // of L2, for the backlog
};

struct MemoryDone {
  std::uint64_t tag = 0;
  std::uint32_t partition = 0;
  bool write = false;
  std::uint8_t sectors = 0;
};

// The tag of a request whose end no part waits for, and of a MemoryDone that only says that a full partition
// has room again.
inline constexpr std::uint64_t no_tag = ~std::uint64_t{0};

struct MemoryStatistics {
  std::uint64_t read_bytes = 0, write_bytes = 0;  // moved, over-fetch included
  std::uint64_t row_hits = 0, row_misses = 0;     // SimpleMemory only
  std::uint64_t least_partition_bytes = 0, most_partition_bytes = 0;
};

class MainMemory {
 public:
  virtual ~MainMemory() = default;
  // Room for another request in the partition's queue.
  virtual bool ready(std::uint32_t partition, Cycle now) const = 0;
  // Reads, and writes that can wait, only when ready; write-backs at any time, because an eviction cannot
  // wait. `now` never goes back.
  virtual void push(const MemoryRequest& request, Cycle now) = 0;
  // Earliest cycle at which advance() will have something to report; never if idle.
  virtual Cycle next_event() const = 0;
  // Appends the requests that finished at or before `now`, in a fixed order. A write is reported when it
  // leaves the queue.
  virtual void advance(Cycle now, std::vector<MemoryDone>& done) = 0;
  // Hints: the tags of reads that will be reported before `end`, as far as that is known already.
  virtual void coming(Cycle /*end*/, std::vector<std::uint64_t>& /*tags*/) const {}
  virtual MemoryStatistics statistics() const = 0;
  // The backlog counts requests that wait: reads until their data has left the channel, writes until the
  // channel takes them. Null: nothing counts them.
  void tell(Backlog* backlog) { backlog_ = backlog; }
  // The channels behind it, for their own statistics; null where there are none.
  virtual dram::Channels* channels() { return nullptr; }
  // A launch has ended: lets time pass until `end` for energy and idle time. Returns the time in clocks of
  // channels().
  virtual Cycle settle(Cycle) { return 0; }
  // Statistics and clock start again; requests under way are dropped.
  virtual void restart() = 0;
  // The state that restart() leaves, for checkpoints; most memories have none. restore() throws
  // stream::trace::Malformed.
  virtual void save(stream::trace::Buffer&) const {}
  virtual void restore(stream::trace::Bytes&) {}

 protected:
  Backlog* backlog_ = nullptr;
};

}  // namespace simtlab::memory
