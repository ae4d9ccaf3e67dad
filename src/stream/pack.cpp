#include "stream/pack.h"

#include <algorithm>
#include <bit>

namespace simtlab::stream {

void pack(std::uint64_t first_address, unsigned bytes, Segments& segments) {
  unsigned touched = 0, lane_count = 0;
  for (unsigned i = 0; i < segments.count; ++i) {
    for (const std::uint32_t b : segments.items[i].bytes) touched += static_cast<unsigned>(std::popcount(b));
    lane_count += segments.items[i].lane_count;
  }
  const unsigned ideal = (touched + sector_bytes - 1) / sector_bytes;
  if (ideal == 0 || segments.sector_count() <= ideal) return;
  Segments packed;
  packed.count = 0;
  const std::uint64_t turn = first_address % line_bytes / std::max(bytes, 1u) * ideal;
  for (unsigned k = 0; k < ideal; ++k) {
    const std::uint64_t place = turn + k;
    const std::uint64_t line = segments.items[place / sectors_per_line % segments.count].line;
    const auto sector = static_cast<unsigned>(place % sectors_per_line);
    if (packed.count == 0 || packed.items[packed.count - 1].line != line) {
      packed.items[packed.count] = Segment{};
      packed.items[packed.count++].line = line;
    }
    Segment& segment = packed.items[packed.count - 1];
    segment.sectors = static_cast<std::uint8_t>(segment.sectors | 1u << sector);
    segment.bytes[sector] = ~std::uint32_t{0};
  }
  packed.items[0].lane_count = static_cast<std::uint8_t>(std::min(lane_count, lanes));
  segments = packed;
}

}  // namespace simtlab::stream
