// Runs once for every memory instruction of every warp, so the patterns that nearly all kernels have
// (consecutive elements, rows of a block narrower than a warp, columns of an array) are recognised first and
// coalesced without going from lane to lane. Every pattern gives the segments of the general loop in
// coalesce_into(), in its order.
#include "stream/coalescer.h"

#include <algorithm>
#include <bit>

namespace simtlab::stream {
namespace {

constexpr std::uint32_t full_warp = 0xffffffffu;

// Bits [first, first + count) of a 32-bit word, count <= 32.
std::uint32_t byte_range(unsigned first, unsigned count) {
  const std::uint64_t ones = (std::uint64_t{1} << count) - 1;
  return static_cast<std::uint32_t>(ones << first);
}

// Adds the bytes [begin, end) of one line (offsets within the line) to a segment.
[[gnu::always_inline]] inline void touch(Segment& segment, unsigned begin, unsigned end) {
  if (const unsigned sector = begin / sector_bytes; end <= (sector + 1) * sector_bytes) {  // most are of one
    segment.bytes[sector] |= byte_range(begin % sector_bytes, end - begin);
    segment.sectors = static_cast<std::uint8_t>(segment.sectors | (1u << sector));
    return;
  }
  for (unsigned sector = begin / sector_bytes; sector * sector_bytes < end; ++sector) {
    const unsigned low = std::max(begin, sector * sector_bytes) - sector * sector_bytes;
    const unsigned high = std::min(end, (sector + 1) * sector_bytes) - sector * sector_bytes;
    segment.bytes[sector] |= byte_range(low, high - low);
    segment.sectors = static_cast<std::uint8_t>(segment.sectors | (1u << sector));
  }
}

Segment& open_segment(Segments& out, std::uint64_t line) {
  Segment& segment = out.items[out.count++];
  segment = Segment{};
  segment.line = line;
  return segment;
}

// The segment of `line`; the most recent one is the likely one.
Segment& find_segment(Segments& out, unsigned first, std::uint64_t line) {
  for (unsigned i = out.count; i > first; --i)
    if (out.items[i - 1].line == line) return out.items[i - 1];
  return open_segment(out, line);
}

// Finds the segment of a line for lane after lane of an access. Rows of lanes often go through equal lines in
// an equal order, so the segment after the last one found is tried first; most lines lie beyond all lines
// before, so the range of known lines is tried before any search.
class SegmentFinder {
 public:
  SegmentFinder(Segments& out, unsigned first)
      : out_(out), first_(first), last_(first), lowest_(~std::uint64_t{0}), highest_(0) {}
  Segment& find(std::uint64_t line) {
    if (line > highest_ || line < lowest_) {
      highest_ = std::max(highest_, line);
      lowest_ = std::min(lowest_, line);
      last_ = out_.count;
      return open_segment(out_, line);
    }
    if (out_.items[last_].line == line) return out_.items[last_];
    const unsigned next = last_ + 1 < out_.count ? last_ + 1 : first_;
    Segment& found = out_.items[next].line == line ? out_.items[next] : find_segment(out_, first_, line);
    last_ = static_cast<unsigned>(&found - out_.items.data());
    return found;
  }

