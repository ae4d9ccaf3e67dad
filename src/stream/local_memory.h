// Where local memory lies: beyond all allocations, launch by launch and warp by warp, interleaved by words
// within a warp.
#pragma once

#include <cstdint>

#include "stream/coalescer.h"
#include "stream/warp_source.h"

namespace simtlab::stream {

// Bytes that a warp of a launch takes: its frame, a word of each lane after the other.
inline std::uint64_t local_bytes_of_warp(const WarpSource& launch) {
  return (std::uint64_t{launch.local_bytes()} + 3) / 4 * line_bytes;
}

// The first byte of a warp's local memory, for coalesce_local. launch: number among the launches that run at
// once, from 0; warp: number of the warp's slot among all slots of the GPU.
inline std::uint64_t local_address(std::uint64_t launch, std::uint64_t warp, std::uint64_t bytes_of_warp) {
  constexpr std::uint64_t first = std::uint64_t{1} << 46, launch_room = std::uint64_t{1} << 39;
  return first + launch * launch_room + warp * bytes_of_warp;
}

}  // namespace simtlab::stream
