// What the hardware counts of the accesses that Sanchez' thesis times (6.2.2 and 6.2.3, tables 8 and 9,
// figures 23 and 24): counts are of whole kernels, so those of the readings of the clock alone are taken out
// of them as the clock's cost is taken out of intervals, by the difference of the two distributions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "probe/bench.h"
#include "probe/thesis.h"
#include "probe/thesis_kernels.h"

namespace simtlab::probe {

struct ThesisCounter {
  std::string_view metric;  // of the registry
  double each = 1;          // of the metric, of one that the thesis counts
  bool local = false;       // of local memory alone (table 9)
};
inline constexpr std::array<ThesisCounter, 7> thesis_counters = {{{"l2.read.misses"},
                                                                  {"l2.read.accesses"},
                                                                  {"dram.read.bytes", 32},  // sectors
                                                                  {"l2.read.hits", 1, true},
                                                                  {"local.load.sectors", 1, true},
                                                                  {"l1.read.hits", 1, true},
                                                                  {"l1.read.misses", 1, true}}};

struct CountedLaunch {
  std::string name;  // "local"
  const ThesisKernel& timed;
  ThesisShape shape;
  std::uint64_t data = 0, out = 0;
  bool local = false;
  unsigned most = 100;  // repetitions; two equal ones are enough
};

// Adds counter.METRIC.NAME.BLOCKSxTHREADS, the mean of what is left, with the curves .measured, .clock and
// .estimate behind that name. A board that tells no counters: thesis.counters is unknown.
void thesis_counts(Bench& bench, const CountedLaunch& launch);

}  // namespace simtlab::probe
