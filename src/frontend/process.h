// Sub-processes without a shell: arguments are passed as they are.
#pragma once

#include <string>
#include <vector>

namespace simtlab::frontend {

struct ProcessResult {
  int status = 0;      // exit status, or 128 + signal
  std::string output;  // what was captured
};

enum class Capture { none, output, all };   // all: standard output and standard error

// Runs argv[0] (looked up in PATH) and waits. What is not captured (at most 16 MiB are kept) is inherited. Throws
// Error(failure) if the process cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, Capture capture = Capture::none);

// The full path of a program in PATH, or empty.
std::string find_program(const std::string& name);

}  // namespace simtlab::frontend
