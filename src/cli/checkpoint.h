// --checkpoint, --checkpoint-every and --resume.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "gpu/checkpoint.h"
#include "result/run_config.h"

namespace simtlab::cli {

struct CheckpointWish {
  std::string write, resume;  // as typed; empty: none
  std::optional<std::string> every;
};

void add_checkpoint_options(CLI::App& command, CheckpointWish& wish);

// With --record and --timeline it does not go together: launches that are not run again leave nothing there.
// Looks at the file to resume, too. Throws Error(usage), Error(bad_input).
void check(const CheckpointWish& wish, bool recorded, bool timeline);

void add_to(result::RunConfig& config, const CheckpointWish& wish);  // absolute paths
// For a run in this process.
gpu::CheckpointOptions checkpoint_options(const CheckpointWish& wish,
                                          const device::Configuration& configuration,
                                          const device::LoadedDevice& device);

}  // namespace simtlab::cli
