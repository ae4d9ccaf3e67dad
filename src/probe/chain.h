// Runs the chains of operation.h.
#pragma once

#include <cstdint>
#include <string>

#include "probe/bench.h"
#include "probe/operation.h"

namespace simtlab::probe {

// Cycles from the first warp's begin to the last one's end of one block; text: of chain_kernels(). Checks the
// results.
double chain_cycles(Bench& bench, const Operation& operation, const std::string& text, unsigned factor,
                    unsigned warps, unsigned chains, std::uint64_t out);

}  // namespace simtlab::probe
