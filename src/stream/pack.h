// Perfect coalescing, for --what-if: an access touches only as many sectors as its bytes fill.
#pragma once

#include <cstdint>

#include "stream/coalescer.h"

namespace simtlab::stream {

// Rewrites the segments of one warp access of `bytes` a lane, the first of which is at `first_address`.
//
// The remaining sectors come from the lines that the access touched; the place of the first lane in its line
// decides which. Warps that share lines (columns of a matrix) thus keep different sectors, and touch together
// the sectors that they touched before.
void pack(std::uint64_t first_address, unsigned bytes, Segments& segments);

}  // namespace simtlab::stream
