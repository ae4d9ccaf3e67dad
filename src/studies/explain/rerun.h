// Repeating the run of a result file, with other options of our own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "result/metrics.h"
#include "studies/common/command.h"

namespace simtlab::studies {

// The same run without what it wrote and printed: arguments after the program's name. Empty: no `run`.
std::vector<std::string> repeatable_arguments(const Command& tool, const std::vector<std::string>& words);

// Any command that has a result, without the files that it wrote; what decides the content of the result
// stays. Empty: no such command.
std::vector<std::string> same_arguments(const Command& tool, const std::vector<std::string>& words);

// Throws Error(check_failed "input-changed") if an input of the run is not what it was, or is gone.
void check_inputs_unchanged(const result::Manifest& manifest);

class Rerun {
 public:
  // Throws Error(bad_input "explain-result") if the result cannot be repeated: it says no command, or none of
  // `run`.
  enum class What : std::uint8_t {
    run,  // as `explain` needs it: a `run`, without its observers
    // As `rerun` needs it: any command, with all that decides its result, even a run that failed
    everything,
  };
  Rerun(const Command& tool, const result::Manifest& manifest, What what = What::run);

  // What is run, after the program's name.
  const std::vector<std::string>& arguments() const { return arguments_; }

  // Runs it again with these arguments more and returns the result. Throws Error: "rerun-failed" with what it
  // said, "rerun-differs" if the effective configuration is not that of the manifest.
  result::Result run(const std::string& what_if, bool lines) const;

 private:
  const result::Manifest& manifest_;
  std::vector<std::string> arguments_;
  What what_;
  std::string lifted_;  // limits that the original run lifted, separated by commas; empty: none
};

}  // namespace simtlab::studies
