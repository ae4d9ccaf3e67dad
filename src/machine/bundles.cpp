#include "machine/bundles.h"

#include <cstring>

namespace simtlab::machine {
namespace {

std::uint64_t half_at(Bytes code, std::uint64_t at) {
  std::uint64_t out = 0;
  std::memcpy(&out, code.data() + at, sizeof out);
  return out;
}

}  // namespace

Word word_at(unsigned generation, Bytes code, std::uint64_t i) {
  if (!in_bundles(generation))
    return {half_at(code, i * word_bytes), half_at(code, i * word_bytes + bundled_bytes)};
  const std::uint64_t bundle = i / instructions_a_bundle * bundle_bytes, slot = i % instructions_a_bundle;
  const std::uint64_t control = half_at(code, bundle) >> bundled_control_bits * slot;
  constexpr std::uint64_t mask = (std::uint64_t{1} << bundled_control_bits) - 1;
  return {half_at(code, bundle + bundled_bytes * (1 + slot)), (control & mask) << (first_control_bit - 64)};
}

std::optional<std::uint64_t> instruction_at(unsigned generation, std::uint64_t byte) {
  if (!in_bundles(generation)) {
    if (byte % word_bytes != 0) return std::nullopt;
    return byte / word_bytes;
  }
  if (byte % bundled_bytes != 0 || byte % bundle_bytes == 0) return std::nullopt;
  return byte / bundle_bytes * instructions_a_bundle + byte % bundle_bytes / bundled_bytes - 1;
}

}  // namespace simtlab::machine
