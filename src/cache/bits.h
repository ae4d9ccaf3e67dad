// Set bits, without the library call that std::popcount is on processors without the instruction.
#pragma once

#include <cstdint>

namespace simtlab::cache {

constexpr unsigned count_bits(std::uint64_t bits) {
  bits -= bits >> 1 & 0x5555'5555'5555'5555ull;
  bits = (bits & 0x3333'3333'3333'3333ull) + (bits >> 2 & 0x3333'3333'3333'3333ull);
  bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0full;
  return static_cast<unsigned>(bits * 0x0101'0101'0101'0101ull >> 56);
}

}  // namespace simtlab::cache
