// Addresses of a warp instruction as a pattern: base + lane * stride, or rows of lanes with a stride each, or
// a list.
//
// One byte says how: 0 as predicted, 1 another base, 2 another base and stride, 3 rows, 4 a list, 5 none; bit
// 3: memory space and bytes a lane follow; bits 4 to 6 of 3: log2 of the lanes in a row.
#pragma once

#include <bit>

#include "stream/trace/warp_code.h"

namespace simtlab::stream::trace {

// Bits of an address that the models' memory tells apart; GPUs have up to 49, of which programs get 47.
inline constexpr unsigned address_bits = 48;

inline std::uint64_t lane_address(const AddressState& s, unsigned lane) {
  if (s.row >= 5) return s.base + lane * s.stride;
  return s.base + (lane & ((1u << s.row) - 1)) * s.stride + (lane >> s.row) * s.row_stride;
}

void put_addresses(Buffer& out, AddressState& state, const std::uint64_t* addresses, std::uint32_t mask,
                   ptx::Space space, std::uint16_t bytes);
// False: the instruction has none.
bool get_addresses(Bytes& in, AddressState& state, std::uint64_t* addresses, std::uint32_t mask);

}  // namespace simtlab::stream::trace
