// The probes: one file each, kinds/NAME.cpp, which gives a Kind kind_NAME. A new one is a new file: the build
// makes the list (cmake/registry.cmake).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/bench.h"

namespace simtlab::probe {

struct Kind {
  std::string_view name;  // "cache"
  std::string_view doc;   // one sentence
  void (*run)(Bench&);
  // Names of the kinds whose findings it uses, separated by blanks; all of them have a lower place
  std::string_view needs;
  unsigned place = 1000;  // they run in this order: later ones size themselves by what earlier ones found
  bool single = false;    // it times single operations: the correction of the clock's cost can be chosen
};

std::span<const Kind* const> registered_kinds();  // in the order of their files' names
std::vector<const Kind*> kinds();                 // in the order in which they run

// Whether one of the chosen kinds, or of what they need, times single operations; empty: of all.
bool single_operations(std::span<const std::string> chosen);

struct Outcome {
  std::vector<std::string> failed;  // "cache: what happened", of kinds that could not be run to their end
  bool interrupted = false, lost = false;
};
// Told of each kind that begins: its name, how many ran before it, how many there are.
using Begun = std::function<void(std::string_view kind, std::size_t before, std::size_t of)>;
// Runs the chosen kinds and what they need; empty: all. What was found before an error or an interrupt stays.
Outcome run_probes(Bench& bench, std::span<const std::string> chosen, const Begun& begun = {});

}  // namespace simtlab::probe
