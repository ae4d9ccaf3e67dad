// What L1 fetches ahead in a cache study: one file a prefetcher, prefetchers/NAME.cpp, which gives a
// PrefetchPolicy prefetcher_NAME. A new one is a new file: the build makes the list (cmake/registry.cmake).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cache/history.h"

namespace simtlab::cache {

// The lines that a prefetcher asks for after one read, at most as many as there is room; more are dropped.
class Ahead {
 public:
  void add(std::uint64_t line) {
    if (count_ < lines_.size()) lines_[count_++] = line;
  }
  const std::uint64_t* begin() const { return lines_.data(); }
  const std::uint64_t* end() const { return lines_.data() + count_; }

 private:
  std::array<std::uint64_t, 16> lines_;
  std::uint32_t count_ = 0;
};

// Of one L1; it may keep what it learns. Lines are numbers of lines of the cache (address / line size).
class Prefetcher {
 public:
  virtual ~Prefetcher() = default;
  // A line was read by a warp, and was there or not. What is in L1 already or under way is not fetched, nor
  // is what finds no miss register or place.
  virtual void read(std::uint64_t line, bool missed, const Accessor& who, Ahead& ahead) = 0;
  virtual void restart() {}  // a launch begins: L1 is empty
};

struct PrefetchPolicy {
  std::string_view name;                  // "next-line"
  std::string_view doc;                   // one sentence without the final full stop
  std::unique_ptr<Prefetcher> (*make)();  // null: nothing is fetched ahead
};
std::span<const PrefetchPolicy* const> prefetch_policies();    // in the order of the files' names
const PrefetchPolicy* find_prefetcher(std::string_view name);  // null if there is none

}  // namespace simtlab::cache
