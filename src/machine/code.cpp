#include "machine/code.h"

#include <algorithm>

#include "machine/bundles.h"

namespace simtlab::machine {

std::optional<std::uint32_t> Code::index_of(std::uint64_t address) const {
  const auto number_of = [&](std::uint64_t byte) -> std::optional<std::uint64_t> {
    if (in_bundles(generation) && byte % bundle_bytes == 0) byte += bundled_bytes;
    return instruction_at(generation, byte);
  };
  if (address < function_window) {
    const std::optional<std::uint64_t> number = number_of(address);
    if (!number) return std::nullopt;
    if (*number < instructions.size()) return static_cast<std::uint32_t>(*number);
  }
  const auto behind = std::ranges::upper_bound(functions, address, {}, &FunctionPlace::address);
  if (behind == functions.begin()) return std::nullopt;
  const FunctionPlace& f = *std::prev(behind);
  const std::optional<std::uint64_t> offset = number_of(address - f.address);
  if (!offset || *offset >= f.instructions) return std::nullopt;
  return f.first + static_cast<std::uint32_t>(*offset);
}

}  // namespace simtlab::machine
