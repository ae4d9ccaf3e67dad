// Main memory beside what its numbers say in closed form, and beside other simulators' clocks for the same
// requests.
#pragma once

#include <vector>

#include "studies/validate/reference.h"
#include "studies/validate/rows.h"

namespace simtlab::studies::validate {

// For every technology of the catalogue: unloaded reads, row conflicts, streams. Throws Error(interrupted)
// once *stop is set.
std::vector<Row> dram_laws(const volatile bool* stop);
// data/measured/dram-peers.csv: traces that need no generator of random numbers, with the parameters that the
// other simulator had.
std::vector<Row> dram_peers(const Table& table, const volatile bool* stop);

}  // namespace simtlab::studies::validate
