// All lines that a cache has ever been asked for, each with what its history says.
//
// Open addressing over records that never move: an index of a record stays good. Memory grows with the
// footprint of a kernel, not with the number of its accesses.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace simtlab::cache {

struct LineRecord {
  std::uint64_t key = 0;        // number of the line
  std::uint32_t time = 0;       // of the last access in the reuse stack; 0: not in it
  std::uint32_t last_warp = 0;  // of the launch; who touched it last
  std::uint32_t last_block = 0;
  std::uint8_t seen = 0;     // sectors ever asked for or stored to
  std::uint8_t whole = 0;    // sectors that a cache without limits holds, all their bytes
  std::uint8_t in_lru = 0;   // sectors that a fully associative cache of equal size holds, all their bytes
  std::uint8_t dropped = 0;  // sectors that a store invalidated
};

class LineTable {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  LineTable() { clear(); }

  // The record of a line; a new one (seen == 0) if there is none.
  std::uint32_t at(std::uint64_t key) {
    const std::uint64_t mixed = mix(key);
    for (std::size_t i = mixed & mask_;; i = (i + 1) & mask_) {
      const Entry entry = index_[i];
      if (entry.record == 0) return add(key, mixed, i);
      if (entry.tag == tag(mixed) && records_[entry.record - 1].key == key) return entry.record - 1;
    }
  }
  // For many lines in turn: what at() of each will read is on its way then; first the index of all, then the
  // records of all. Always inline: g++ takes a function that only prefetches for one without effect, and
  // drops calls of it.
  [[gnu::always_inline]] void prefetch_index(std::uint64_t key) const {
    __builtin_prefetch(&index_[mix(key) & mask_]);
  }
  [[gnu::always_inline]] void prefetch_filter(std::uint64_t key) const {
    if (key - lowest_ <= span_) __builtin_prefetch(&filter_[filter_word(mix(key))]);
  }
  [[gnu::always_inline]] void prefetch_record(std::uint64_t key) const {
    const std::uint64_t mixed = mix(key);
    const Entry entry = index_[mixed & mask_];
    if (entry.tag == tag(mixed) && entry.record != 0) __builtin_prefetch(&records_[entry.record - 1], 1);
  }
  std::uint32_t find(std::uint64_t key) const {
    if (key - lowest_ > span_) return none;
    if (filtered_ != records_.size()) filter_records();
    const std::uint64_t mixed = mix(key);
    if ((filter_[filter_word(mixed)] & filter_bit(mixed)) == 0) return none;
    for (std::size_t i = mixed & mask_;; i = (i + 1) & mask_) {
      const Entry entry = index_[i];
      if (entry.record == 0) return none;
      if (entry.tag == tag(mixed) && records_[entry.record - 1].key == key) return entry.record - 1;
    }
  }
  LineRecord& operator[](std::uint32_t i) { return records_[i]; }
  const LineRecord& operator[](std::uint32_t i) const { return records_[i]; }
  std::size_t size() const { return records_.size(); }
  std::uint64_t bytes() const {
    return records_.capacity() * sizeof(LineRecord) + index_.capacity() * sizeof(Entry) +
           filter_words * sizeof(std::uint64_t);
  }
  void clear() {
    records_.clear();
    index_.assign(first_slots, Entry{});
    filter_.assign(filter_words, 0);
    filtered_ = 0;
    mask_ = first_slots - 1;
    lowest_ = ~std::uint64_t{0};
    span_ = 0;
  }

 private:
  // The tag keeps look-ups of what is not there away from the records.
  struct Entry {
    std::uint32_t record = 0;  // plus 1; 0: free
    std::uint32_t tag = 0;
  };
  static constexpr std::size_t first_slots = 1024, filter_words = 2048;
  static std::size_t filter_word(std::uint64_t mixed) { return (mixed >> 6) % filter_words; }
  static std::uint64_t filter_bit(std::uint64_t mixed) { return std::uint64_t{1} << (mixed % 64); }
  static std::uint64_t mix(std::uint64_t key) {
    key *= 0x9e3779b97f4a7c15ull;
    return key ^ key >> 29;
  }
  static std::uint32_t tag(std::uint64_t mixed) { return static_cast<std::uint32_t>(mixed >> 32); }
  std::uint32_t add(std::uint64_t key, std::uint64_t mixed, std::size_t slot) {
    if ((records_.size() + 1) * 2 > index_.size()) {
      grow();
      for (slot = mixed & mask_; index_[slot].record != 0;) slot = (slot + 1) & mask_;
    }
    const std::uint64_t highest = records_.empty() ? key : std::max(lowest_ + span_, key);
    lowest_ = std::min(lowest_, key);
    span_ = highest - lowest_;
    records_.push_back({.key = key});
    index_[slot] = {static_cast<std::uint32_t>(records_.size()), tag(mixed)};
    return static_cast<std::uint32_t>(records_.size() - 1);
  }
  void filter_records() const {
    for (; filtered_ < records_.size(); ++filtered_) {
      const std::uint64_t mixed = mix(records_[filtered_].key);
      filter_[filter_word(mixed)] |= filter_bit(mixed);
    }
  }
  void grow() {
    index_.assign(index_.size() * 2, Entry{});
    mask_ = index_.size() - 1;
    for (std::uint32_t r = 0; r < records_.size(); ++r) {
      const std::uint64_t mixed = mix(records_[r].key);
      std::size_t i = mixed & mask_;
      while (index_[i].record != 0) i = (i + 1) & mask_;
      index_[i] = {r + 1, tag(mixed)};
    }
  }

  std::vector<LineRecord> records_;
  std::vector<Entry> index_;
  // Stores ask for many lines that nobody ever read: most of them end here, in 16 KiB, not in the table. Made
  // when it is first asked, of so many records.
  mutable std::vector<std::uint64_t> filter_;
  mutable std::size_t filtered_ = 0;
  std::size_t mask_ = 0;
  // Between which numbers all lines lie: what a kernel only writes is often a buffer of its own.
  std::uint64_t lowest_ = 0, span_ = 0;
};

}  // namespace simtlab::cache
