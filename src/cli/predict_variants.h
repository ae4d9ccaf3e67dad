// Predictions of one kernel or program on several GPUs, with several launches or settings.
#pragma once

#include <string>
#include <vector>

#include "cli/cache_variants.h"
#include "cli/run.h"

namespace simtlab::cli {

// GPUs are those of --gpu, with commas between; axes: "block=32:1024", "regs=32,64", a device key. Writes a table with the time of every model,
// JSON and CSV. Returns the exit code or throws Error.
int predict_variants(const Run& run, const Target& target, const std::vector<std::string>& axes);

}  // namespace simtlab::cli
