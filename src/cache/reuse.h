// Reuse distances: how many other lines were touched since a line was touched last.
//
// Exact, in one pass (Mattson et al. 1970 for the stack; Bennett and Kruskal 1975, Olken 1981 for the
// counting): each line has one mark at the time of its last access; the distance is the number of marks after
// it. Marks are bits; they are counted by words of 64, groups of 64 words and blocks of 64 groups, from when
// a word is full of times. An access changes one count of each kind and adds up a few neighbours, from its
// time to now: near reuse, which is frequent, is cheap. When the times run out, the marks are numbered anew.
// Memory is that of the lines.
//
// A fully associative LRU cache of C lines hits exactly the accesses of a distance below C: the histogram is
// the miss-ratio curve of all sizes.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/lines.h"

namespace simtlab::cache {

inline constexpr std::uint64_t never_before = ~std::uint64_t{0};

class ReuseStack {
 public:
  explicit ReuseStack(LineTable& lines) : lines_(lines) { clear(); }

  // The line is touched now. Returns its distance, never_before for the first time.
  std::uint64_t touch(std::uint32_t line);
  // The same without touching.
  std::uint64_t distance(std::uint32_t line) const {
    const std::uint32_t time = lines_[line].time;
    return time == 0 ? never_before : after(time);
  }
  void clear();
  std::uint64_t bytes() const {
    return (bits_.capacity() + words_.capacity()) * sizeof(std::uint64_t) +
           (groups_.capacity() + blocks_.capacity() + owner_.capacity()) * sizeof(std::uint32_t);
  }

 private:
  static constexpr std::uint32_t least_window = 1u << 14;

  std::uint64_t after(std::uint32_t time) const;
  std::uint32_t after_in_group(std::uint32_t word) const;
  void mark(std::uint32_t line);
  void unmark(std::uint32_t time);
  void renumber();
  void resize(std::uint32_t window);

  LineTable& lines_;
  std::vector<std::uint64_t> bits_;  // by time
  // Marks in words before that of now_: of each word, a byte each, eight in one; of each group; of each
  // block.
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> groups_, blocks_;
  std::vector<std::uint32_t> owner_;  // line by time
  std::uint32_t now_ = 1;             // next time; 0 means never
  std::uint32_t live_ = 0;            // marks
};

// How many accesses had which distance.
class ReuseHistogram {
 public:
  void add(std::uint64_t distance, std::uint64_t weight) {
    if (distance == never_before) {
      first_ += weight;
      return;
    }
    if (distance >= counts_.size()) counts_.resize(distance + distance / 2 + 64, 0);
    counts_[distance] += weight;
  }
  void add(const ReuseHistogram& other);
  std::uint64_t first() const { return first_; }                        // accesses without an earlier one
  const std::vector<std::uint64_t>& counts() const { return counts_; }  // by distance
  std::uint64_t total() const;
  std::uint64_t bytes() const { return counts_.capacity() * sizeof counts_[0]; }
  // Share of the accesses that miss a fully associative LRU cache of so many lines; 0 without accesses.
  double miss_ratio(std::uint64_t lines) const;

 private:
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> counts_;
};

}  // namespace simtlab::cache
