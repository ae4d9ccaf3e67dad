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

}  // namespace simtlab::cli
