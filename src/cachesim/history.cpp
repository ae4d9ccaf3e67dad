#include "cachesim/history.h"

#include <cmath>

#include "stream/coalescer.h"

namespace simtlab::cachesim {
namespace {

memory::CacheConfig fully_associative(memory::CacheConfig config) {
  config.ways = static_cast<std::uint32_t>(config.bytes / config.line_bytes);
  config.replacement = device::Replacement::lru;
  config.set_index = device::SetIndex::modulo;
  return config;
}

}  // namespace

History::History(const memory::CacheConfig& cache, double sample)
    : capacity_(cache.bytes / cache.line_bytes), sample_(sample), sampled_(sample < 1), sub_lines_(128 / cache.line_bytes), sub_sectors_(cache.line_bytes / 32) {
  if (!sampled_) return;
  threshold_ = static_cast<std::uint64_t>(std::ldexp(sample, 63)) * 2;
  beside_ = std::make_unique<memory::Cache>(fully_associative(cache));
  group_histograms_.resize(groups);
}

void History::clear() {
  lines_.clear();
  stack_.clear();
  if (beside_ != nullptr) beside_->clear();
}

void History::begin_launch() {
  histogram_ = {};
  for (ReuseHistogram& group : group_histograms_) group = {};
}

std::uint64_t History::bytes() const {
  std::uint64_t sum = lines_.bytes() + stack_.bytes() + histogram_.bytes();
  for (const ReuseHistogram& group : group_histograms_) sum += group.bytes();
  return sum;
}

// The sectors that a fully associative LRU cache holds; the line becomes its newest.
std::uint8_t History::held(std::uint32_t line, std::uint8_t wanted, bool count_distance) {
  LineRecord& record = lines_[line];
  if (!sampled_) {
    const std::uint64_t distance = stack_.touch(line);
    if (count_distance) histogram_.add(distance, 1);
    if (distance >= capacity_) record.in_lru = 0;
    const std::uint8_t before = record.in_lru;
    record.in_lru = static_cast<std::uint8_t>(before | wanted);
    return before & wanted;
  }
  if (follows(record.key)) {
    const std::uint64_t distance = stack_.touch(line);
    const std::uint64_t scaled =
        distance == never_before ? never_before : static_cast<std::uint64_t>(std::llround(static_cast<double>(distance) / sample_));
    if (count_distance) {
      histogram_.add(scaled, 1);
      group_histograms_[hash(~record.key) % groups].add(scaled, 1);
    }
  }
  const std::uint64_t wide = record.key / sub_lines_;
  const auto shift = static_cast<unsigned>(record.key % sub_lines_) * sub_sectors_;
  const memory::Cache::Probe probe = beside_->read(wide, static_cast<std::uint8_t>(wanted << shift));
  memory::Evictions ignored;
  beside_->fill(wide, probe.miss, false, ignored);
  return static_cast<std::uint8_t>(probe.hit >> shift);
}

void History::read(std::uint32_t line, std::uint8_t wanted, std::uint8_t missed, std::uint8_t pending, unsigned unit, const Accessor& who,
                   ReadCounts& counts) {
  using stream::count_sectors;
  LineRecord& record = lines_[line];
  const std::uint8_t seen = record.seen;
  const std::uint8_t held_before = held(line, wanted, true);
  const auto add = [unit](std::uint64_t& counter, unsigned sectors) {
    const std::uint64_t n = count_sectors(static_cast<std::uint8_t>(sectors)) >> unit;
    counter += n;
    return n;
  };
  add(counts.accesses, wanted);
  add(counts.pending, pending);
  const unsigned found = wanted & ~unsigned{missed} & ~unsigned{pending};
  add(counts.hits, found);
  if (missed != 0) {
    add(counts.misses, missed);
    add(counts.cold, missed & ~unsigned{seen});
    const unsigned again = missed & seen;
    add(counts.invalidated, again & record.dropped);
    const unsigned rest = again & ~unsigned{record.dropped};
    add(counts.conflict, rest & held_before);
    add(counts.capacity, rest & ~unsigned{held_before});
  }
  add(counts.lucky, found & ~unsigned{held_before});
  if (seen != 0 && (found | pending) != 0)
    add(record.last_warp == who.warp ? counts.same_warp : record.last_block == who.block ? counts.same_block : counts.other_block, found | pending);
  record.seen = static_cast<std::uint8_t>(seen | wanted);
  record.dropped = static_cast<std::uint8_t>(record.dropped & ~wanted);
  record.last_warp = who.warp;
  record.last_block = who.block;
}

void History::write(std::uint64_t number, std::uint8_t sectors, Store what) {
  if (what == Store::allocate) {
    const std::uint32_t line = lines_.at(number);
    held(line, sectors, false);
    lines_[line].seen = static_cast<std::uint8_t>(lines_[line].seen | sectors);
    return;
  }
  const std::uint32_t line = lines_.find(number);
  if (line == LineTable::none) return;
  LineRecord& record = lines_[line];
  if (what == Store::drop) {
    record.dropped = static_cast<std::uint8_t>(record.dropped | (record.seen & sectors));
    record.in_lru = static_cast<std::uint8_t>(record.in_lru & ~sectors);
    if (beside_ != nullptr)
      beside_->invalidate(number / sub_lines_, static_cast<std::uint8_t>(sectors << (static_cast<unsigned>(number % sub_lines_) * sub_sectors_)));
    return;
  }
  if (sampled_) {
    beside_->read(number / sub_lines_, static_cast<std::uint8_t>(sectors << (static_cast<unsigned>(number % sub_lines_) * sub_sectors_)));
  } else if (record.in_lru != 0 && stack_.distance(line) < capacity_) {
    held(line, 0, false);
  }
}

}  // namespace simtlab::cachesim
