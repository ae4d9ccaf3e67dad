#include "cachesim/reuse.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "cachesim/bits.h"

namespace simtlab::cachesim {
namespace {

constexpr std::uint32_t word_of(std::uint32_t time) { return time / 64; }
constexpr std::uint64_t bit_of(std::uint32_t time) { return std::uint64_t{1} << (time % 64); }

}  // namespace

void ReuseStack::clear() {
  now_ = 1;
  live_ = 0;
  resize(least_window);
}

void ReuseStack::resize(std::uint32_t window) {
  bits_.assign(window / 64, 0);
  tree_.assign(window / 64 + 1, 0);
  owner_.resize(window);
}

// Marks later than `time`: all, without those up to its word, and those above it in the word.
std::uint64_t ReuseStack::after(std::uint32_t time) const {
  const std::uint32_t word = word_of(time);
  const unsigned shift = time % 64;
  const std::uint64_t above = shift == 63 ? 0 : bits_[word] >> (shift + 1);
  const auto in_word = count_bits(above);
  if (word == word_of(now_)) return in_word;
  std::uint64_t before = 0;
  for (std::uint32_t i = word + 1; i > 0; i &= i - 1) before += tree_[i];
  return live_ - before + in_word;
}

void ReuseStack::add(std::uint32_t word, std::uint32_t marks) {
  for (std::uint32_t i = word + 1; i < tree_.size(); i += i & (0 - i)) tree_[i] += marks;
}

// At now_, which moves on.
void ReuseStack::mark(std::uint32_t line) {
  const std::uint32_t word = word_of(now_);
  bits_[word] |= bit_of(now_);
  owner_[now_] = line;
  ++live_;
  if (word_of(++now_) != word) add(word, count_bits(bits_[word]));
}

void ReuseStack::unmark(std::uint32_t time) {
  const std::uint32_t word = word_of(time);
  bits_[word] &= ~bit_of(time);
  --live_;
  if (word != word_of(now_)) add(word, ~std::uint32_t{0});   // one less
}

std::uint64_t ReuseStack::touch(std::uint32_t line) {
  if (now_ == owner_.size()) renumber();
  LineRecord& record = lines_[line];
  std::uint64_t distance = never_before;
  if (record.time != 0) {
    if (record.time == now_ - 1) return 0;   // touched last: the mark may stay
    distance = after(record.time);
    unmark(record.time);
  }
  record.time = now_;
  mark(line);
  return distance;
}

// The marks move together in their order; the window keeps room for as many accesses as there are lines, at least.
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

std::uint64_t ReuseHistogram::total() const { return std::accumulate(counts_.begin(), counts_.end(), first_); }

double ReuseHistogram::miss_ratio(std::uint64_t lines) const {
  const std::uint64_t all = total();
  if (all == 0) return 0;
  const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(lines, counts_.size()));
  return 1 - static_cast<double>(std::accumulate(counts_.begin(), end, std::uint64_t{0})) / static_cast<double>(all);
}

}  // namespace simtlab::cachesim
