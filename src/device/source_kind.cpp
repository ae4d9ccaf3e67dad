#include "device/source_kind.h"

#include <array>

namespace simtlab::device {
namespace {

constexpr std::array<std::string_view, source_kinds> kind_names = {"measured", "vendor",   "simulator",
                                                                   "derived",  "unstated", "estimated"};
constexpr std::size_t stated = static_cast<std::size_t>(SourceKind::unstated);

}  // namespace

std::string_view name_of(SourceKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<SourceKind> stated_kind(std::string_view word) {
  for (std::size_t i = 0; i < stated; ++i)
    if (kind_names[i] == word) return static_cast<SourceKind>(i);
  return std::nullopt;
}

std::string stated_kinds() {
  std::string out;
  for (std::size_t i = 0; i < stated; ++i) {
    if (i > 0) out += ", ";
    out += kind_names[i];
  }
  return out;
}

}  // namespace simtlab::device
