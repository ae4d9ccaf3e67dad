// Geometry of one cache by what it forgets: which lines conflict, how many a set takes, how long lines and
// sectors are, what it replaces.
//
// Everything follows from one question: read these lines in order, then read them again: does one miss the
// second time? More lines of one set than it has ways cannot all stay, whatever is replaced and however sets
// are numbered; fewer do. docs/concepts/probe.md, "Geometry".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "probe/bench.h"
#include "probe/ring.h"

namespace simtlab::probe {

// What hits and misses of a cache take when timed one by one.
struct Threshold {
  std::uint64_t hit = 0, miss = 0;  // typical
  std::uint64_t between() const { return (hit + miss) / 2; }
};

class Geometry {
 public:
  // Visits offsets in order, again and again: `skip` of them, then `loads`, which are told apart by their
  // time. unit: bytes that visits of one offset may lie in.
  using Visit = std::function<Census(const std::vector<std::uint64_t>& sequence, std::uint64_t skip,
                                     std::uint64_t loads, std::uint32_t unit)>;
  // cold: the cache is empty when a kernel begins (L1), else contents stay.
  Geometry(Visit visit, bool cold) : visit_(std::move(visit)), cold_(cold) {}

  // Bytes that come with the one asked for. nullopt: not 32, 64 or 128.
  std::optional<std::uint32_t> sector_bytes();
  // Largest contiguous range at 0, in steps of `step`, of which nothing is forgotten; looked for between
  // `least` and `most` bytes. nullopt: `most` bytes stay.
  std::optional<std::uint64_t> clean_bytes(std::uint64_t step, std::uint64_t least, std::uint64_t most);
  // Lines of one set, one more than it has ways: of those at 0, step, ... up to and including `last`, which
  // conflict. Empty: they do not behave like that.
  std::vector<std::uint64_t> conflicting(std::uint64_t step, std::uint64_t last);
  std::uint32_t line_bytes(const std::vector<std::uint64_t>& members, std::uint32_t sector);
  // Lines that are there after many more were read, counted backwards; exact unless replacement is random.
  std::uint64_t resident(std::uint32_t line, std::uint64_t lines);
  // "lru", ...; empty: none of the known ones. Only of a cache that is empty when a kernel begins.
  std::string replacement(const std::vector<std::uint64_t>& members, std::uint32_t sector);

  bool conflict(const std::vector<std::uint64_t>& lines);
  std::uint64_t accesses() const { return accesses_; }

 private:
  Census visit(const std::vector<std::uint64_t>& sequence, std::uint64_t skip, std::uint64_t loads,
               std::uint32_t unit) {
    accesses_ += skip + loads;
    return visit_(sequence, skip, loads, unit);
  }

  Visit visit_;
  bool cold_;
  std::uint64_t accesses_ = 0;
};

// The rules of numbering sets that put all of each group into one set of its own; sets: how many there are.
std::vector<std::string> fitting_indexes(const std::vector<std::vector<std::uint64_t>>& groups,
                                         std::uint32_t sets, std::uint32_t line, std::uint32_t ways);

}  // namespace simtlab::probe
