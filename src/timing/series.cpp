#include "timing/series.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace simtlab::timing {
namespace {

double ratio(std::uint64_t a, double b) { return b > 0 ? static_cast<double>(a) / b : 0.0; }

// begin: of the kernel.
std::vector<double> row(Cycle begin, const Snapshot& a, const Snapshot& b, const device::Device& device) {
  const auto cycles = static_cast<double>(b.end - a.end);
  const double sm_cycles = cycles * device.sm.count;
  const double per_second = device.sm_clock_hz;
  const auto rate = [](std::uint64_t hits, std::uint64_t accesses) {
    return ratio(hits, static_cast<double>(accesses));
  };
  std::vector<double> out = {
      static_cast<double>(b.end - begin),
      static_cast<double>(b.warp_instructions - a.warp_instructions),
      ratio(b.thread_instructions - a.thread_instructions, cycles),
      ratio(b.warp_cycles - a.warp_cycles, sm_cycles * device.sm.max_warps),
      static_cast<double>(b.l1_accesses - a.l1_accesses),
      rate(b.l1_hits - a.l1_hits, b.l1_accesses - a.l1_accesses),
      rate(b.l1_pending - a.l1_pending, b.l1_accesses - a.l1_accesses),
      static_cast<double>(b.l2_accesses - a.l2_accesses),
      rate(b.l2_hits - a.l2_hits, b.l2_accesses - a.l2_accesses),
      rate(b.l2_pending - a.l2_pending, b.l2_accesses - a.l2_accesses),
      ratio(b.dram_read_bytes - a.dram_read_bytes, cycles) * per_second,
      ratio(b.dram_write_bytes - a.dram_write_bytes, cycles) * per_second,
  };
  for (std::size_t i = 0; i < stall_count; ++i)
    out.push_back(ratio(b.slots[i] - a.slots[i], sm_cycles * device.sm.schedulers));
  return out;
}

// Sectors of each slice between two looks.
std::vector<std::uint64_t> moved(const Snapshot& a, const Snapshot& b) {
  std::vector<std::uint64_t> out = b.slices;
  for (std::size_t i = 0; i < out.size() && i < a.slices.size(); ++i) out[i] -= a.slices[i];
  return out;
}

double mean(const std::vector<std::uint64_t>& values) {
  return ratio(std::accumulate(values.begin(), values.end(), std::uint64_t{0}),
               static_cast<double>(values.size()));
}

}  // namespace

double standard_deviation(const std::vector<std::uint64_t>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const std::uint64_t value : values) {
    const double distance = static_cast<double>(value) - middle;
    squares += distance * distance;
  }
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

std::vector<result::Table> Series::slices() const {
  result::Table all{"l2_slices", {}}, over_time{"l2_slices_over_time", {}};
  if (snapshots_.empty()) return {};
  const std::vector<std::uint64_t> sums = moved(base_, snapshots_.back());
  for (std::size_t i = 0; i < sums.size(); ++i) all.rows.push_back({std::uint64_t{i}, sums[i]});
  const Snapshot* before = &base_;
  for (const Snapshot& snapshot : snapshots_) {
    const std::vector<std::uint64_t> now = moved(*before, snapshot);
    if (!now.empty())
      over_time.rows.push_back({snapshot.end - base_.end, mean(now), standard_deviation(now),
                                *std::ranges::min_element(now), *std::ranges::max_element(now)});
    before = &snapshot;
  }
  return {std::move(all), std::move(over_time)};
}

void Series::take(const Snapshot& snapshot) {
  snapshots_.push_back(snapshot);
  if (snapshots_.size() >= most_rows) {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < snapshots_.size(); i += 2) snapshots_[kept++] = snapshots_[i];
    snapshots_.resize(kept);
    interval_ *= 2;
  }
  next_ = base_.end + ((snapshot.end - base_.end) / interval_ + 1) * interval_;
}

result::Series Series::finish(const Snapshot& last, const device::Device& device) {
  while (!snapshots_.empty() && snapshots_.back().end >= last.end) snapshots_.pop_back();
  if (last.end > base_.end) snapshots_.push_back(last);
  result::Series out;
  out.interval = interval_;
  out.columns = {"end",
                 "instructions.warp",
                 "ipc",
                 "occupancy",
                 "l1.read.accesses",
                 "l1.hit_rate",
                 "l1.pending_rate",
                 "l2.read.accesses",
                 "l2.hit_rate",
                 "l2.pending_rate",
                 "dram.read.bandwidth",
                 "dram.write.bandwidth"};
  for (std::size_t i = 0; i < stall_count; ++i)
    out.columns.push_back("stall." + std::string(name_of(static_cast<Stall>(i))));
  Snapshot before = base_;
  for (const Snapshot& snapshot : snapshots_) {
    out.rows.push_back(row(base_.end, before, snapshot, device));
    before = snapshot;
  }
  return out;
}

}  // namespace simtlab::timing
