#include "cache/l1.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "cache/bits.h"

namespace simtlab::cache {
namespace {

using stream::count_sectors;

memory::CacheConfig l1_config(const device::Device& device, std::uint32_t ways, std::uint64_t seed) {
  memory::CacheConfig config = memory::cache_config(device.l1, device.l1.bytes / device.l1.ways * ways, seed);
  config.ways = ways;
  return config;
}

std::unique_ptr<Prefetcher> make_prefetcher(std::string_view name) {
  const PrefetchPolicy* const policy = find_prefetcher(name);
  SIMTLAB_ASSERT(policy != nullptr, "options name a prefetcher that there is");
  return policy->make == nullptr ? nullptr : policy->make();
}

constexpr double usual_jitter = 0.8;  // of the latency of DRAM; options.h says why

}  // namespace

L1::L1(const device::Device& device, std::uint32_t ways, const Options& options, std::uint32_t sm, L2* l2)
    : device_(device),
      options_(options),
      sm_(sm),
      l2_(l2),
      cache_(l1_config(device, ways, sm + options.seed)),
      history_(cache_.config(), options.sample),
      prefetcher_(make_prefetcher(options.prefetch)),
      sets_(cache_.sets()),
      misses_(device.l1.mshr_entries),
      sub_lines_(128 / device.l1.line_bytes),
      sub_sectors_(device.l1.line_bytes / 32),
      unit_(static_cast<unsigned>(std::countr_zero(device.l1.sector_bytes / stream::sector_bytes))),
      rng_(options.seed + sm),
      jitter_(options.jitter < 0 ? usual_jitter * device.dram.latency : options.jitter),
      hit_latency_(to_time(device.l1.latency)),
      l2_latency_(to_time(device.l2.latency)),
      port_sector_(to_time(stream::sector_bytes / device.interconnect.sm_bytes_per_cycle)) {}

void L1::begin_launch() {
  cache_.clear();
  history_.clear();
  history_.begin_launch();
  if (prefetcher_ != nullptr) prefetcher_->restart();
  fetches_.clear();
  counts_ = {};
  rng_ = Rng(options_.seed + sm_);
  std::ranges::fill(sets_, SetCounts{});
  misses_.restart();
  port_ = 0;
}

void L1::send_evictions(const memory::Evictions& evicted) {
  for (unsigned i = 0; i < evicted.count; ++i) {
    counts_.writebacks += count_sectors(evicted.items[i].sectors);
    if (l2_ != nullptr) l2_->write_back(evicted.items[i].line, evicted.items[i].sectors);
  }
}

void L1::place(std::uint64_t number, std::uint8_t sectors) {
  memory::Evictions evicted;
  cache_.fill(number / sub_lines_, wide(number, sectors), false, evicted);
  send_evictions(evicted);
}

// Data that has come by now.
void L1::complete(Time now) {
  while (misses_.arrives(now)) {
    const MissRegisters::Arrival done = misses_.pop();
    if (options_.allocate == Allocate::on_fill) place(done.number, done.sectors);
    if (misses_.free_if_complete(done.miss)) cache_.release(done.number);
  }
}

void L1::wait_for_one(Time& now) {
  now = std::max(now, misses_.next());
  complete(now);
}

// The sum of twelve uniform numbers is near enough to normal (Irwin-Hall), and the same on every machine.
Time L1::jitter() {
  if (jitter_ == 0) return 0;
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(rng_.next32()) * 0x1p-32;
  return to_time(std::abs(sum) * jitter_);
}

// When the answer of L2 is back; without L2, as if it always hit.
Time L1::ask_l2(std::uint64_t line, std::uint8_t sectors, const Accessor& who, Time now, const Tally& tally) {
  if (l2_ == nullptr) return now + l2_latency_;
  const L2::Answer answer = l2_->read(line, sectors, who, now);
  for (AccessCounts* counts : {tally.instruction, tally.buffer}) {
    if (counts == nullptr) continue;
    counts->l2_accesses += count_sectors(sectors);
    counts->l2_misses += count_sectors(answer.missed);
  }
  port_ = std::max(port_, now) + count_sectors(sectors) * port_sector_;
  return std::max(answer.ready, port_ + l2_latency_);
}

// Asks the next level; returns when its answer is back.
Time L1::fetch(std::uint64_t number, std::uint32_t line, std::uint8_t sectors, const Accessor& who, Time now,
               const Tally& tally) {
  Fetch& fetch = fetches_[line];
  counts_.bytes_fetched += std::uint64_t{count_sectors(sectors)} * stream::sector_bytes;
  for (unsigned s = 0; s < sub_sectors_; ++s) {
    if (!(sectors & (1u << s))) continue;
    counts_.bytes_used += count_bits(fetch.used[s]);
    fetch.used[s] = 0;
  }
  const Time answer = ask_l2(number / sub_lines_, wide(number, sectors), who, now, tally);
  if (options_.zero_latency) {
    place(number, sectors);
    return now;
  }
  if (options_.allocate == Allocate::on_miss) {
    place(number, sectors);
    cache_.reserve(number);
  }
  fetch.miss = misses_.take(line, fetch.miss);
  const Time ready = answer + jitter();
  misses_.expect(fetch.miss, number, sectors, ready);
  return ready;
}

Time L1::read_line(std::uint64_t number, std::uint8_t asked, const stream::Segment& segment, unsigned sub,
                   const Accessor& who, Time& now, const Tally& tally) {
  const std::uint32_t line = place_of(number);
  std::uint8_t missed = 0, pending = 0;
  for (bool stalled = false;; stalled = true) {
    const auto valid = static_cast<std::uint8_t>(cache_.read(number / sub_lines_, wide(number, asked)).hit >>
                                                 (sub * sub_sectors_));
    pending = miss_of(line).pending & asked;
    missed = static_cast<std::uint8_t>(asked & ~valid & ~pending);
    if (missed == 0 || options_.zero_latency) break;
    const bool no_register = miss_of(line).pending == 0 && misses_.full();
    const bool no_place =
        options_.allocate == Allocate::on_miss && valid == 0 && pending == 0 && !cache_.has_room(number);
    if (!no_register && !no_place) break;
    if (!stalled) ++counts_.stalled;
    wait_for_one(now);
  }
  ReadCounts counts;
  history_.read(line, asked, missed, pending, unit_, who, counts);
  counts_.read.add(counts);
  for (AccessCounts* more : {tally.instruction, tally.buffer})
    if (more != nullptr) more->l1.add(counts);
  SetCounts& set = sets_[cache_.set_of(number)];
  set.accesses += counts.accesses;
  set.misses += counts.misses;
  set.conflicts += counts.conflict;
  Time ready = now + hit_latency_;
  if (pending != 0) ready = std::max(ready, miss_of(line).until);
  if (missed != 0) ready = std::max(ready, fetch(number, line, missed, who, now, tally));
  for (unsigned s = 0; s < sub_sectors_; ++s) fetches_[line].used[s] |= segment.bytes[sub * sub_sectors_ + s];
  return ready;
}

Time L1::read(const stream::Segment& segment, const Accessor& who, Time& now, const Tally& tally) {
  complete(now);
  const std::uint8_t wanted = cache_.widen(segment.sectors);
  const auto part = static_cast<std::uint8_t>((1u << sub_sectors_) - 1);
  Time ready = now;
  for (unsigned sub = 0; sub < sub_lines_; ++sub) {
    const auto asked = static_cast<std::uint8_t>((wanted >> (sub * sub_sectors_)) & part);
    if (asked == 0) continue;
    const std::uint64_t number = segment.line * sub_lines_ + sub;
    const std::uint64_t misses = counts_.read.misses;
    ready = std::max(ready, read_line(number, asked, segment, sub, who, now, tally));
    if (prefetcher_ != nullptr) fetch_ahead(number, counts_.read.misses != misses, who, now);
  }
  return options_.zero_latency ? now : ready;
}

// What the prefetcher asks for comes if it is absent and there are a register and a place for it.
void L1::fetch_ahead(std::uint64_t number, bool missed, const Accessor& who, Time now) {
  const auto part = static_cast<std::uint8_t>((1u << sub_sectors_) - 1);
  Ahead ahead;
  prefetcher_->read(number, missed, who, ahead);
  for (const std::uint64_t next : ahead) {
    const std::uint8_t absent = cache_.probe(next / sub_lines_, wide(next, part)).miss;
    const std::uint32_t line = place_of(next);
    if (absent == 0 || miss_of(line).pending != 0) continue;
    if (!options_.zero_latency && (misses_.full() || !cache_.has_room(next))) continue;
    ++counts_.prefetches;
    fetch(next, line,
          static_cast<std::uint8_t>(absent >> (static_cast<unsigned>(next % sub_lines_) * sub_sectors_)), who,
          now, {});
  }
}

Time L1::read_past(const stream::Segment& segment, const Accessor& who, Time now, const Tally& tally) {
  const Time answer = ask_l2(segment.line, segment.sectors, who, now, tally);
  return options_.zero_latency ? now : answer;
}

// Whether L1 may hold something of a 128-byte line: all it ever took in has a history.
bool L1::met(std::uint64_t line) const {
  for (unsigned sub = 0; sub < sub_lines_; ++sub)
    if (history_.lines().find(line * sub_lines_ + sub) != LineTable::none) return true;
  return false;
}

// What a store has begun in a line that has its place comes from L2; nobody waits for it.
void L1::fetch_rest(const stream::Segment& segment, const Accessor& who, Time now, const Tally& tally) {
  std::uint8_t absent = cache_.probe(segment.line, cache_.widen(segment.sectors)).miss;
  for (unsigned sub = 0; absent != 0 && sub < sub_lines_; ++sub) {
    const std::uint64_t number = segment.line * sub_lines_ + sub;
    const std::uint8_t under_way = miss_of(place_of(number)).pending;
    absent = static_cast<std::uint8_t>(absent & ~wide(number, under_way));
  }
  if (absent == 0) return;
  counts_.bytes_fetched_by_writes += std::uint64_t{count_sectors(absent)} * stream::sector_bytes;
  ask_l2(segment.line, absent, who, now, tally);
  memory::Evictions none;  // the store has its line already
  cache_.fill(segment.line, absent, false, none);
}

// What is dropped or fetched goes by whole sectors of the cache, what is stored by those that have bytes.
void L1::remember_store(const stream::Segment& segment, History::Store effect) {
  const bool fetched = options_.fetch_on_write && effect == History::Store::allocate;
  const std::uint8_t sectors =
      effect == History::Store::drop || fetched ? cache_.widen(segment.sectors) : segment.sectors;
  for (unsigned sub = 0; sub < sub_lines_; ++sub) {
    const auto part =
        static_cast<std::uint8_t>((sectors >> (sub * sub_sectors_)) & ((1u << sub_sectors_) - 1));
    if (part == 0) continue;
    SectorBytes bytes{};
    for (unsigned s = 0; s < sub_sectors_; ++s)
      bytes[s] = fetched ? ~std::uint32_t{0} : segment.bytes[sub * sub_sectors_ + s];
    history_.write(segment.line * sub_lines_ + sub, part, bytes, effect);
  }
}

void L1::write(const stream::Segment& segment, bool local, const Accessor& who, Time now,
               const Tally& tally) {
  if (!local && !device_.l1.write_allocate && !met(segment.line)) {
    const unsigned touched = count_sectors(cache_.widen(segment.sectors)) >> unit_;
    counts_.write.accesses += touched;
    counts_.write.misses += touched;
    if (l2_ != nullptr) l2_->write(segment);
    return;
  }
  memory::Evictions evicted;
  // Where every line of a set waits for its data, a store finds no place and goes by.
  bool room = true;
  for (unsigned sub = 0; sub < sub_lines_ && (local || device_.l1.write_allocate); ++sub)
    room = room && cache_.has_room(segment.line * sub_lines_ + sub);
  memory::L1Store stored;
  if (local && !room) {
    counts_.writebacks += count_sectors(segment.sectors);
    if (l2_ != nullptr) l2_->write(segment);
  } else {
    stored = memory::store_in_l1(cache_, device_, segment, local, room, evicted);
  }
  const std::uint8_t wanted = cache_.widen(segment.sectors);
  const unsigned touched = count_sectors(wanted) >> unit_;
  const unsigned found = std::min(touched, count_sectors(cache_.widen(stored.present)) >> unit_);
  counts_.write.accesses += touched;
  counts_.write.hits += found;
  counts_.write.misses += touched - found;
  remember_store(segment, stored.effect);
  send_evictions(evicted);
  if (options_.fetch_on_write && stored.effect == History::Store::allocate)
    fetch_rest(segment, who, now, tally);
  if (!local && l2_ != nullptr) l2_->write(segment);
}

void L1::atomic(const stream::Segment& segment, const Accessor& who, Time now) {
  cache_.invalidate(segment.line, cache_.widen(segment.sectors));
  remember_store(segment, History::Store::drop);
  if (l2_ != nullptr) l2_->atomic(segment, who, now);
}

void L1::finish() {
  for (Fetch& fetch : fetches_)
    for (std::uint32_t& used : fetch.used) {
      counts_.bytes_used += count_bits(used);
      used = 0;
    }
}

}  // namespace simtlab::cache
