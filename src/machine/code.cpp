#include "machine/code.h"

#include <algorithm>

namespace simtlab::machine {

std::optional<std::uint32_t> Code::index_of(std::uint64_t address) const {
  if (address % word_bytes != 0) return std::nullopt;
  if (address / word_bytes < instructions.size()) return static_cast<std::uint32_t>(address / word_bytes);
  const auto behind = std::ranges::upper_bound(functions, address, {}, &FunctionPlace::address);
  if (behind == functions.begin()) return std::nullopt;
  const FunctionPlace& f = *std::prev(behind);
  const std::uint64_t offset = (address - f.address) / word_bytes;
  if (offset >= f.instructions) return std::nullopt;
  return f.first + static_cast<std::uint32_t>(offset);
}

}  // namespace simtlab::machine
