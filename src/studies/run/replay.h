// Simulating a recorded trace.
#pragma once

#include <string>

#include "studies/common/options.h"
#include "studies/common/output.h"
#include "studies/run/observe.h"
#include "studies/run/simulate.h"

namespace simtlab::studies {

// Whether the file is a trace by its name: *.simt, kernelslist.g, *.traceg, *.traceg.xz.
bool is_trace(const std::string& file);
// Replays. Throws Error.
Outcome run_trace(const std::string& file, const RunOptions& given, const OutputOptions& output);

}  // namespace simtlab::studies
