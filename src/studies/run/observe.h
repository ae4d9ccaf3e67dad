// What a run collects besides metrics: source lines, series, timelines.
#pragma once

#include "result/metrics.h"
#include "studies/common/options.h"

namespace simtlab::studies {

// Options of a timeline that go with none, and one that has no file. Throws Error(usage).
void check_observation(const RunOptions& given);

// Fills in the text of source lines whose files are still there.
void add_source_texts(result::Result& result);

}  // namespace simtlab::studies
