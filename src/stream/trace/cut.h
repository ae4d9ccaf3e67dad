// A part of a trace as a smaller trace, and the first difference of two.
#pragma once

#include <optional>
#include <string>

#include "stream/trace/reader.h"
#include "stream/trace/writer.h"

namespace simtlab::stream::trace {

// Numbers from `first` on, up to and with `last`; kernels from 1 in order of their launch, blocks from 0 by
// their number in the grid.
struct Range {
  std::uint64_t first = 0, last = ~std::uint64_t{0};
  bool holds(std::uint64_t n) const { return n >= first && n <= last; }
};

// Copies the kernels of one range with their blocks of the other; other operations stay. Returns how many
// kernels and blocks were kept.
Totals cut(Reader& from, const Range& kernels, const Range& blocks, Writer& to, const volatile bool* stop);

struct Difference {
  // From 1, in the grid, in the block, from 0
  std::uint64_t kernel = 0, block = 0, warp = 0, instruction = 0;
  std::string what, first, second;  // what differs, and what each trace has
};
// nullopt: the traces hold the same kernels with the same streams. Copies and streams of the host are not
// compared.
std::optional<Difference> difference(Reader& a, Reader& b, const volatile bool* stop);

}  // namespace simtlab::stream::trace
