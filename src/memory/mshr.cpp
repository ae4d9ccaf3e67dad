// Entries are found by a hash table with open addressing and backward-shift deletion; waiters of an entry are
// a linked list in a pool that grows to the most waiters ever outstanding. Nothing is allocated after that.
#include "memory/mshr.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace simtlab::memory {

Mshr::Mshr(std::uint32_t entries, std::uint32_t merges)
    : merges_(merges == 0 ? ~std::uint32_t{0} : merges), entries_(entries) {
  SIMTLAB_ASSERT(entries > 0, "a cache needs miss registers");
  table_.assign(std::bit_ceil(std::size_t{entries} * 4), 0);
  table_mask_ = table_.size() - 1;
  waiters_.reserve(std::size_t{entries} * std::min(merges_, 4u));
  reset();
}

void Mshr::clear() {
  if (used_ > 0) reset();
}

void Mshr::reset() {
  std::ranges::fill(table_, 0);
  std::ranges::fill(entries_, Entry{});
  waiters_.clear();
  free_waiters_ = none;
  free_entries_.clear();
  for (Index i = entries(); i > 0; --i) free_entries_.push_back(i - 1);
  used_ = 0;
}

Mshr::Index Mshr::find(std::uint64_t line) const {
  for (std::size_t i = home(line);; i = (i + 1) & table_mask_) {
    if (table_[i] == 0) return none;
    if (entries_[table_[i] - 1].line == line) return table_[i] - 1;
  }
}

Mshr::Look Mshr::look(std::uint64_t line) const {
  const Index found = find(line);
  if (found == none) return {!full(), 0};
  return {entries_[found].count < merges_, entries_[found].pending};
}

Mshr::Index Mshr::open(std::uint64_t line) {
  SIMTLAB_ASSERT(!free_entries_.empty(), "a miss is added only when there is room");
  const Index entry = free_entries_.back();
  free_entries_.pop_back();
  entries_[entry] = Entry{.line = line};
  std::size_t i = home(line);
  while (table_[i] != 0) i = (i + 1) & table_mask_;
  table_[i] = entry + 1;
  ++used_;
  return entry;
}

void Mshr::add(std::uint64_t line, std::uint8_t needs, std::uint8_t fetch, std::uint64_t waiter) {
  Index found = find(line);
  if (found == none) found = open(line);
  Entry& entry = entries_[found];
  entry.pending = static_cast<std::uint8_t>(entry.pending | fetch);
  SIMTLAB_ASSERT((needs & ~entry.pending) == 0, "a waiter waits only for sectors under way");
  Index slot = free_waiters_;
  if (slot == none) {
    slot = static_cast<Index>(waiters_.size());
    waiters_.emplace_back();
  } else {
    free_waiters_ = waiters_[slot].next;
  }
  waiters_[slot] = {waiter, none, needs};
  (entry.first == none ? entry.first : waiters_[entry.last].next) = slot;
  entry.last = slot;
  ++entry.count;
}

void Mshr::free_waiter(Index waiter) {
  waiters_[waiter].next = free_waiters_;
  free_waiters_ = waiter;
}

void Mshr::release(Index entry) {
  std::size_t hole = home(entries_[entry].line);
  while (table_[hole] != entry + 1) hole = (hole + 1) & table_mask_;
  for (std::size_t i = (hole + 1) & table_mask_; table_[i] != 0; i = (i + 1) & table_mask_) {
    const std::size_t start = home(entries_[table_[i] - 1].line);
    if (((i - start) & table_mask_) < ((i - hole) & table_mask_)) continue;
    table_[hole] = table_[i];
    hole = i;
  }
  table_[hole] = 0;
  free_entries_.push_back(entry);
  --used_;
}

}  // namespace simtlab::memory
