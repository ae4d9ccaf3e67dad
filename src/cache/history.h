// The history of one cache's lines beside the cache: why it misses, how far reuse lies apart, who reuses.
//
// Two other caches get the same reads and stores: one without limits, and a fully associative one of equal
// size. A miss that the first has as well is of data that was never there (cold), that stores had only begun
// (partial) or that a store threw out (invalidated). Of the others those that the second one has are capacity
// misses, the rest are conflicts.
#pragma once

#include <memory>

#include "cache/counts.h"
#include "cache/lines.h"
#include "cache/partial.h"
#include "cache/reuse.h"
#include "memory/cache.h"
#include "memory/l1_rules.h"

namespace simtlab::cache {

// Who accesses.
struct Accessor {
  std::uint32_t warp = 0, block = 0;  // of the launch
};

class History {
 public:
  // capacity: lines of the cache. sample: share of the lines whose distances are followed; below 1, a fully
  // associative cache runs beside to tell capacity from conflict misses exactly.
  History(const memory::CacheConfig& cache, double sample);

  static constexpr unsigned groups = 8;  // of sampled lines, for the error figure

  // A read of `wanted` sectors of a line of this cache; missed: those that it has to fetch, pending: those
  // under way. Adds to `counts`; unit: log2 of 32-byte sectors in what is counted.
  void read(std::uint32_t line, std::uint8_t wanted, std::uint8_t missed, std::uint8_t pending, unsigned unit,
            const Accessor& who, ReadCounts& counts);
  // A store or atomic to a line. bytes: of its sectors, from the line's first one on; a store that drops the
  // line needs none.
  using Store = memory::L1Store::Effect;
  void write(std::uint64_t number, std::uint8_t sectors, const SectorBytes& bytes, Store what);

  LineTable& lines() { return lines_; }
  const LineTable& lines() const { return lines_; }
  // Of the reads, in lines; with sampling those of the sampled lines, distances scaled.
  const ReuseHistogram& histogram() const { return histogram_; }
  const ReuseHistogram& group(unsigned g) const { return group_histograms_[g]; }
  bool sampled() const { return sampled_; }
  std::uint64_t bytes() const;  // of the host, that grow with the lines
  void clear();
  void begin_launch();  // distances are counted from zero; the history of the lines stays

 private:
  bool follows(std::uint64_t key) const { return hash(key) < threshold_; }
  static std::uint64_t hash(std::uint64_t key) {
    key = (key ^ key >> 32) * 0xd6e8feb86659fd93ull;
    return key ^ key >> 32;
  }
  std::uint8_t held(std::uint32_t line, std::uint8_t wanted);
  void follow(std::uint32_t line, bool count_distance);
  void touch(std::uint32_t line, bool count_distance);
  void store_beside(std::uint32_t line, std::uint8_t sectors, const SectorBytes& bytes, bool allocate);
  void drop(std::uint32_t line, std::uint8_t sectors);
  unsigned shift_of(std::uint64_t number) const {
    return static_cast<unsigned>(number % sub_lines_) * sub_sectors_;
  }

  std::uint64_t capacity_;
  double sample_;
  bool sampled_;
  std::uint64_t threshold_ = ~std::uint64_t{0};
  LineTable lines_;
  PartialSectors partial_;
  ReuseStack stack_{lines_};
  std::unique_ptr<memory::Cache> beside_;  // fully associative; when sampled
  ReuseHistogram histogram_;
  std::vector<ReuseHistogram> group_histograms_;
  unsigned sub_lines_ = 1, sub_sectors_ = 4;
};

}  // namespace simtlab::cache
