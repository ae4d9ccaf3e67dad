#include "cache/l2.h"

#include <algorithm>
#include <bit>

namespace simtlab::cache {

using stream::count_sectors;

L2::L2(const device::Device& device, double sample, bool fetch_on_write, bool in_flight)
    : map_(device.l2_slices, device.dram.partitions, device.l2_slice_hash),
      // The history sees lines of 128 bytes, as requests of the L1 caches are.
      history_({.bytes = device.l2.bytes, .line_bytes = 128, .sector_bytes = 32}, sample),
      unit_(static_cast<unsigned>(std::countr_zero(device.l2.sector_bytes / stream::sector_bytes))),
      in_flight_(in_flight),
      stores_{.back = device.l2.write_policy == device::WritePolicy::write_back,
              .allocate = device.l2.write_allocate,
              .fetch = fetch_on_write && device.l2.write_allocate},
      latency_(to_time(device.l2.latency)),
      dram_latency_(to_time(device.dram.latency)) {
  const auto fine = [](double cycles) {
    return static_cast<std::uint64_t>(cycles * (1u << time_bits) * 256 + 0.5);
  };
  const double bandwidth =
      device.dram.bandwidth_measured > 0 ? device.dram.bandwidth_measured : device.dram.bandwidth;
  sector_ = fine(stream::sector_bytes / device.l2.bytes_per_cycle);
  dram_sector_ = fine(stream::sector_bytes / (bandwidth / device.sm_clock_hz));
  slices_.reserve(device.l2_slices);
  for (std::uint32_t i = 0; i < device.l2_slices; ++i)
    slices_.emplace_back(memory::l2_slice_config(device, i));
}

void L2::count_evictions(const memory::Evictions& evicted) {
  for (unsigned i = 0; i < evicted.count; ++i) {
    counts_.writebacks += count_sectors(evicted.items[i].sectors);
    dram_free_ += count_sectors(evicted.items[i].sectors) * dram_sector_;
  }
}

L2::Answer L2::read(std::uint64_t line, std::uint8_t sectors, const Accessor& who, Time now) {
  const Place place = find(line);
  memory::Cache& slice = *place.slice;
  const std::uint8_t wanted = slice.widen(sectors);
  const memory::Cache::Probe probe = slice.read(place.slice_line, wanted);
  const std::uint32_t record = history_.lines().at(line);
  history_.read(record, wanted, probe.miss, 0, unit_, who, counts_.read);
  free_ = std::max(free_, std::uint64_t{now} << 8) + count_sectors(wanted) * sector_;
  if (probe.miss == 0) return {0, std::max<Time>((free_ >> 8) + latency_, in_flight_ ? arrival(record) : 0)};
  memory::Evictions evicted;
  slice.fill(place.slice_line, probe.miss, false, evicted);
  count_evictions(evicted);
  counts_.bytes_fetched += std::uint64_t{count_sectors(probe.miss)} * stream::sector_bytes;
  dram_free_ = std::max(dram_free_, free_) + count_sectors(probe.miss) * dram_sector_;
  const Time ready = (dram_free_ >> 8) + dram_latency_;
  if (in_flight_) expect_arrival(record, ready);
  last_ = std::max(last_, ready);
  return {probe.miss, ready};
}

// What a store has begun comes from DRAM. Returns the sectors that are whole then.
std::uint8_t L2::fetch_rest(const Place& place, std::uint8_t sectors) {
  const std::uint8_t wanted = place.slice->widen(sectors);
  const std::uint8_t absent = place.slice->probe(place.slice_line, wanted).miss;
  memory::Evictions none;  // the store has its line already
  if (absent != 0) place.slice->fill(place.slice_line, absent, false, none);
  counts_.bytes_fetched_by_writes += std::uint64_t{count_sectors(absent)} * stream::sector_bytes;
  dram_free_ += count_sectors(absent) * dram_sector_;
  return wanted;
}

void L2::write(const stream::Segment& segment) {
  const Place place = place_of(segment.line);
  memory::Evictions evicted;
  const std::uint8_t present = place.slice->write(place.slice_line, segment.bytes, segment.sectors,
                                                  stores_.allocate, stores_.back, evicted);
  const unsigned touched = count_sectors(segment.sectors), found = count_sectors(present & segment.sectors);
  counts_.write.accesses += touched;
  counts_.write.hits += found;
  counts_.write.misses += touched - found;
  if (stores_.fetch)
    history_.write(segment.line, fetch_rest(place, segment.sectors), all_bytes, History::Store::allocate);
  else
    history_.write(segment.line, segment.sectors, segment.bytes,
                   stores_.allocate ? History::Store::allocate : History::Store::refresh);
  free_ += touched * sector_;
  if (!stores_.back) counts_.writebacks += touched;
  count_evictions(evicted);
}

void L2::write_back(std::uint64_t line, std::uint8_t sectors) {
  write({.line = line, .bytes = {~0u, ~0u, ~0u, ~0u}, .sectors = sectors});
}

// Read, changed and kept: as the slices of the timing model do.
void L2::atomic(const stream::Segment& segment, const Accessor& who, Time now) {
  read(segment.line, segment.sectors, who, now);
  const Place place = find(segment.line);
  memory::Evictions evicted;
  place.slice->fill(place.slice_line, segment.sectors, true, evicted);
  count_evictions(evicted);
}

void L2::begin_launch() {
  counts_ = {};
  free_ = dram_free_ = 0;
  epoch_ += last_;
  last_ = 0;
  history_.begin_launch();
}

}  // namespace simtlab::cache
