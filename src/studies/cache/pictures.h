// The pictures of a cache study.
#pragma once

#include <string>

#include "studies/cache/variants.h"
#include "studies/common/command.h"

namespace simtlab::studies {

// Runs the study and writes the pictures to `folder`. Throws Error.
Outcome plot_study(const Run& run, const Call& call, const std::string& folder);

}  // namespace simtlab::studies
