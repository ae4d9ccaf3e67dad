// What `simtlab validate` prints.
#pragma once

#include <string>
#include <vector>

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

}  // namespace simtlab::cli
