// DRAM as latency and bandwidth per partition.
//
// A partition serves one access after another at its share of the bandwidth; an access to a row that is not among those it
// had open recently takes row_miss_penalty (a share) longer. Open rows stand for banks and for the reordering of a real
// controller: the last `open_rows` distinct rows count as open. A random stream therefore is never faster than a sequential one.
// Not modelled: banks and their timings, refresh, read/write turnaround, reordering (docs/deviations.md, D-TIMING).
#pragma once

#include "memory/calendar.h"
#include "memory/dram.h"

namespace simtlab::memory {

struct DramSimpleConfig {
  std::uint32_t partitions = 1;
  Cycle latency = 100;               // from the start of an access to its data, SM cycles
  double bytes_per_cycle = 32;       // of one partition
  double row_miss_penalty = 0;       // extra occupancy as a share
  std::uint32_t row_bytes = 1024;
  std::uint32_t open_rows = 64;      // of one partition
  Cycle queue_cycles = 256;          // work a partition accepts ahead of time
};

class DramSimple final : public Dram {
 public:
  explicit DramSimple(const DramSimpleConfig& config);
  bool ready(std::uint32_t partition, Cycle now) const override;
  void push(const DramRequest& request, Cycle now) override;
  Cycle next_event() const override { return done_.next_time(); }
  void advance(Cycle now, std::vector<DramDone>& done) override;
  DramStatistics statistics() const override { return statistics_; }
  void restart() override;

 private:
  bool open_row(std::uint32_t partition, std::uint64_t row);

  DramSimpleConfig config_;
  FixedCycles sector_cost_ = 0, sector_cost_miss_ = 0;
  std::vector<Port> ports_;
  std::vector<std::uint64_t> rows_;   // partitions x open_rows, row + 1, replaced in turn
  std::vector<std::uint32_t> next_row_;
  Calendar<DramDone> done_;
  DramStatistics statistics_;
};

}  // namespace simtlab::memory
