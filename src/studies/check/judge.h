// What counts of what was found: filters by kernel, suppressions, the baseline.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/check.h"
#include "studies/check/suppressions.h"

namespace simtlab::studies {

struct Judging {
  std::vector<std::string> kernels, without_kernels;  // patterns
  std::vector<Suppression> suppressions;
  std::optional<std::set<std::string>> baseline;
  result::Level fails_from = result::Level::error;
  double coverage_min = 0;
};

// Takes findings of kernels that the patterns leave out from the result, too.
report::CheckReport judge(result::Result& result, const Judging& judging);

}  // namespace simtlab::studies
