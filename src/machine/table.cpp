#include "machine/table.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace simtlab::machine {
namespace {

constexpr std::uint16_t last_generation = 90;

}  // namespace

void Row::wrong(const std::string& what) const {
  throw Error(ExitCode::bad_input, "machine-forms",
              Diagnostic{.message = what,
                         .pos = {std::string(file), line, 1},
                         .text = std::string(text),
                         .hint = "data/machine/README.md says how the tables are written"});
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(mark, begin);
    std::string_view part = text.substr(begin, end == std::string_view::npos ? end : end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::optional<unsigned> number(std::string_view text, int base) {
  unsigned value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

unsigned number_of(const Row& row, std::string_view text, unsigned below, int base) {
  const std::optional<unsigned> value = number(text, base);
  if (!value || *value >= below) row.wrong(fmt::format("'{}' is no number below {}", text, below));
  return *value;
}

std::pair<std::uint16_t, std::uint16_t> generations_of(const Row& row, std::string_view text) {
  const auto of = [&](std::string_view t) { return static_cast<std::uint16_t>(number_of(row, t, 1000)); };
  if (text.ends_with('+')) return {of(text.substr(0, text.size() - 1)), last_generation};
  const std::vector<std::string_view> ends = split(text, '-');
  return {of(ends.front()), of(ends.back())};
}

}  // namespace simtlab::machine
