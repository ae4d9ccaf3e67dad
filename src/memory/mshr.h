// Miss status holding registers: outstanding lines, the sectors under way and the accesses that wait for
// them.
//
// One entry a line; a waiter is an opaque number with the sectors it needs. Later misses of a line merge:
// sectors that are already under way are not asked for again (hit on miss). Both entries and waiters per
// entry are limited, as in hardware.
#pragma once

#include <cstdint>
#include <vector>

namespace simtlab::memory {

class Mshr {
 public:
  // merges: most waiters of one entry; 0: any number.
  Mshr(std::uint32_t entries, std::uint32_t merges);

  struct Look {
    bool room = false;         // false: no free entry, or the entry has no room for another waiter
    std::uint8_t pending = 0;  // sectors of the line under way
  };
  Look look(std::uint64_t line) const;
  // Only when look() said room. needs: the sectors that the waiter waits for; fetch: the sectors that the
  // caller asks the next level for now (every needed sector that is not pending, and possibly more).
  void add(std::uint64_t line, std::uint8_t needs, std::uint8_t fetch, std::uint64_t waiter);

  // Data arrived: calls done(waiter) for each waiter that now has all of its sectors, in order of arrival.
  template <class Done>
  void fill(std::uint64_t line, std::uint8_t sectors, Done&& done) {
    const Index found = find(line);
    if (found == none) return;
    Entry& entry = entries_[found];
    entry.pending = static_cast<std::uint8_t>(entry.pending & ~sectors);
    Index previous = none;
    for (Index at = entry.first; at != none;) {
      Waiter& waiter = waiters_[at];
      const Index next = waiter.next;
      waiter.needs = static_cast<std::uint8_t>(waiter.needs & ~sectors);
      if (waiter.needs == 0) {
        done(waiter.tag);
        (previous == none ? entry.first : waiters_[previous].next) = next;
        if (entry.last == at) entry.last = previous;
        --entry.count;
        free_waiter(at);
      } else {
        previous = at;
      }
      at = next;
    }
    if (entry.pending == 0) release(found);
  }

  // Hints that the line is looked for soon, each for when what the one before asked for has come: its place,
  // its entry, and the first of its waiters. Always inline: g++ takes functions that only prefetch for ones
  // without effect.
  [[gnu::always_inline]] void expect(std::uint64_t line) const { __builtin_prefetch(&table_[home(line)], 1); }
  [[gnu::always_inline]] void expect_entry(std::uint64_t line) const {
    if (const Index entry = table_[home(line)]; entry != 0) __builtin_prefetch(&entries_[entry - 1], 1);
  }
  [[gnu::always_inline]] void expect_waiter(std::uint64_t line) const {
    if (const Index found = find(line); found != none && entries_[found].first != none)
      __builtin_prefetch(&waiters_[entries_[found].first], 1);
  }
  template <class Visit>
  void each_waiter(std::uint64_t line, Visit&& visit) const {
    const Index found = find(line);
    for (Index at = found == none ? none : entries_[found].first; at != none; at = waiters_[at].next)
      visit(waiters_[at].tag);
  }

  std::uint32_t used() const { return used_; }
  std::uint32_t entries() const { return static_cast<std::uint32_t>(entries_.size()); }
  bool full() const { return used_ == entries(); }
  void clear();

 private:
  using Index = std::uint32_t;
  static constexpr Index none = ~Index{0};
  struct Entry {
    std::uint64_t line = 0;
    Index first = none, last = none;
    std::uint32_t count = 0;
    std::uint8_t pending = 0;
  };
  struct Waiter {
    std::uint64_t tag = 0;
    Index next = none;
    std::uint8_t needs = 0;
  };
  void reset();
  std::size_t home(std::uint64_t line) const {
    return static_cast<std::size_t>((line * 0x9e3779b97f4a7c15ull) >> 32) & table_mask_;
  }
  Index find(std::uint64_t line) const;
  Index open(std::uint64_t line);
  void release(Index entry);
  void free_waiter(Index waiter);

  std::uint32_t merges_;
  std::uint32_t used_ = 0;
  std::vector<Entry> entries_;
  std::vector<Waiter> waiters_;  // grows to the most waiters ever outstanding
  std::vector<Index> free_entries_;
  Index free_waiters_ = none;
  std::vector<Index> table_;  // open addressing: entry + 1
  std::size_t table_mask_ = 0;
};

}  // namespace simtlab::memory
