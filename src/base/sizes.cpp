#include "base/sizes.h"

#include <fmt/format.h>

#include <charconv>

namespace simtlab {

std::optional<std::uint64_t> whole_number(std::string_view text, bool& scaled) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 53;
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  scaled = !unit.empty();
  if (unit.empty()) return out <= largest ? std::optional(out) : std::nullopt;
  const std::size_t power = std::string_view("KMG").find(unit[0]);
  if (unit.size() > 1 || power == std::string_view::npos || out > (1u << 30)) return std::nullopt;
  return out << (10 * (power + 1));
}

std::string short_size(std::uint64_t n, bool kilo) {
  return kilo && n % 1024 == 0 ? fmt::format("{}K", n / 1024) : fmt::format("{}", n);
}

std::string with_unit(std::string value) {
  if (bool scaled = false; !whole_number(value, scaled) || !scaled) return value;
  const char unit = value.back();
  value.pop_back();
  return fmt::format("{} {}iB", value, unit);
}

std::vector<std::string> parse_doublings(const std::string& first, const std::string& last,
                                         bool& understood) {
  bool kilo = false, other = false;
  const auto from = whole_number(first, kilo), to = whole_number(last, other);
  understood = from && to && *from > 0 && *to > 0;
  std::vector<std::string> out;
  if (understood)
    for (std::uint64_t n = *from; n <= *to; n *= 2) out.push_back(short_size(n, kilo));
  return out;
}

}  // namespace simtlab
