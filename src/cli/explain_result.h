// simtlab explain RESULT.json: why a kernel takes so long, and what lifting a limit would gain.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace simtlab::cli {

struct ExplainOptions {
  std::string kernel;               // empty: the one that takes most time
  std::vector<std::string> limits;  // --try: these instead of those that the evidence points at
  // Run the command of the file again, for what it does not hold; --try asks for it, too
  bool rerun = false;
  std::string json;  // "-": stdout; empty: text
  std::string color = "auto";
};

int explain_result(const std::string& file, const ExplainOptions& options);

}  // namespace simtlab::cli
