// Cache array: tags, sectors, replacement, dirty and partially written bytes. No time and no outstanding
// misses (memory/mshr.h): a line is allocated when its data arrives or when it is written.
//
// Addressed by 128-byte lines with a mask of 32-byte sectors whatever the geometry: a cache with shorter
// lines splits the access, one with larger sectors widens what it fetches. Writes keep byte masks, so a
// sector that was only partly written is fetched when it is read (lazy fetch on read) and not before. A set
// of up to 16 ways is searched, and the order of its lines is one word; with more ways a hash index finds
// lines and lists keep their order: look-up, LRU and FIFO are O(1) for any associativity.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "memory/replacement.h"
#include "memory/set_index.h"
#include "stream/trace/bytes.h"

namespace simtlab::memory {

struct CacheConfig {
  std::uint64_t bytes = 0;
  std::uint32_t line_bytes = 128, sector_bytes = 32, ways = 4;  // both 32, 64 or 128; sector <= line
  device::Replacement replacement = device::Replacement::lru;
  device::SetIndex set_index = device::SetIndex::modulo;
  std::string set_bits = "none";
  std::uint64_t seed = 0;  // random replacement
  // Lines of a set that may be modified at once; beyond it the least recently used of them is reported as if
  // it left, and stays. 0: all
  std::uint32_t dirty_ways = 0;
};

// A cache of the device; bytes: its capacity, which is not params.bytes where L1 shares its memory or L2 has
// slices.
CacheConfig cache_config(const device::CacheParams& params, std::uint64_t bytes, std::uint64_t seed);
CacheConfig l2_slice_config(const device::Device& device, std::uint32_t slice);

// Dirty sectors that had to leave: of each part of a line at most one whose place was taken and one that was
// cleaned.
struct Evictions {
  struct Item {
    std::uint64_t line;
    std::uint8_t sectors;
    std::uint8_t incomplete;  // those of them that were written in part and never fetched
  };
  std::array<Item, 8> items;
  unsigned count = 0;
};

class Cache {
 public:
  explicit Cache(const CacheConfig& config);

  struct Probe {
    std::uint8_t hit = 0, miss = 0;  // sectors, as asked
  };
  // Splits the sectors into present and absent; a hit counts as use.
  Probe read(std::uint64_t line, std::uint8_t sectors);
  // As look(), without counting as use.
  Probe probe(std::uint64_t line, std::uint8_t sectors) const;
  // The sectors of a line that are fetched when these are asked for.
  std::uint8_t widen(std::uint8_t sectors) const { return widened_[sectors & 15u]; }

  // Data arrived. mark_dirty: the sectors are modified at once (atomics).
  void fill(std::uint64_t line, std::uint8_t sectors, bool mark_dirty, Evictions& evicted);

  // Sectors written. allocate: an absent line gets a place. mark_dirty: write-back; else the copy below is
  // written too. Returns the sectors that had a line before.
  std::uint8_t write(std::uint64_t line, const std::array<std::uint32_t, 4>& bytes, std::uint8_t sectors,
                     bool allocate, bool mark_dirty, Evictions& evicted);

  void invalidate(std::uint64_t line, std::uint8_t sectors);  // drops without writing back

  // Lines that are allocated before their data comes keep their place until it has: number as of set_of(). A
  // set whose lines all do has no room. Not part of save().
  void reserve(std::uint64_t number);
  void release(std::uint64_t number);
  bool has_room(std::uint64_t number) const;
  void clear();
  // Keeps the geometry but for the number of ways (shared-memory carve-out) and drops the contents.
  void resize_ways(std::uint32_t ways);

  // The cache's contents, for checkpoints. restore() takes the bytes that save() wrote of a cache of equal
  // configuration and throws stream::trace::Malformed for all other bytes.
  void save(stream::trace::Buffer& out) const;
  void restore(stream::trace::Bytes& in);

