// How much memory of this process lies readable from an address on.
#pragma once

#include <cstddef>

namespace simtlab::compile {

// Bytes from `start` to the first address that is not mapped readable, as the system's table of mappings
// says; 0 if `start` itself is not. SIZE_MAX if the system has no such table (/proc is not mounted).
std::size_t mapped_bytes(const void* start);

}  // namespace simtlab::compile
