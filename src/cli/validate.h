// What `simtlab validate` prints.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "result/metrics.h"
#include "validate/curves.h"
#include "validate/kernels.h"

namespace simtlab::cli {

struct ValidationReport {
  std::vector<validate::Comparison> curves;
  std::vector<validate::KernelRow> kernels;
  std::vector<validate::KernelRow> peers;   // `measured` is another simulator's figure: no truth, so no target
};

// Markdown, as docs/validation.md carries it. all: every point.
std::string text_of(const ValidationReport& report, bool all);
result::Result result_of(const ValidationReport& report);
std::vector<std::string> missed_targets(const ValidationReport& report);

// The end of a validation: the result as JSON and CSV, the text with the targets that were missed. Returns the exit code; with `check` throws
// Error(check_failed, "validate-target") if there are any.
int end_validation(const result::Result& result, std::string text, const std::vector<std::string>& misses, bool check, const OutputOptions& output);

}  // namespace simtlab::cli
