#include "memory/traffic/places.h"

#include <fmt/format.h>

#include <utility>

namespace simtlab::memory::traffic {

using memory::dram::MapField;

// Levels that a technology does not have are left out, as Ramulator's standards do.
Places::Places(const memory::dram::AddressMapping& mapping) : mapping_(mapping) {
  levels_.push_back(MapField::channel);
  if (mapping.count(MapField::pseudo) > 1) levels_.push_back(MapField::pseudo);
  levels_.push_back(MapField::rank);
  if (mapping.count(MapField::group) > 1) levels_.push_back(MapField::group);
  for (const MapField field : {MapField::bank, MapField::row, MapField::column}) levels_.push_back(field);
}

std::uint64_t Places::address(const Access& access, const Source& source) const {
  const bool no_rank = access.levels + 1U == levels_.size() && mapping_.count(MapField::rank) == 1;
  if (access.levels != levels_.size() && !no_rank)
    refuse(source, fmt::format("a place of {} levels", access.levels));
  std::array<std::uint32_t, memory::dram::map_fields> values{};
  std::size_t given = 0;
  for (const MapField field : levels_) {
    if (field == MapField::rank && no_rank) continue;
    const std::uint32_t value = access.level[given++];
    if (value >= mapping_.count(field))
      refuse(source,
             fmt::format("{} {} of a memory that has {}", long_name(field), value, mapping_.count(field)));
    values[static_cast<std::size_t>(field)] = value;
  }
  const auto value = [&](MapField field) { return values[static_cast<std::size_t>(field)]; };
  const auto small = [&](MapField field) { return static_cast<std::uint8_t>(value(field)); };
  return mapping_.encode({.channel = value(MapField::channel),
                          .row = value(MapField::row),
                          .column = value(MapField::column),
                          .pseudo = small(MapField::pseudo),
                          .rank = small(MapField::rank),
                          .group = small(MapField::group),
                          .bank = small(MapField::bank)});
}

void Places::refuse(const Source& source, std::string message) const {
  Diagnostic d = source.place();
  d.message = std::move(message);
  std::string names;
  for (const MapField field : levels_)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", long_name(field));
  d.hint = fmt::format("a place in this memory is: {}{}", names,
                       mapping_.count(MapField::rank) == 1 ? "; the rank may be left out" : "");
  throw Error(ExitCode::bad_input, "trace-place", std::move(d));
}

}  // namespace simtlab::memory::traffic
