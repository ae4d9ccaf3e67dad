// A command in somebody else's program: no print, no exit, no signal handler; several at once.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace CLI {
class App;
}

namespace simtlab::cli {

struct Executed {
  std::string output;        // what the tool would have printed on stdout
  std::string messages;      // and on stderr: notes, what the simulated program printed
  int code = 0;              // as docs/reference/exit-codes.md lists them
  std::vector<Error> error;  // at most one: what the command threw
};

struct Watch {
  // In the caller's thread, every `interval`: what is being done ("simulating", may be empty), how far it is
  // (may be empty) and for how long. False stops the command.
  std::function<bool(const std::string& activity, const std::string& detail, double seconds)> look;
  std::chrono::milliseconds interval{100};
};

// Runs the command in a thread of its own. What `look` throws stops it and is passed on, and so is what is no
// Error.
Executed execute(const std::vector<std::string>& words, const Watch& watch);

// Throws Error(usage) for commands that make no sense in somebody else's program: they replace the process,
// or serve a terminal.
void check_embedded(const CLI::App& command);

// The commands and options as JSON, for bindings: docs/guide/library.md.
std::string tree_json();

}  // namespace simtlab::cli
