// The one coalescer: lanes' addresses of a warp instruction -> lines and 32-byte sectors.
//
// Models the rule of Fermi and later: the lanes of a warp are merged into 128-byte lines, and of each line
// only the 32-byte sectors that some lane touches are asked for. A cache with larger sectors (Fermi's L1
// fetches whole lines) widens the mask itself (memory::Cache::widen). The half-warp rules of compute
// capability 1.x are not modelled.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace simtlab::stream {

inline constexpr unsigned lanes = 32;
inline constexpr unsigned line_bytes = 128;
inline constexpr unsigned sector_bytes = 32;
inline constexpr unsigned sectors_per_line = line_bytes / sector_bytes;

// Sectors in a mask of four, without the library call that std::popcount is on processors without the
// instruction.
constexpr unsigned count_sectors(std::uint8_t sectors) {
  return static_cast<unsigned>(0x4332'3221'3221'2110ull >> (4 * (sectors & 15u))) & 7u;
}

// Lanes in a mask; nearly always it is all of them, which needs no such call.
constexpr unsigned count_lanes(std::uint32_t mask) {
  return mask == ~std::uint32_t{0} ? lanes : static_cast<unsigned>(std::popcount(mask));
}

// All accesses of one warp instruction that fall in one line.
struct Segment {
  std::uint64_t line = 0;                               // address / line_bytes
  std::array<std::uint32_t, sectors_per_line> bytes{};  // touched bytes of each sector
  std::uint8_t sectors = 0;                             // touched sectors, one bit each
  std::uint8_t lane_count = 0;                          // lanes whose first byte is in this line
  // Atomics: most lanes at one address (they are done in turn)
  std::uint8_t same_address = 0;
};

// One lane's access may be up to 32 bytes and cross a line; local accesses are split in words: 8 words of 32
// lanes.
inline constexpr unsigned max_segments = 256;

// Caller-owned buffer, reused.
struct Segments {
  std::array<Segment, max_segments> items;
  unsigned count = 0;
  unsigned sector_count() const {
    unsigned n = 0;
    for (unsigned i = 0; i < count; ++i) n += count_sectors(items[i].sectors);
    return n;
  }
};

// Global-like accesses: addresses[lane] is valid where mask has the bit. Segments come in order of their
// first lane.
void coalesce(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes, Segments& out);

// As coalesce, and counts for every segment how many lanes share one address.
void coalesce_atomic(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes, Segments& out);

// Local memory is interleaved by 4-byte words, so that lanes with equal offsets touch one line per word.
// base: where the local memory of this warp starts, a multiple of line_bytes.
void coalesce_local(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes, std::uint64_t base,
                    Segments& out);

}  // namespace simtlab::stream
