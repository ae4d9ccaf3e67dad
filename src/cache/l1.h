// L1 of one SM: the same cache as the timing model's, with outstanding misses in a time of the study's own.
#pragma once

#include <array>
#include <vector>

#include "base/rng.h"
#include "cache/history.h"
#include "cache/l2.h"
#include "cache/miss_registers.h"
#include "cache/options.h"
#include "cache/prefetcher.h"
#include "cache/time.h"
#include "memory/cache.h"
#include "stream/coalescer.h"

namespace simtlab::cache {

// Counters that an access adds to besides the cache's.
struct Tally {
  AccessCounts* instruction = nullptr;
  AccessCounts* buffer = nullptr;
};

class L1 {
 public:
  // l2: null: every miss is answered as L2 would.
  L1(const device::Device& device, std::uint32_t ways, const Options& options, std::uint32_t sm, L2* l2);

  // Reads one line's part of a request at `now`. Returns when its data is there; `now` moves on while it
  // waits for a register or a place.
  Time read(const stream::Segment& segment, const Accessor& who, Time& now, const Tally& tally);
  // The same past L1, for loads that do not look into it.
  Time read_past(const stream::Segment& segment, const Accessor& who, Time now, const Tally& tally);
  void write(const stream::Segment& segment, bool local, const Accessor& who, Time now, const Tally& tally);
  void atomic(const stream::Segment& segment, const Accessor& who, Time now);
  // These lines are read or written next: what is known of them comes from memory together. Always inline for
  // the reason in lines.h.
  [[gnu::always_inline]] void expect_reads(const stream::Segments& segments) const {
    for (unsigned i = 0; i < segments.count; ++i) {
      history_.lines().prefetch_index(segments.items[i].line * sub_lines_);
      if (l2_ != nullptr) l2_->history().lines().prefetch_index(segments.items[i].line);
    }
  }
  [[gnu::always_inline]] void expect_reads(std::uint64_t first_line, std::uint64_t last_line) const {
    history_.lines().prefetch_index(first_line * sub_lines_);
    history_.lines().prefetch_index(last_line * sub_lines_);
    if (l2_ == nullptr) return;
    l2_->history().lines().prefetch_index(first_line);
    l2_->history().lines().prefetch_index(last_line);
  }
  [[gnu::always_inline]] void expect_writes(const stream::Segments& segments) {
    for (unsigned i = 0; i < segments.count; ++i)
      history_.lines().prefetch_filter(segments.items[i].line * sub_lines_);
    if (l2_ != nullptr) l2_->expect_writes(segments);
  }
  void finish();  // closes the account of bytes used

  const CacheCounts& counts() const { return counts_; }
  const History& history() const { return history_; }
  // Of the host
  std::uint64_t bytes() const { return history_.bytes() + fetches_.capacity() * sizeof(Fetch); }
  const std::vector<SetCounts>& sets() const { return sets_; }
  std::uint32_t ways() const { return cache_.ways(); }
  Time far_latency() const { return l2_latency_; }  // of atomics
  void begin_launch();                              // empties it, as the hardware does

 private:
  // Of a line that L1 was asked for.
  struct Fetch {
    std::array<std::uint32_t, 4> used{};  // bytes read since its last fetch
    std::uint32_t miss = 0;               // the register that it had last
  };
  const MissRegisters::Miss& miss_of(std::uint32_t line) const {
    return misses_.of(line, fetches_[line].miss);
  }
  // Its place in history and fetches.
  std::uint32_t place_of(std::uint64_t number) {
    const std::uint32_t line = history_.lines().at(number);
    if (line >= fetches_.size()) fetches_.resize(history_.lines().size());
    return line;
  }
  Time read_line(std::uint64_t number, std::uint8_t asked, const stream::Segment& segment, unsigned sub,
                 const Accessor& who, Time& now, const Tally& tally);
  void fetch_ahead(std::uint64_t number, bool missed, const Accessor& who, Time now);
  bool met(std::uint64_t line) const;
  void fetch_rest(const stream::Segment& segment, const Accessor& who, Time now, const Tally& tally);
  void remember_store(const stream::Segment& segment, History::Store effect);
  void complete(Time now);
  void wait_for_one(Time& now);
  Time fetch(std::uint64_t number, std::uint32_t line, std::uint8_t sectors, const Accessor& who, Time now,
             const Tally& tally);
  void send_evictions(const memory::Evictions& evicted);
  void place(std::uint64_t number, std::uint8_t sectors);
  Time jitter();
  Time ask_l2(std::uint64_t line, std::uint8_t sectors, const Accessor& who, Time now, const Tally& tally);
  std::uint8_t wide(std::uint64_t number, std::uint8_t sectors) const {
    return static_cast<std::uint8_t>(sectors << (static_cast<unsigned>(number % sub_lines_) * sub_sectors_));
  }

  const device::Device& device_;
  const Options& options_;
  std::uint32_t sm_;
  L2* l2_;
  memory::Cache cache_;
  History history_;
  std::unique_ptr<Prefetcher> prefetcher_;  // null: none
  std::vector<Fetch> fetches_;              // beside the records of the history
  CacheCounts counts_;
  std::vector<SetCounts> sets_;
  MissRegisters misses_;
  unsigned sub_lines_, sub_sectors_, unit_;
  Rng rng_;
  double jitter_;  // SM cycles
  Time hit_latency_, l2_latency_;
  Time port_ = 0, port_sector_;  // from the network: when it is free, and what a sector takes of it
};

}  // namespace simtlab::cache