 private:
  Segments& out_;
  unsigned first_, last_;
  std::uint64_t lowest_, highest_;  // lines; without any, every line is above or below
};

void add_lane(SegmentFinder& finder, std::uint64_t address, unsigned bytes) {
  const std::uint64_t line = address / line_bytes;
  const unsigned offset = static_cast<unsigned>(address % line_bytes);
  const unsigned here = std::min(bytes, line_bytes - offset);
  Segment& segment = finder.find(line);
  ++segment.lane_count;
  touch(segment, offset, offset + here);
  if (here < bytes) touch(finder.find(line + 1), 0, bytes - here);
}

// Compares the addresses with rows of `width` lanes, `step` apart within a row, rows `stride` apart: 0 if the
// warp has exactly this pattern, else the bits in which addresses differ from it.
std::uint64_t deviation(const std::uint64_t* addresses, unsigned width, std::uint64_t step,
                        std::uint64_t stride) {
  std::uint64_t difference = 0, row = addresses[0];
  for (unsigned lane = 0; lane < lanes; row += stride) {
    std::uint64_t expected = row;
    for (const unsigned end = lane + width; lane < end; ++lane, expected += step)
      difference |= addresses[lane] ^ expected;
  }
  return difference;
}

// A full warp on consecutive elements: lines follow from the range alone.
void coalesce_contiguous(std::uint64_t begin, unsigned bytes, Segments& out) {
  const std::uint64_t end = begin + std::uint64_t{bytes} * lanes;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t line = at / line_bytes;
    const std::uint64_t stop = std::min(end, (line + 1) * line_bytes);
    Segment& segment = open_segment(out, line);
    touch(segment, static_cast<unsigned>(at % line_bytes), static_cast<unsigned>(stop - line * line_bytes));
    const std::uint64_t first_lane = (at - begin + bytes - 1) / bytes;
    segment.lane_count = static_cast<std::uint8_t>((stop - begin + bytes - 1) / bytes - first_lane);
    at = stop;
  }
}

// A full warp of rows of consecutive elements (a block narrower than a warp), each within a line. False: the
// warp has another pattern.
bool coalesce_rows(const std::uint64_t* addresses, unsigned bytes, SegmentFinder& finder) {
  const std::uint64_t begin = addresses[0];
  unsigned width = 2;
  while (width < lanes && addresses[width] == begin + width * bytes) width *= 2;
  if (width == lanes || width * bytes > line_bytes ||
      deviation(addresses, width, bytes, addresses[width] - begin) != 0)
    return false;
  for (unsigned lane = 0; lane < lanes; lane += width)
    if (addresses[lane] % line_bytes + width * bytes > line_bytes) return false;
  for (unsigned lane = 0; lane < lanes; lane += width) {
    Segment& segment = finder.find(addresses[lane] / line_bytes);
    const auto offset = static_cast<unsigned>(addresses[lane] % line_bytes);
    touch(segment, offset, offset + width * bytes);
    segment.lane_count = static_cast<std::uint8_t>(segment.lane_count + width);
  }
  return true;
}

// A full warp on a column of an array whose rows are whole lines, or on a few columns side by side: all
// segments are equal but for the number of their line. False: the warp has another pattern.
bool coalesce_columns(const std::uint64_t* addresses, unsigned bytes, Segments& out) {
  const std::uint64_t begin = addresses[0], stride = addresses[1] - begin;
  constexpr std::uint64_t longest = std::uint64_t{1} << 40;  // no line comes twice
  if (stride % line_bytes != 0 || stride == 0 || stride + longest > 2 * longest) return false;
  unsigned height = 2;
  while (height < lanes && addresses[height] != begin + bytes) height *= 2;
  const unsigned offset = static_cast<unsigned>(begin % line_bytes), width = lanes / height * bytes;
  if (offset + width > line_bytes || deviation(addresses, height, stride, bytes) != 0) return false;
  Segment segment;
  touch(segment, offset, offset + width);
  segment.lane_count = static_cast<std::uint8_t>(lanes / height);
  for (unsigned row = 0; row < height; ++row) {
    segment.line = addresses[row] / line_bytes;
    out.items[out.count++] = segment;
  }
  return true;
}

void coalesce_into(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes, Segments& out) {
  SegmentFinder finder(out, out.count);
  if (mask == full_warp) {
    if (deviation(addresses, lanes, bytes, 0) == 0 && addresses[0] < ~std::uint64_t{0} - line_bytes * 16) {
      coalesce_contiguous(addresses[0], bytes, out);
      return;
    }
    if (addresses[1] - addresses[0] == bytes ? coalesce_rows(addresses, bytes, finder)
                                             : coalesce_columns(addresses, bytes, out))
      return;
  }
  for (std::uint32_t rest = mask; rest != 0;) {
    const std::uint64_t begin = addresses[std::countr_zero(rest)];
    const std::uint64_t line = begin / line_bytes;
    rest &= rest - 1;
    if ((begin + bytes - 1) / line_bytes != line) {
      add_lane(finder, begin, bytes);
      continue;
    }
    // Following lanes whose bytes begin where this piece ends, or lie at its end already, belong to the
    // piece.
    std::uint64_t end = begin + bytes;
    unsigned count = 1;
    for (; rest != 0; rest &= rest - 1, ++count) {
      const std::uint64_t address = addresses[std::countr_zero(rest)];
      if (address == end && (address + bytes - 1) / line_bytes == line)
        end += bytes;
      else if (address + bytes != end || address < begin)
        break;
    }
    Segment& segment = finder.find(line);
    segment.lane_count = static_cast<std::uint8_t>(segment.lane_count + count);
    touch(segment, static_cast<unsigned>(begin % line_bytes), static_cast<unsigned>(end - line * line_bytes));
  }
}

}  // namespace

void coalesce(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes, Segments& out) {
  out.count = 0;
  coalesce_into(addresses, mask, bytes, out);
}

void coalesce_atomic(const std::uint64_t* addresses, std::uint32_t mask, unsigned bytes, Segments& out) {
  coalesce(addresses, mask, bytes, out);
  for (std::uint32_t rest = mask; rest != 0;) {
    const std::uint64_t address = addresses[std::countr_zero(rest)];
    unsigned same = 0;
    for (std::uint32_t others = rest; others != 0; others &= others - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(others));
      if (addresses[lane] != address) continue;
      ++same;
      rest &= ~(1u << lane);
    }
    Segment& segment = find_segment(out, 0, address / line_bytes);
    segment.same_address = std::max(segment.same_address, static_cast<std::uint8_t>(same));
  }
}

void coalesce_local(const std::uint64_t* offsets, std::uint32_t mask, unsigned bytes, std::uint64_t base,
                    Segments& out) {
  out.count = 0;
  const unsigned words = std::max(1u, bytes / 4);
  const unsigned part = std::min(bytes, 4u);
  std::array<std::uint64_t, lanes> addresses{};
  for (unsigned word = 0; word < words; ++word) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint64_t offset = offsets[lane];
      addresses[lane] = base + (offset / 4 + word) * line_bytes + lane * 4 + offset % 4;
    }
    coalesce_into(addresses.data(), mask, part, out);
  }
}

}  // namespace simtlab::stream
