#include "timing/memory_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "memory/dram/channels.h"
#include "stream/coalescer.h"
#include "timing/series.h"

namespace simtlab::timing {
namespace {

constexpr auto count = stream::count_sectors;

// DRAM tags name the slice and its line.
constexpr unsigned slice_shift = 48;

}  // namespace

MemorySystem::SliceRules::SliceRules(const device::Device& device)
    : write_back(device.l2.write_policy == device::WritePolicy::write_back),
      write_allocate(device.l2.write_allocate),
      masked_writes(device.dram.masked_writes),
      dram_access_sectors(std::clamp<unsigned>(std::bit_floor(device.dram.access_bytes / 32), 1, 4)),
      fetch_sectors(std::max(dram_access_sectors, device.l2_miss_bytes / 32)),
      sector_cost(memory::to_fixed(32 / (device.l2.bytes_per_cycle / device.l2_slices))),
      flit_cost(0),
      request_cost(0) {
  // Of one slice.
  const double slices = device.l2_slices, write_bytes = device.l2_write_bytes_per_cycle;
  if (write_bytes > 0) flit_cost = memory::to_fixed(device.interconnect.flit_bytes * slices / write_bytes);
  if (device.l2_requests_per_cycle > 0)
    request_cost = memory::to_fixed(slices / device.l2_requests_per_cycle);
  // throughput[atomic] is per SM; the work is done at the slices.
  const double of_sm = device.throughput[static_cast<std::size_t>(ptx::OpClass::atomic)];
  const double rate = of_sm * device.sm.count / device.l2_slices;
  atomic_cost = memory::to_fixed(1 / rate);
}

std::uint8_t MemorySystem::SliceRules::widened(std::uint8_t sectors, unsigned least) {
  std::uint8_t wide = 0;
  const unsigned ones = (1u << least) - 1;
  for (unsigned at = 0; at < 4; at += least)
    if ((sectors >> at) & ones) wide = static_cast<std::uint8_t>(wide | (ones << at));
  return wide;
}

MemorySystem::MemorySystem(const device::Device& device, const Latencies& latencies, Interconnect& network,
                           std::unique_ptr<memory::MainMemory> dram)
    : latencies_(latencies),
      network_(network),
      map_(device.l2_slices, device.dram.partitions, device.l2_slice_hash),
      parts_(device),
      translation_(device),
      dram_(std::move(dram)),
      rules_(device),
      backlog_(device.l2_slices,
               dram_->channels() != nullptr ? dram_->channels()->count() : device.dram.partitions),
      dram_waiters_(device.l2_slices, map_.partitions()) {
  dram_->tell(&backlog_);
  slices_.reserve(device.l2_slices);
  for (std::uint32_t i = 0; i < device.l2_slices; ++i) {
    slices_.push_back({memory::Cache(memory::l2_slice_config(device, i)),
                       memory::Mshr(device.l2.mshr_entries, device.l2.mshr_merge),
                       {},
                       {},
                       0,
                       0});
  }
  pending_.reserve(4096);
}

L2Counters MemorySystem::counters() const {
  L2Counters out = accounts_.counters();
  out.full_cycles = backlog_.full_cycles();
  out.least_slice_accesses = slices_.front().accesses;
  for (const Slice& slice : slices_) {
    out.least_slice_accesses = std::min(out.least_slice_accesses, slice.accesses);
    out.most_slice_accesses = std::max(out.most_slice_accesses, slice.accesses);
  }
  out.slice_deviation = standard_deviation(slice_accesses());
  return out;
}

std::vector<std::uint64_t> MemorySystem::slice_accesses() const {
  std::vector<std::uint64_t> out;
  for (const Slice& slice : slices_) out.push_back(slice.accesses);
  return out;
}

void MemorySystem::push(const TimedRequest& timed) {
  Pending pending{timed.request, map_.place(timed.request.line)};
  Cycle at = timed.at;
  if (parts_.several()) {
    const std::uint32_t home = pending.place.slice;
    const std::uint32_t near = parts_.opposite(home, parts_.part_of_sm(timed.request.sm));
    if (near != home && timed.request.kind == RequestKind::read) {
      pending.copy = true;
      pending.place.slice_line = parts_.copy(home, pending.place.slice_line);
      pending.place.slice = near;
    } else if (near != home) {
      pending.request.crossed = true;
      at += latencies_.far_one_way;
    }
  }
  last_ = pending_.add(pending);
  last_delay_ = at - timed.at;
  events_.push(at, {last_, What::arrive});
}

Cycle MemorySystem::next_event() const { return std::min(events_.next_time(), dram_->next_event()); }

template <class T>
[[gnu::always_inline]] inline void MemorySystem::prefetch(const T& item) {
  const auto* const first = reinterpret_cast<const std::byte*>(&item);
  for (std::size_t at = 0; at < sizeof(T); at += 64) __builtin_prefetch(first + at, 1);
}

// What the events until `end` will look at is fetched side by side into the host's cache.
void MemorySystem::expect(Cycle end) {
  coming_.clear();
  dram_->coming(end, coming_);
  events_.each_before(end, [&](const Event& event) {
    if (event.what == What::cross) return;
    prefetch(pending_[event.request]);
  });
  const auto line_of = [](std::uint64_t tag) { return tag & ((std::uint64_t{1} << slice_shift) - 1); };
  for (const std::uint64_t tag : coming_) {
    const Slice& slice = slices_[tag >> slice_shift];
    slice.cache.prefetch(line_of(tag));
    slice.mshr.expect(line_of(tag));
  }
  events_.each_before(end, [&](const Event& event) {
    if (event.what == What::cross || event.what == What::answer) return;
    const Pending& pending = pending_[event.request];
    if (event.what == What::arrive && !pending.copy) return;
    const Slice& slice = slices_[pending.place.slice];
    slice.cache.prefetch(pending.place.slice_line);
    slice.mshr.expect(pending.place.slice_line);
  });
  for (const std::uint64_t tag : coming_) slices_[tag >> slice_shift].mshr.expect_entry(line_of(tag));
  for (const std::uint64_t tag : coming_) slices_[tag >> slice_shift].mshr.expect_waiter(line_of(tag));
  for (const std::uint64_t tag : coming_)
    slices_[tag >> slice_shift].mshr.each_waiter(
        line_of(tag), [&](std::uint64_t waiter) { prefetch(pending_[static_cast<Index>(waiter)]); });
}

void MemorySystem::advance(Cycle end) {
  expect(end);
  for (Cycle now = next_event(); now < end; now = next_event()) {
    done_.clear();
    dram_->advance(now, done_);
    for (const memory::MemoryDone& done : done_) dram_done(now, done);
    for (Event event; events_.pop(now, event);) {
      switch (event.what) {
        case What::arrive: arrive(now, event.request); break;
        case What::look_up: look_up(now, event.request); break;
        case What::answer:
          answer(now, slices_[pending_[event.request].place.slice], event.request,
                 pending_[event.request].request, pending_[event.request].request.sectors);
          pending_.remove(event.request);
          break;
        case What::cross: cross(now, event.request); break;
      }
    }
  }
}

// Takes its turn at the slice.
void MemorySystem::arrive(Cycle now, Index index) {
  const Pending& pending = pending_[index];
  const Request& request = pending.request;
  Slice& slice = slices_[pending.place.slice];
  // Copies that are not there cost the near part no data.
  const std::uint8_t moved =
      pending.copy ? slice.cache.probe(pending.place.slice_line, request.sectors).hit : request.sectors;
  FixedCycles cost = std::max(count(moved) * rules_.sector_cost, rules_.request_cost);
  if (request.kind != RequestKind::read)
    cost = std::max(cost, network_.flits(count(moved), masked(request)) * rules_.flit_cost);
  if (request.kind == RequestKind::atomic)
    cost = std::max(
        {cost, request.lanes * rules_.atomic_cost, FixedCycles{request.same_address} << memory::fixed_bits});
  accounts_.counters().busy += cost;
  accounts_.of(request.launch).sectors_moved += count(moved);
  slice.accesses += count(moved);
  const Cycle start = slice.port.take(now, cost);
  Cycle wait = 0;
  // Translated once, where it enters L2.
  if (translation_.enabled() && !(request.crossed && request.kind == RequestKind::read))
    wait = translation_.wait(request.line, now);
  if (observer_ != nullptr) observer_->started(index, start, start + latencies_.slice + wait);
  events_.push(start + latencies_.slice + wait, {index, What::look_up});
}

void MemorySystem::look_up(Cycle now, Index index) {
  Slice& slice = slices_[pending_[index].place.slice];
  if (!slice.blocked.empty() || !serve(now, index)) block(now, index);
}

void MemorySystem::block(Cycle now, Index index) {
  const std::uint32_t number = pending_[index].place.slice;
  slices_[number].blocked.push(index);
  backlog_.blocked(number, now);
}

bool MemorySystem::dram_ready(Cycle now, const memory::AddressMap::Place& place) {
  if (dram_->ready(place.partition, now)) return true;
  dram_waiters_.add(place.partition, place.slice);
  return false;
}

bool MemorySystem::serve(Cycle now, Index index) {
  if (pending_[index].copy) {
    serve_copy(now, index);
    return true;
  }
  return pending_[index].request.kind == RequestKind::write ? serve_write(now, index)
                                                            : serve_read(now, index);
}

void MemorySystem::count_read(Pending& pending, const memory::Cache::Probe& probe, std::uint8_t under_way) {
  if (pending.counted) return;
  pending.counted = true;
  const unsigned joined = count(static_cast<std::uint8_t>(probe.miss & under_way));
  CacheCounters& counters = accounts_.of(pending.request.launch).cache;
  counters.read_accesses += count(pending.request.sectors);
  counters.read_hits += count(probe.hit);
  counters.read_pending += joined;
  counters.read_misses += count(probe.miss) - joined;
}

bool MemorySystem::serve_read(Cycle now, Index index) {
  Pending& pending = pending_[index];
  Request& request = pending.request;
  Slice& slice = slices_[pending.place.slice];
  const std::uint64_t line = pending.place.slice_line;
  const memory::Cache::Probe probe = slice.cache.read(line, request.sectors);
  if (probe.miss == 0) {
    count_read(pending, probe, 0);
    performed(now, index, request.sectors);
    return true;
  }
  const memory::Mshr::Look look = slice.mshr.look(line);
  const auto fresh = static_cast<std::uint8_t>(probe.miss & ~look.pending);
  if (!look.room || (fresh != 0 && !dram_ready(now, pending.place))) {
    if (observer_ != nullptr) observer_->refused(pending.place.slice, look.room);
    return false;
  }
  count_read(pending, probe, look.pending);
  // Reads get what is there at once; atomics wait for all of their sectors.
  std::uint8_t needs = probe.miss;
  if (request.kind == RequestKind::read && probe.hit != 0) {
    answer(now, slice, index, request, probe.hit);
    request.sectors = probe.miss;
  }
  auto fetch = static_cast<std::uint8_t>(rules_.fetched(slice.cache.widen(fresh)) & ~look.pending);
  fetch = static_cast<std::uint8_t>(fetch & ~slice.cache.probe(line, fetch).hit);
  slice.mshr.add(line, needs, fetch, index);
  if (observer_ != nullptr) observer_->missed(index, pending.place.slice, now);
  if (fetch != 0) {
    const std::uint64_t tag = (std::uint64_t{pending.place.slice} << slice_shift) | line;
    dram_->push({pending.place.partition, pending.place.partition_line, fetch, false, tag, request.sm,
                 pending.place.slice},
                now);
  }
  return true;
}

bool MemorySystem::serve_write(Cycle now, Index index) {
  const Pending& pending = pending_[index];
  const Request& request = pending.request;
  Slice& slice = slices_[pending.place.slice];
  const bool absent = slice.cache.probe(pending.place.slice_line, 0xf).hit == 0;
  if ((absent || !rules_.write_back) && !dram_ready(now, pending.place)) {
    if (observer_ != nullptr) observer_->refused(pending.place.slice, true);
    return false;
  }
  memory::Evictions evicted;
  const std::uint8_t present = slice.cache.write(pending.place.slice_line, request.bytes, request.sectors,
                                                 rules_.write_allocate, rules_.write_back, evicted);
  CacheCounters& counters = accounts_.of(request.launch).cache;
  counters.write_accesses += count(request.sectors);
  counters.write_hits += count(present);
  write_back(now, pending.place.slice, evicted);
  drop_copies(pending.place, request.sectors);
  if (!rules_.write_back || (!rules_.write_allocate && present == 0))
    dram_->push({pending.place.partition, pending.place.partition_line, rules_.dram_sectors(request.sectors),
                 true, memory::no_tag, request.sm, pending.place.slice},
                now);
  answer(now, slice, index, request, 0);
  pending_.remove(index);
  return true;
}

// All sectors of a read or atomic are in the slice: answer, for atomics after the operation.
void MemorySystem::performed(Cycle now, Index index, std::uint8_t sectors) {
  Pending& pending = pending_[index];
  if (observer_ != nullptr) observer_->performed(index, pending.place.slice, now);
  if (pending.request.kind == RequestKind::atomic) {
    memory::Evictions evicted;
    slices_[pending.place.slice].cache.fill(pending.place.slice_line, pending.request.sectors, true, evicted);
    write_back(now, pending.place.slice, evicted);
    drop_copies(pending.place, pending.request.sectors);
    if (!pending.request.returns) pending.request.sectors = 0;
    events_.push(now + latencies_.atomic_extra, {index, What::answer});
    return;
  }
  answer(now, slices_[pending.place.slice], index, pending.request, sectors);
  pending_.remove(index);
}

// In the near part: answers what there are copies of; the rest goes on to the lines' home.
void MemorySystem::serve_copy(Cycle now, Index index) {
  Pending& pending = pending_[index];
  Slice& slice = slices_[pending.place.slice];
  const memory::Cache::Probe probe = slice.cache.read(pending.place.slice_line, pending.request.sectors);
  CacheCounters& counters = accounts_.of(pending.request.launch).cache;
  counters.read_accesses += count(probe.hit);
  counters.read_hits += count(probe.hit);
  if (probe.hit != 0) answer(now, slice, index, pending.request, probe.hit);
  if (probe.miss == 0) return pending_.remove(index);
  pending.copy = false;
  pending.request.crossed = true;
  pending.request.sectors = probe.miss;
  pending.place = map_.place(pending.request.line);
  events_.push(now + latencies_.far_one_way, {index, What::arrive});
}

// Back in the part that asked: what was read stays there as a copy.
void MemorySystem::cross(Cycle now, Index crossing) {
  Crossing item = crossings_[crossing];
  crossings_.remove(crossing);
  const auto home = map_.place(item.request.line);
  const std::uint32_t near = parts_.opposite(home.slice, parts_.part_of_sm(item.request.sm));
  if (item.request.kind == RequestKind::read) {
    memory::Evictions evicted;
    slices_[near].cache.fill(parts_.copy(home.slice, home.slice_line), item.sectors, false, evicted);
    write_back(now, near, evicted);
  }
  item.request.crossed = false;
  if (observer_ != nullptr) observer_->crossed(crossing, item.request.sm, now);
  answer(now, slices_[near], no_index, item.request, item.sectors);
}

void MemorySystem::drop_copies(const memory::AddressMap::Place& place, std::uint8_t sectors) {
  for (std::uint32_t part = 0; part < parts_.count(); ++part)
    if (part != parts_.part_of_slice(place.slice))
      slices_[parts_.opposite(place.slice, part)].cache.invalidate(parts_.copy(place.slice, place.slice_line),
                                                                   sectors);
}

void MemorySystem::answer(Cycle now, Slice& slice, Index asked, const Request& request,
                          std::uint8_t sectors) {
  if (request.crossed) {
    const Index index = crossings_.add({request, sectors});
    if (observer_ != nullptr) observer_->crosses(index, asked);
    events_.push(now + latencies_.far_one_way, {index, What::cross});
    return;
  }
  if (observer_ != nullptr && asked != no_index) observer_->answered(asked, request.sm, now);
  const Cycle ready = now + network_.latency();
  const Cycle start = network_.reply(request.sm, now, count(sectors),
                                     {0, request.line, request.tag, request.route, sectors, request.launch});
  const Cycle counted = std::max(ready, slice.reply_held_until);
  if (start <= counted) return;
  accounts_.counters().reply_held_cycles += start - counted;
  slice.reply_held_until = start;
}

void MemorySystem::write_back(Cycle now, std::uint32_t slice, const memory::Evictions& evicted) {
  for (unsigned i = 0; i < evicted.count; ++i) {
    const auto place = map_.place(map_.global_line(slice, evicted.items[i].line));
    accounts_.counters().writebacks += count(evicted.items[i].sectors);
    // The memory takes whole sectors only: the rest of them is read. Nobody waits for it.
    if (const std::uint8_t read = evicted.items[i].incomplete; read != 0 && !rules_.masked_writes)
      dram_->push({place.partition, place.partition_line, rules_.dram_sectors(read), false, memory::no_tag,
                   slice, slice},
                  now);
    dram_->push({place.partition, place.partition_line, rules_.dram_sectors(evicted.items[i].sectors), true,
                 (std::uint64_t{slice} << slice_shift), slice, slice},
                now);
  }
}

void MemorySystem::dram_done(Cycle now, const memory::MemoryDone& done) {
  if (done.tag == memory::no_tag) return retry_waiting(now, done.partition);
  const auto number = static_cast<std::uint32_t>(done.tag >> slice_shift);
  const std::uint64_t line = done.tag & ((std::uint64_t{1} << slice_shift) - 1);
  Slice& slice = slices_[number];
  if (!done.write) {
    memory::Evictions evicted;
    slice.cache.fill(line, done.sectors, false, evicted);
    write_back(now, number, evicted);
    slice.mshr.fill(line, done.sectors, [&](std::uint64_t waiter) {
      const auto index = static_cast<Index>(waiter);
      performed(now, index, pending_[index].request.sectors);
    });
  }
  retry_waiting(now, done.partition);
  retry(now, number);
}

void MemorySystem::retry_waiting(Cycle now, std::uint32_t partition) {
  dram_waiters_.retry_all(partition, [&](std::uint32_t slice) { retry(now, slice); });
}

void MemorySystem::retry(Cycle now, std::uint32_t number) {
  Slice& slice = slices_[number];
  while (!slice.blocked.empty() && serve(now, slice.blocked.front())) {
    slice.blocked.pop();
    backlog_.unblocked(number, now);
  }
}

std::string MemorySystem::unfinished() const {
  if (pending_.used() != 0) return fmt::format("L2: {} requests without an answer", pending_.used());
  if (crossings_.used() != 0) return fmt::format("L2: {} answers between its parts", crossings_.used());
  for (const Slice& slice : slices_) {
    if (!slice.blocked.empty()) return fmt::format("L2: {} requests wait at a slice", slice.blocked.size());
    if (slice.mshr.used() != 0)
      return fmt::format("L2: {} miss registers of a slice in use", slice.mshr.used());
  }
  return {};
}

void MemorySystem::invalidate(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t first = address / 128;
  const std::uint64_t last = (address + bytes - 1) / 128;
  std::uint64_t lines = 0;
  for (const Slice& slice : slices_) lines += slice.cache.line_count();
  if (last - first >= lines) return make_cold();
  for (std::uint64_t line = first; line <= last; ++line) {
    const auto place = map_.place(line);
    slices_[place.slice].cache.invalidate(place.slice_line, 0xf);
    drop_copies(place, 0xf);
  }
}

void MemorySystem::make_cold() {
  for (Slice& slice : slices_) slice.cache.clear();
}

void MemorySystem::restart() {
  for (Slice& slice : slices_) {
    slice.port.reset();
    slice.mshr.clear();
    slice.blocked.clear();
    slice.accesses = slice.reply_held_until = 0;
  }
  backlog_.restart();
  dram_waiters_.clear();
  events_.restart();
  translation_.restart();
  crossings_.clear();
  dram_->restart();
  pending_.clear();
  accounts_.restart();
}

void MemorySystem::save(stream::trace::Buffer& out) const {
  for (const Slice& slice : slices_) slice.cache.save(out);
  translation_.save(out);
  dram_->save(out);
}

void MemorySystem::restore(stream::trace::Bytes& in) {
  for (Slice& slice : slices_) slice.cache.restore(in);
  translation_.restore(in);
  dram_->restore(in);
}

}  // namespace simtlab::timing
