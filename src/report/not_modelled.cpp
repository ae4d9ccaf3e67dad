#include "report/not_modelled.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "base/shown.h"

namespace simtlab::report {
namespace {

constexpr std::size_t most_in_full = 4;

struct Id {
  std::string_view part;           // "D-TIMING-"
  std::optional<unsigned> number;  // none: an identifier of another form, "D-EXEC-A1"
};

Id split(std::string_view id) {
  const std::size_t dash = id.rfind('-');
  unsigned number = 0;
  const char* const end = id.data() + id.size();
  if (dash == std::string_view::npos) return {id, std::nullopt};
  const auto [stop, error] = std::from_chars(id.data() + dash + 1, end, number);
  if (error != std::errc{} || stop != end) return {id, std::nullopt};
  return {id.substr(0, dash + 1), number};
}

// Neighbours of one part are written without it, and three or more numbers in a row as a range.
std::string joined(const std::vector<std::string>& ids) {
  std::string out;
  std::string_view part;
  for (std::size_t i = 0; i < ids.size();) {
    const Id first = split(ids[i]);
    std::size_t after = i + 1;
    while (first.number && after < ids.size()) {
      const Id next = split(ids[after]);
      if (next.part != first.part || !next.number || *next.number != *first.number + (after - i)) break;
      ++after;
    }
    if (after - i < 3) after = i + 1;
    const bool named = first.number && first.part == part;
    out += out.empty() ? "" : ", ";
    out += named ? fmt::format("{}", *first.number) : printable(ids[i]);
    if (after - i > 1) out += fmt::format(" to {}", *first.number + (after - i) - 1);
    part = first.number ? first.part : std::string_view{};
    i = after;
  }
  return out;
}

}  // namespace

std::string not_modelled_text(const std::vector<std::string>& ids) {
  if (ids.empty()) return {};
  const std::string how = fmt::format("(`simtlab explain {}` says what {} is)", printable(ids.front()),
                                      ids.size() == 1 ? "it" : "the first");
  if (ids.size() > most_in_full)
    return fmt::format("{} deviations from hardware: {} {}", ids.size(), joined(ids), how);
  std::string out;
  for (const std::string& id : ids) out += (out.empty() ? "" : ", ") + printable(id);
  return out + " " + how;
}

}  // namespace simtlab::report
