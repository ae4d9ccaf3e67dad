// Copies within the device's memory by size, with every run: the bandwidth test of Sanchez' thesis.
#pragma once

#include <cstdint>

#include "probe/bench.h"

namespace simtlab::probe {

inline constexpr std::uint64_t thesis_copy_bytes = 33554432;  // of figure 34: the tool's own size

// Adds thesis.copy, the median of the runs of that size, with the curves thesis.copy.runs (its runs in their
// order), thesis.copy (medians by size) and thesis.copy.samples (every run of every size).
void thesis_copies(Bench& bench);

}  // namespace simtlab::probe
