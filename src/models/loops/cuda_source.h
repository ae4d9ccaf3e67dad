// The nest as CUDA C++ that a port can start from: the program's own lines, the mapped loops replaced by
// thread indices.
#pragma once

#include <string>
#include <string_view>

#include "models/loops/tile.h"

namespace simtlab::models::loops {

// tiles: that each block holds in shared memory (of arrays that the nest only reads).
// source: text of the file that the nest is in. bytes: of each input's array; 0 where it is not known. Throws
// Error(unsupported, "loop-cuda") with the place of what can't be written.
std::string cuda_source(const Description& nest, const Mapping& mapping, std::string_view source,
                        const std::string& name, const std::vector<std::uint64_t>& bytes,
                        const std::vector<Tile>& tiles = {});

}  // namespace simtlab::models::loops
