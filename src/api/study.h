// A study in somebody else's program: no print, no exit, no signal handler; several at once.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "studies/common/command.h"

namespace simtlab::api {

// What is asked, by the names that the command line has.
struct Asked {
  std::string study;                // "corun interfere"
  std::vector<std::string> inputs;  // sources and flags of the compiler, a kernel, a trace
  std::vector<std::pair<std::string, std::string>> options;  // of one that is repeated: one after another
  std::optional<std::vector<std::string>> program;
};

struct Answered {
  studies::Outcome outcome;
  std::string messages;        // notes, what the simulated program printed
  std::optional<Error> error;  // what was thrown in place of an outcome, or could not be written
};

struct Watch {
  // In the caller's thread, every `interval`: what is being done ("simulating", may be empty), how far it is
  // (may be empty) and for how long. False stops the study.
  std::function<bool(const std::string& activity, const std::string& detail, double seconds)> look;
  std::chrono::milliseconds interval{100};
};

// Does it in a thread of its own. What `look` throws stops it and is passed on, and so is what is no Error.
Answered answer(const Asked& asked, const Watch& watch);

// The commands and options as JSON, for bindings: docs/guide/library.md.
std::string commands_as_json();

}  // namespace simtlab::api
