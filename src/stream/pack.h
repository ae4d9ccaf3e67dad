// Perfect coalescing, for --what-if: the same bytes in as few sectors as they fill.
#pragma once

#include <cstdint>

#include "stream/coalescer.h"

namespace simtlab::stream {

// Rewrites the segments of one warp access of `bytes` a lane, the first of which is at `first_address`.
//
// The sectors that are left are taken from the lines that the access touched, which ones by the place of the
// first lane in its line: warps that would share lines (columns of a matrix) take different ones, so that
// together they touch what they touched before.
void pack(std::uint64_t first_address, unsigned bytes, Segments& segments);

}  // namespace simtlab::stream
