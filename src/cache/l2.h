// L2 of a study: what it holds, slice by slice; its latency and DRAM's, and what their bandwidths add when
// many ask.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "cache/history.h"
#include "cache/time.h"
#include "memory/address_map.h"
#include "memory/cache.h"
#include "stream/coalescer.h"

namespace simtlab::cache {

class L2 {
 public:
  // fetch_on_write, in_flight: Options::fetch_on_write, Options::l2_in_flight
  L2(const device::Device& device, double sample, bool fetch_on_write = false, bool in_flight = false);

  struct Answer {
    std::uint8_t missed = 0;  // sectors that came from DRAM
    Time ready = 0;           // when the answer is back at the SM
  };
  // Reads sectors of a 128-byte line; what is missing is there afterwards.
  Answer read(std::uint64_t line, std::uint8_t sectors, const Accessor& who, Time now);
  void write(const stream::Segment& segment);
  // These lines are written next, in this order: what is known of them comes from memory together, and where
  // they are is found once. Always inline for the reason in lines.h.
  [[gnu::always_inline]] void expect_writes(const stream::Segments& segments) {
    expected_count_ = std::min<unsigned>(segments.count, most_expected);
    expected_next_ = 0;
    for (unsigned i = 0; i < expected_count_; ++i) {
      Place& place = expected_[i];
      place = find(segments.items[i].line);
      history_.lines().prefetch_index(place.line);
      place.slice->prefetch(place.slice_line);
    }
    for (unsigned i = 0; i < expected_count_; ++i) history_.lines().prefetch_record(expected_[i].line);
  }
  void write_back(std::uint64_t line, std::uint8_t sectors);  // whole sectors from an L1
  void atomic(const stream::Segment& segment, const Accessor& who, Time now);

  const CacheCounts& counts() const { return counts_; }
  const History& history() const { return history_; }
  // Of the host
  std::uint64_t bytes() const { return history_.bytes() + arrivals_.capacity() * sizeof arrivals_[0]; }
  void begin_launch();  // counts from zero; the contents stay

 private:
  // Of a line: its slice, and its number there.
  struct Place {
    std::uint64_t line = 0, slice_line = 0;
    memory::Cache* slice = nullptr;
  };
  Place find(std::uint64_t line) {
    const memory::AddressMap::Place place = map_.place(line);
    return {line, place.slice_line, &slices_[place.slice]};
  }
  Place place_of(std::uint64_t line) {
    if (expected_next_ < expected_count_ && expected_[expected_next_].line == line)
      return expected_[expected_next_++];
    return find(line);
  }
  std::uint8_t fetch_rest(const Place& place, std::uint8_t sectors);
  void count_evictions(const memory::Evictions& evicted);

  memory::AddressMap map_;
  std::vector<memory::Cache> slices_;
  static constexpr unsigned most_expected = 32;
  std::array<Place, most_expected> expected_;
  unsigned expected_count_ = 0, expected_next_ = 0;
  History history_;
  CacheCounts counts_;
  unsigned unit_ = 0;
  struct Stores {
    bool back, allocate, fetch;  // fetch: what a store that takes a place does not fill
  };
  bool in_flight_;
  Stores stores_;
  Time latency_, dram_latency_;
  // Fixed point, 8 more binary places than Time: when the slices and DRAM are free, and what a sector takes
  // of them.
  std::uint64_t free_ = 0, dram_free_ = 0, sector_, dram_sector_;
  // Every launch has a time of its own; the history of lines lives longer.
  Time arrival(std::uint32_t record) const {
    return record < arrivals_.size() && arrivals_[record] > epoch_ ? arrivals_[record] - epoch_ : 0;
  }
  void expect_arrival(std::uint32_t record, Time ready) {
    if (record >= arrivals_.size()) arrivals_.resize(history_.lines().size());
    arrivals_[record] = epoch_ + ready;
  }
  // When data from DRAM comes, beside the records of the history; empty unless in_flight_
  std::vector<std::uint64_t> arrivals_;
  std::uint64_t epoch_ = 0;
  Time last_ = 0;
};

}  // namespace simtlab::cache
