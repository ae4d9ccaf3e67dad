// simtlab explain RESULT.json: why a kernel takes so long, and what lifting a limit would gain.
#pragma once

#include <string>
#include <vector>

#include "studies/common/command.h"

namespace simtlab::studies {

struct ExplainOptions {
  std::string kernel;               // empty: the one that takes most time
  std::vector<std::string> limits;  // --try: these instead of those that the evidence points at
  // Run the command of the file again, for what it does not hold; --try asks for it, too
  bool rerun = false;
  std::string json;  // "-": stdout; empty: text
};

// tool: whose command lines results state.
Outcome explain_result(const Command& tool, const std::string& file, const ExplainOptions& options);

}  // namespace simtlab::studies
