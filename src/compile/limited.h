// Running a program of the user's that nobody vouches for: in a folder, with limits of time and resources,
// its output kept apart.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace simtlab::compile {

struct LimitedRun {
  std::vector<std::string> argv;
  std::filesystem::path folder;                                  // that it runs in
  std::vector<std::pair<std::string, std::string>> environment;  // besides the caller's
  double seconds = 60;                                           // then it and all it started are killed
  std::uint64_t memory_bytes = 0;                                // of address space; 0: no limit
};
struct LimitedResult {
  int status = 0;  // exit status, or 128 + signal
  bool timed_out = false;
  std::string errors;  // the end of what it wrote to stderr
};
// Standard input is empty, standard output thrown away. Throws Error(failure) if the program can't be
// started.
LimitedResult run_limited(const LimitedRun& run);

// Words of a command line as a shell splits them (blanks, quotes, backslashes), without anything else that a
// shell does. Throws Error(usage).
std::vector<std::string> split_words(const std::string& text);

}  // namespace simtlab::compile