  // The set of a line of this cache; number: address / line_bytes.
  std::uint32_t set_of(std::uint64_t number) const { return set_index_->set_of(number); }
  std::uint32_t sets() const { return sets_; }
  std::uint64_t line_count() const { return state_.size(); }
  // The line is looked up soon: its set comes from memory. Always inline: g++ takes a function that only
  // prefetches for one without effect.
  [[gnu::always_inline]] void prefetch(std::uint64_t line) const {
    if (!narrow_) return;
    const std::uint32_t number = set_of(line * sub_lines_);
    const Slot first = number * config_.ways;
    __builtin_prefetch(&set_state_[number], 1);
    __builtin_prefetch(&keys_[first / 8], 1);
    if (config_.ways > 8) __builtin_prefetch(&keys_[first / 8 + 1], 1);
    __builtin_prefetch(&state_[first], 1);
  }
  std::uint32_t ways() const { return config_.ways; }
  const CacheConfig& config() const { return config_; }

 private:
  using Slot = std::uint32_t;
  static constexpr Slot none = ~Slot{0};
  struct Set {
    std::uint64_t order = 0;            // narrow_: its ways, four bits each, the newest in the lowest
    Slot newest = none, oldest = none;  // else
    Slot used = 0, reserved = 0;
  };
  struct Line {
    std::uint8_t valid = 0, dirty = 0;  // 32-byte sectors wholly present; modified
    bool partial = false;               // partial_ of the line is not all 0
    bool reserved = false;
  };
  struct Link {
    Slot newer = none, older = none;
  };
  struct alignas(64) Keys {
    std::array<std::uint64_t, 8> of{};
  };  // line numbers + 1; 0 = empty

  std::size_t index_start(std::uint64_t key) const;
  std::uint64_t& key_of(Slot slot) { return keys_[slot / 8].of[slot % 8]; }
  const std::uint64_t& key_of(Slot slot) const { return keys_[slot / 8].of[slot % 8]; }
  Slot find(std::uint64_t key, std::uint32_t number) const;
  Slot find_indexed(std::uint64_t key) const;
  // For find(): the index needs none
  std::uint32_t set_to_search(std::uint64_t key) const { return narrow_ ? set_of(key) : 0; }
  void index_insert(std::uint64_t key, Slot slot);
  void index_erase(std::uint64_t key);
  void unlink(Set& set, Slot slot);
  void push_newest(Set& set, Slot slot);
  void add_newest(std::uint32_t number, Slot slot);
  void make_newest(std::uint32_t number, Slot slot);
  bool is_newest(std::uint32_t number, Slot slot) const;
  Slot oldest_of(std::uint32_t number) const;
  Slot newer_than(std::uint32_t number, Slot slot) const;
  void use(std::uint64_t key, Slot slot);
  Slot allocate(std::uint64_t key, Evictions& evicted);
  void report(Slot slot, Evictions& evicted) const;
  void make_dirty(std::uint64_t key, Slot slot, std::uint8_t sectors, Evictions& evicted);
  Slot victim(std::uint32_t set_number);
  std::uint8_t part(std::uint8_t sectors, unsigned sub) const {
    return static_cast<std::uint8_t>((sectors >> (sub * subsectors_)) & part_mask_);
  }
  std::uint64_t first_random() const { return config_.seed * 2 + 0x9e3779b97f4a7c15ull; }
  std::uint32_t& partial(Slot slot, unsigned sector);
  void build();

  CacheConfig config_;
  std::uint32_t sets_ = 1;
  unsigned sub_lines_ = 1;   // lines of this cache in 128 bytes
  unsigned subsectors_ = 4;  // 32-byte sectors in a line of this cache
  std::uint8_t part_mask_ = 0xf;
  std::array<std::uint8_t, 16> widened_{};  // by sectors that are asked for
  std::unique_ptr<SetIndex> set_index_;
  std::unique_ptr<Replacement> replacement_;  // null: by the order of the lines
  bool narrow_ = true;                        // up to 16 ways
  std::vector<Keys> keys_;
  std::vector<Line> state_;
  std::vector<std::uint32_t> partial_;  // written bytes of sectors not wholly present; empty before any
  std::vector<Set> set_state_;
  // Unless narrow_.
  std::vector<Link> links_;
  std::vector<Slot> index_;  // open addressing, power of two, slot + 1
  std::size_t index_mask_ = 0;
  std::uint64_t random_ = 0;
  void restore_set(std::uint32_t number, stream::trace::Bytes& in);
  void restore_line(Slot slot, std::uint32_t set_number, stream::trace::Bytes& in);

  bool touched_ = false;  // holds anything since clear()
};

}  // namespace simtlab::memory
