#include "cache/reuse.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "cache/bits.h"

namespace simtlab::cache {
namespace {

constexpr std::uint32_t word_of(std::uint32_t time) { return time / 64; }
constexpr std::uint64_t bit_of(std::uint32_t time) { return std::uint64_t{1} << (time % 64); }

constexpr std::uint32_t words_in_group = 64, groups_in_block = 64;
constexpr std::uint32_t group_of(std::uint32_t word) { return word / words_in_group; }
constexpr std::uint32_t block_of(std::uint32_t word) { return word / (words_in_group * groups_in_block); }

}  // namespace

void ReuseStack::clear() {
  now_ = 1;
  live_ = 0;
  resize(least_window);
}

// One word more than there are times: now_ may be behind the last.
void ReuseStack::resize(std::uint32_t window) {
  bits_.assign(window / 64 + 1, 0);
  groups_.assign(group_of(window / 64) + 1, 0);
  blocks_.assign(block_of(window / 64) + 1, 0);
  words_.assign(groups_.size() * words_in_group / 8, 0);
  owner_.resize(window);
}

// Marks in the words behind this one in its group. Bytes are added up in lanes of 16 bits: a group has 4096
// marks at most.
std::uint32_t ReuseStack::after_in_group(std::uint32_t word) const {
  constexpr std::uint64_t even = 0x00ff'00ff'00ff'00ffull;
  const std::uint64_t rest = words_[word / 8] >> (8 * (word % 8)) >> 8;
  std::uint64_t lanes = (rest & even) + (rest >> 8 & even);
  for (std::uint32_t i = word / 8 + 1; i % (words_in_group / 8) != 0; ++i)
    lanes += (words_[i] & even) + (words_[i] >> 8 & even);
  return static_cast<std::uint32_t>(lanes * 0x0001'0001'0001'0001ull >> 48);
}

// Marks later than `time`.
std::uint64_t ReuseStack::after(std::uint32_t time) const {
  const std::uint32_t word = word_of(time), now = word_of(now_);
  std::uint64_t marks = count_bits(bits_[word] >> (time % 64) >> 1);
  if (word == now) return marks;
  marks += count_bits(bits_[now]) + after_in_group(word);
  const std::uint32_t last = group_of(now);
  std::uint32_t group = group_of(word);
  if (group++ == last) return marks;
  for (; group <= last && group % groups_in_block != 0; ++group) marks += groups_[group];
  for (std::uint32_t block = block_of(word) + 1; block <= block_of(now); ++block) marks += blocks_[block];
  return marks;
}

// At now_, which moves on.
void ReuseStack::mark(std::uint32_t line) {
  const std::uint32_t word = word_of(now_);
  bits_[word] |= bit_of(now_);
  owner_[now_] = line;
  ++live_;
  if (word_of(++now_) == word) return;
  const std::uint64_t marks = count_bits(bits_[word]);
  words_[word / 8] += marks << (8 * (word % 8));
  groups_[group_of(word)] += static_cast<std::uint32_t>(marks);
  blocks_[block_of(word)] += static_cast<std::uint32_t>(marks);
}

void ReuseStack::unmark(std::uint32_t time) {
  const std::uint32_t word = word_of(time);
  bits_[word] &= ~bit_of(time);
  --live_;
  if (word == word_of(now_)) return;
  words_[word / 8] -= std::uint64_t{1} << (8 * (word % 8));
  --groups_[group_of(word)];
  --blocks_[block_of(word)];
}

std::uint64_t ReuseStack::touch(std::uint32_t line) {
  if (now_ == owner_.size()) renumber();
  LineRecord& record = lines_[line];
  std::uint64_t distance = never_before;
  if (record.time != 0) {
    if (record.time == now_ - 1) return 0;  // touched last: the mark may stay
    distance = after(record.time);
    unmark(record.time);
  }
  record.time = now_;
  mark(line);
  return distance;
}

// The marks move together in their order; the window keeps room for as many accesses as there are lines, at
// least.
void ReuseStack::renumber() {
  std::vector<std::uint32_t> order;
  order.reserve(live_);
  for (std::uint32_t word = 0; word < bits_.size(); ++word)
    for (std::uint64_t rest = bits_[word]; rest != 0; rest &= rest - 1)
      order.push_back(owner_[word * 64 + static_cast<unsigned>(std::countr_zero(rest))]);
  resize(std::max(least_window, std::bit_ceil(live_ + 1) * 4));
  live_ = 0;
  now_ = 1;
  for (const std::uint32_t line : order) {
    lines_[line].time = now_;
    mark(line);
  }
}

void ReuseHistogram::add(const ReuseHistogram& other) {
  first_ += other.first_;
  if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size(), 0);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::uint64_t ReuseHistogram::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), first_);
}

double ReuseHistogram::miss_ratio(std::uint64_t lines) const {
  const std::uint64_t all = total();
  if (all == 0) return 0;
  const auto end =
      counts_.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(lines, counts_.size()));
  return 1 - static_cast<double>(std::accumulate(counts_.begin(), end, std::uint64_t{0})) /
                 static_cast<double>(all);
}

}  // namespace simtlab::cache
