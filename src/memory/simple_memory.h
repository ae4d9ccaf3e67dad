// DRAM as latency and bandwidth per partition.
//
// A partition serves one request after another at its share of the bandwidth. A request to a row that is not
// among those it had open recently takes at least as long as 1 + row_miss_penalty smallest accesses: other
// banks carry data while its row is opened, so that whole lines lose nothing (boards read chunks all over
// memory as fast as in sequence: docs/lab/validation.md) and scattered sectors much. The recent rows stand
// for banks and for the reordering of a real controller. A random stream therefore is never faster than a
// sequential one. Writes may cost more than reads, for the turnarounds of the bus that they bring. Not
// modelled: banks and their timings, refresh, read/write turnaround, reordering
// (docs/reference/deviations.md, D-TIMING-4).
#pragma once

#include "memory/calendar.h"
#include "memory/main_memory.h"

namespace simtlab::memory {

struct SimpleMemoryConfig {
  std::uint32_t partitions = 1;
  Cycle latency = 100;              // from the start of an access to its data, SM cycles
  double bytes_per_cycle = 32;      // of one partition
  std::uint32_t access_bytes = 32;  // smallest transfer
  double row_miss_penalty = 0;      // of the time of a smallest access
  std::uint32_t row_bytes = 1024;
  double write_cost = 1;     // time of a write, over that of a read of as many bytes
  Cycle queue_cycles = 256;  // work a partition accepts ahead of time
};

class SimpleMemory final : public MainMemory {
 public:
  explicit SimpleMemory(const SimpleMemoryConfig& config);
  bool ready(std::uint32_t partition, Cycle now) const override;
  void push(const MemoryRequest& request, Cycle now) override;
  Cycle next_event() const override { return done_.next_time(); }
  void advance(Cycle now, std::vector<MemoryDone>& done) override;
  MemoryStatistics statistics() const override;
  void restart() override;
  void save(stream::trace::Buffer& out) const override;  // open rows
  void restore(stream::trace::Bytes& in) override;

 private:
  struct Waiting {
    Cycle until = 0;
    std::uint32_t slice = 0;
  };
  bool open_row(std::uint32_t partition, std::uint64_t row);

  SimpleMemoryConfig config_;
  // Recent rows of a partition: 16 sets of 8, replaced in turn.
  static constexpr std::uint32_t row_sets = 16, row_ways = 8;
  FixedCycles read_cost_ = 0, write_cost_ = 0;  // of a sector
  FixedCycles least_row_miss_ = 0;
  std::vector<Port> ports_;
  std::vector<std::uint64_t> rows_;     // partitions x sets x ways, row + 1
  std::vector<std::uint8_t> next_way_;  // partitions x sets
  std::vector<std::uint64_t> bytes_;    // by partition
  Calendar<MemoryDone> done_;
  Calendar<Waiting> waiting_;  // for the backlog: requests whose turn has not come; no event of its own
  MemoryStatistics statistics_;
};

}  // namespace simtlab::memory
