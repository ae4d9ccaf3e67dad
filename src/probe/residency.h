// How many blocks an SM holds at once: they count themselves.
#pragma once

#include <cstdint>
#include <string>

#include "probe/bench.h"

namespace simtlab::probe {

// The entry resident: every block counts itself on its SM, stays a while, and counts itself off. values: of
// those each thread keeps so many in registers all the while.
std::string resident_text(unsigned values = 0);
gpu::Board::Function resident_kernel(Bench& bench, unsigned values = 0);
// Most blocks that one SM held at once.
std::uint32_t blocks_seen(Bench& bench, gpu::Board::Function function, std::uint32_t threads,
                          std::uint32_t shared_bytes, unsigned values = 0);

}  // namespace simtlab::probe
