// What kind of origin a value of a data file has: a source's own, as [sources] says, or that of an estimate.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace simtlab::device {

enum class SourceKind : unsigned char {
  measured,   // on a board
  vendor,     // the maker's specification, guide, tool or standard
  simulator,  // another simulator's setting: chosen or tuned, not measured
  derived,    // calculated from values that have a source
  unstated,   // a source that does not say what it is
  estimated,  // no source: the file says why the value is reasonable
  count_
};
inline constexpr std::size_t source_kinds = static_cast<std::size_t>(SourceKind::count_);

std::string_view name_of(SourceKind kind);
// What [sources] may say: every kind but unstated and estimated; nullopt for other words.
std::optional<SourceKind> stated_kind(std::string_view word);
// "measured, vendor, ...": for hints.
std::string stated_kinds();

}  // namespace simtlab::device
