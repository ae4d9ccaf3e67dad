#include "cache/history.h"

#include <cmath>

#include "stream/coalescer.h"

namespace simtlab::cache {
namespace {

memory::CacheConfig fully_associative(memory::CacheConfig config) {
  config.ways = static_cast<std::uint32_t>(config.bytes / config.line_bytes);
  config.replacement = device::Replacement::lru;
  config.set_index = device::SetIndex::modulo;
  return config;
}

// A unit of what is counted is a sector of the cache, 1 << unit sectors of 32 bytes. A bit for each unit that
// has one of the sectors, and for each of which all are there.
unsigned any_of(unsigned sectors, unsigned unit) {
  if (unit == 0) return sectors;
  return unit == 1 ? (sectors | sectors >> 1) & 5u : sectors != 0 ? 1u : 0u;
}
unsigned all_of(unsigned sectors, unsigned unit) {
  if (unit == 0) return sectors;
  return unit == 1 ? sectors & sectors >> 1 & 5u : sectors == 15u ? 1u : 0u;
}

}  // namespace

History::History(const memory::CacheConfig& cache, double sample)
    : capacity_(cache.bytes / cache.line_bytes),
      sample_(sample),
      sampled_(sample < 1),
      sub_lines_(128 / cache.line_bytes),
      sub_sectors_(cache.line_bytes / 32) {
  if (!sampled_) return;
  threshold_ = static_cast<std::uint64_t>(std::ldexp(sample, 63)) * 2;
  beside_ = std::make_unique<memory::Cache>(fully_associative(cache));
  group_histograms_.resize(groups);
}

void History::clear() {
  lines_.clear();
  partial_.clear();
  stack_.clear();
  if (beside_ != nullptr) beside_->clear();
}

void History::begin_launch() {
  histogram_ = {};
  for (ReuseHistogram& group : group_histograms_) group = {};
}

std::uint64_t History::bytes() const {
  std::uint64_t sum = lines_.bytes() + partial_.bytes() + stack_.bytes() + histogram_.bytes();
  for (const ReuseHistogram& group : group_histograms_) sum += group.bytes();
  return sum;
}

// With sampling: the distance of a line, if it is one of those.
void History::follow(std::uint32_t line, bool count_distance) {
  const std::uint64_t key = lines_[line].key;
  if (!follows(key)) return;
  const std::uint64_t distance = stack_.touch(line);
  const std::uint64_t scaled =
      distance == never_before
          ? never_before
          : static_cast<std::uint64_t>(std::llround(static_cast<double>(distance) / sample_));
  if (!count_distance) return;
  histogram_.add(scaled, 1);
  group_histograms_[hash(~key) % groups].add(scaled, 1);
}

// Without sampling: the line becomes the newest of the fully associative cache; if it was no longer there,
// nothing of it is.
void History::touch(std::uint32_t line, bool count_distance) {
  const std::uint64_t distance = stack_.touch(line);
  if (count_distance) histogram_.add(distance, 1);
  if (distance < capacity_) return;
  lines_[line].in_lru = 0;
  if (PartialSectors::Bytes* const begun = partial_.find(line)) begun->lru = {};
}

// A read: the sectors that a fully associative LRU cache holds; afterwards it holds all of them.
std::uint8_t History::held(std::uint32_t line, std::uint8_t wanted) {
  if (!sampled_) {
    touch(line, true);
    LineRecord& record = lines_[line];
    const std::uint8_t before = record.in_lru;
    record.in_lru = static_cast<std::uint8_t>(before | wanted);
    return before & wanted;
  }
  follow(line, true);
  const std::uint64_t key = lines_[line].key, wide = key / sub_lines_;
  const memory::Cache::Probe probe = beside_->read(wide, static_cast<std::uint8_t>(wanted << shift_of(key)));
  memory::Evictions ignored;
  beside_->fill(wide, probe.miss, false, ignored);
  return static_cast<std::uint8_t>(probe.hit >> shift_of(key));
}

void History::read(std::uint32_t line, std::uint8_t wanted, std::uint8_t missed, std::uint8_t pending,
                   unsigned unit, const Accessor& who, ReadCounts& counts) {
  using stream::count_sectors;
  const std::uint8_t held_before = held(line, wanted);
  LineRecord& record = lines_[line];
  const auto add = [](std::uint64_t& counter, unsigned units) {
    counter += count_sectors(static_cast<std::uint8_t>(units));
  };
  const unsigned all = any_of(wanted, unit), misses = any_of(missed, unit),
                 on_the_way = any_of(pending, unit) & ~misses;
  const unsigned found = all & ~misses & ~on_the_way, in_lru = all_of(held_before, unit);
  add(counts.accesses, all);
  add(counts.pending, on_the_way);
  add(counts.hits, found);
  if (misses != 0) {
    const PartialSectors::Bytes* const begun = partial_.find(line);
    const unsigned there =
        begun == nullptr ? record.whole : record.whole | unsigned{begun_sectors(begun->ever)};
    const unsigned again = misses & all_of(record.whole, unit), first = misses & ~again;
    const unsigned partial = first & any_of(there, unit),
                   gone = first & ~partial & any_of(record.dropped, unit);
    add(counts.misses, misses);
    add(counts.partial, partial);
    add(counts.invalidated, gone);
    add(counts.cold, first & ~partial & ~gone);
    add(counts.conflict, again & in_lru);
    add(counts.capacity, again & ~in_lru);
  }
  add(counts.lucky, found & ~in_lru);
  if (record.seen != 0 && (found | on_the_way) != 0)
    add(record.last_warp == who.warp     ? counts.same_warp
        : record.last_block == who.block ? counts.same_block
                                         : counts.other_block,
        found | on_the_way);
  record.seen = static_cast<std::uint8_t>(record.seen | wanted);
  record.whole = static_cast<std::uint8_t>(record.whole | wanted);
  record.dropped = static_cast<std::uint8_t>(record.dropped & ~wanted);
  record.last_warp = who.warp;
  record.last_block = who.block;
}

// What a store leaves in the fully associative cache.
void History::store_beside(std::uint32_t line, std::uint8_t sectors, const SectorBytes& bytes,
                           bool allocate) {
  if (sampled_) {
    if (allocate) follow(line, false);
    const std::uint64_t key = lines_[line].key;
    const unsigned shift = shift_of(key);
    SectorBytes wide{};
    for (unsigned s = 0; s < sub_sectors_; ++s) wide[shift + s] = bytes[s];
    memory::Evictions ignored;
    beside_->write(key / sub_lines_, wide, static_cast<std::uint8_t>(sectors << shift), allocate, false,
                   ignored);
    return;
  }
  if (!allocate && stack_.distance(line) >= capacity_) return;
  touch(line, false);
  std::uint8_t& held = lines_[line].in_lru;
  held = static_cast<std::uint8_t>(held | whole_in(bytes, sectors));
  if (const auto rest = static_cast<std::uint8_t>(sectors & ~held); rest != 0)
    held = static_cast<std::uint8_t>(held | completed_by(bytes, rest, partial_.at(line).lru));
}

void History::drop(std::uint32_t line, std::uint8_t sectors) {
  LineRecord& record = lines_[line];
  record.dropped = static_cast<std::uint8_t>(record.dropped | (record.seen & sectors));
  record.whole = static_cast<std::uint8_t>(record.whole & ~sectors);
  record.in_lru = static_cast<std::uint8_t>(record.in_lru & ~sectors);
  if (PartialSectors::Bytes* const begun = partial_.find(line))
    for (unsigned s = 0; s < begun->ever.size(); ++s)
      if ((sectors >> s & 1) != 0) begun->ever[s] = begun->lru[s] = 0;
  if (beside_ != nullptr)
    beside_->invalidate(record.key / sub_lines_, static_cast<std::uint8_t>(sectors << shift_of(record.key)));
}

void History::write(std::uint64_t number, std::uint8_t sectors, const SectorBytes& bytes, Store what) {
  const bool allocate = what == Store::allocate;
  const std::uint32_t line = allocate ? lines_.at(number) : lines_.find(number);
  if (line == LineTable::none) return;
  if (what == Store::drop) return drop(line, sectors);
  store_beside(line, sectors, bytes, allocate);
  LineRecord& record = lines_[line];
  if (!allocate && record.seen == 0) return;  // not even a cache without limits has the line
  record.whole = static_cast<std::uint8_t>(record.whole | whole_in(bytes, sectors));
  if (const auto rest = static_cast<std::uint8_t>(sectors & ~record.whole); rest != 0)
    record.whole =
        static_cast<std::uint8_t>(record.whole | completed_by(bytes, rest, partial_.at(line).ever));
  record.seen = static_cast<std::uint8_t>(record.seen | sectors);
}

}  // namespace simtlab::cache
