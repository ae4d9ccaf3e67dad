// One process of a suite - a build or a run - under limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::studies {

struct Step {
  std::vector<std::string> argv;         // argv[0]: a path
  std::filesystem::path folder;          // that it runs in
  std::filesystem::path output, errors;  // files for what it prints; the same file: both together
  std::vector<std::string>
      environment;  // NAME=value, instead of the caller's of that name; "NAME" removes it
  double seconds = 0;
  std::uint64_t memory_bytes = 0, output_bytes = 0;
};

struct StepEnd {
  enum class Stopped : std::uint8_t { no, time, memory, output, wish } stopped = Stopped::no;
  int status = 0;  // exit status, or 128 + signal
  double seconds = 0;
};

// Waits for it. When it ends, or a limit or *stop is reached, it and all that it started are ended: SIGTERM,
// then SIGKILL; processes that left its group are known by a variable in their environment. Throws
// Error(failure, "process") if it can't be started.
StepEnd run_step(const Step& step, const volatile bool* stop);

}  // namespace simtlab::studies
