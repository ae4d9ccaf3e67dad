// Memory simulators of others whose adapters are part of simtlab: where they are, how each is built and
// named.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace simtlab::device {

struct KnownPlugin {
  std::string_view name;       // of the adapter: NAME.so
  std::string_view simulator;  // as its authors call it
  std::string_view address;    // to clone from
  std::string_view commit;     // that the adapter was tested with
  std::string_view build;      // in the clone: makes the library that the adapter needs
  std::string_view variable;   // of CMake, which gets the clone's folder
  std::string_view config;     // an example of the text after ?config=
};

std::span<const KnownPlugin> known_plugins();
// What to do to have it.
std::string how_to_get(const KnownPlugin& plugin);
// "--dram plugin:FOLDER/NAME.so?config=...".
std::string how_to_name(const KnownPlugin& plugin, std::string_view file);
// A hint for a name that is no technology, but a simulator's in any spelling; empty: it is none of them.
std::string plugin_hint(std::string_view name);

}  // namespace simtlab::device
