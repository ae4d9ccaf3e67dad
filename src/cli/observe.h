// Options of a run that collect more than metrics: source lines, series, timelines.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "result/run_config.h"
#include "timing/timing.h"

namespace simtlab::cli {

struct ObserveOptions {
  bool lines = false, sm_timeline = false;
  std::optional<std::string> series, timeline, window, sm;  // as typed
};

void add_observe_options(CLI::App& command, ObserveOptions& options);

// What they ask for. Throws Error(usage) for what makes no sense together.
struct Observation {
  timing::Observe observe;
  std::string timeline;  // absolute path; empty: none
};
Observation observation(const ObserveOptions& options, const device::ToolOptions& tool);
void add_to(result::RunConfig& config, const Observation& observation);

// Fills in the text of source lines whose files are still there.
void add_source_texts(result::Result& result);

}  // namespace simtlab::cli
