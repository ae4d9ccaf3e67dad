#include "studies/explain/exit_codes.h"

namespace simtlab::studies {

const std::vector<ExitCodeText>& exit_codes() {
  static const std::vector<ExitCodeText> all = {
      {0, "ok", "success"},
      {1, "failure", "run-time failure of the tool or the host: I/O, memory, a limit that was set"},
      {2, "usage", "wrong command line"},
      {3, "bad_input", "bad input file or configuration"},
      {4, "unsupported", "valid, but a feature that simtlab does not have"},
      {5, "program_failed",
       "the simulated program failed: out of bounds, deadlock, wrong result, non-zero exit status"},
      {6, "check_failed", "a check that was asked for did not hold"},
      {7, "unavailable", "a device, a permission or a compiler is missing"},
      {8, "findings",
       "`check` found errors in the program that neither a suppression nor the baseline names"},
      {130, "interrupted", "stopped by Ctrl-C or a signal; a partial result was written and marked"},
  };
  return all;
}

}  // namespace simtlab::studies
