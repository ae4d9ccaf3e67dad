// What of simtlab is there: data, compilers, libraries; for `simtlab doctor`.
#pragma once

#include <string>
#include <vector>

namespace simtlab::cli {

struct Finding {
  enum class State { ok, optional_missing, missing } state = State::ok;
  std::string what;    // "clang"
  std::string found;   // a path, a version; or what is missing
  std::string remedy;  // empty if ok
};

// Compiles nothing and writes nothing.
std::vector<Finding> check_installation();
// Memory plug-ins: those in the folder of the variable SIMTLAB_PLUGINS and in the build's own, and the known
// ones that are in neither.
struct FoundPlugin {
  std::string name, simulator;
  std::string file;     // empty: it is not there
  std::string problem;  // why it cannot be used
};
std::vector<FoundPlugin> find_plugins();

}  // namespace simtlab::cli
