// The pictures of a cache study.
#pragma once

#include <string>

#include "cli/cache_variants.h"

namespace simtlab::cli {

// Runs the study, writes the report as usual and the pictures to `folder`. Returns the exit code or throws
// Error.
int plot_study(const Run& run, const Target& target, const std::string& folder);

}  // namespace simtlab::cli
