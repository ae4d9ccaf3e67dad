// A kernel over time: counters are read every so many cycles, rows are their differences.
//
// They are read at the end of the first quantum that reaches the interval's end, so that observing changes
// nothing; a row says where it ends. Where there are very many rows, every second one is dropped and the
// interval doubled.
#pragma once

#include <vector>

#include "device/device.h"
#include "result/profile.h"
#include "result/table.h"
#include "timing/statistics.h"

namespace simtlab::timing {

// Of a population: over all of the values, not a sample of them.
double standard_deviation(const std::vector<std::uint64_t>& values);

struct Snapshot {
  Cycle end = 0;  // since the GPU was idle
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t warp_cycles = 0;
  SlotCounts slots{};
  // Sectors read
  std::uint64_t l1_accesses = 0, l1_hits = 0, l1_pending = 0, l2_accesses = 0, l2_hits = 0, l2_pending = 0;
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0;
  std::vector<std::uint64_t> slices;  // sectors that each L2 slice moved; empty: none
};

class Series {
 public:
  explicit Series(std::uint64_t interval) : asked_(interval) {}
  bool on() const { return asked_ != 0; }
  // base: when the kernel begins.
  void begin(const Snapshot& base) {
    base_ = base;
    interval_ = asked_;
    next_ = base.end + interval_;
    snapshots_.clear();
  }
  Cycle next() const { return next_; }
  bool due(Cycle now) const { return now >= next_; }
  void take(const Snapshot& snapshot);
  // last: of the kernel's end; what was read beyond it is dropped.
  result::Series finish(const Snapshot& last, const device::Device& device);
  // Afterwards: l2_slices, of the kernel, and l2_slices_over_time.
  std::vector<result::Table> slices() const;

 private:
  static constexpr std::size_t most_rows = 65536;
  std::uint64_t asked_, interval_ = 0;
  Cycle next_ = never;
  Snapshot base_;
  std::vector<Snapshot> snapshots_;
};

}  // namespace simtlab::timing
