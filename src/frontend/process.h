// Sub-processes without a shell: arguments are passed as they are.
#pragma once

#include <string>
#include <vector>

namespace simtlab::frontend {

struct ProcessResult {
  int status = 0;      // exit status, or 128 + signal
  std::string output;  // standard output, if captured
};

// Runs argv[0] (looked up in PATH) and waits. Standard error is inherited; standard output is inherited or
// captured (at most 16 MiB are kept). Throws Error(failure) if the process cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, bool capture = false);

// The full path of a program in PATH, or empty.
std::string find_program(const std::string& name);

}  // namespace simtlab::frontend
