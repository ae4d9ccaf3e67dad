// Entries of a registry: what a source file gives, under the name of the file. The lists are made by the
// build (cmake/registry.cmake).
#pragma once

#include <span>
#include <string_view>

namespace simtlab {

template <class Entry>
struct Named {
  std::string_view name;
  const Entry* entry;
};

// Null if there is none.
template <class Entry>
const Entry* find_named(std::span<const Named<Entry>> all, std::string_view name) {
  for (const Named<Entry>& one : all)
    if (one.name == name) return one.entry;
  return nullptr;
}

}  // namespace simtlab
