#include "device/set_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::device {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw Error(
      ExitCode::bad_input, "config-value", fmt::format("'{}' are no address bits: {}", shown(text, 60), what),
      "different bits of an address, 0 to 63, lowest of the set number first, for example \"7 8 9 10 13\"");
}

}  // namespace

std::vector<unsigned> parse_set_bits(std::string_view text) {
  std::vector<unsigned> bits;
  if (text == "none") return bits;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    const char* const end = text.data() + text.size();
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    unsigned bit = 0;
    const auto [after, error] = std::from_chars(at, end, bit);
    if (error != std::errc{} || bit > 63)
      refuse(text, fmt::format("unexpected '{}'", shown(std::string_view(at, end), 20)));
    if (std::ranges::find(bits, bit) != bits.end())
      refuse(text, fmt::format("bit {} stands there twice", bit));
    bits.push_back(bit);
    at = after;
  }
  if (bits.empty()) refuse(text, "there is none");
  return bits;
}

}  // namespace simtlab::device
