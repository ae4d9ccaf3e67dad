// A simulation in this process, from the GPU to the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/manifest.h"
#include "cli/observe.h"
#include "cli/options.h"
#include "gpu/gpu.h"

namespace simtlab::cli {

struct Simulation {
  const options::Configuration& configuration;
  const device::LoadedDevice& device;
  const OutputOptions& output;
  const RunClock& clock;
  std::vector<result::InputHash> inputs;
  std::function<void(result::Result&)> add{};  // what else belongs into the result
};

// What happens on the GPU; `stop` is set when the user or the time limit ends it.
using Work = std::function<void(gpu::Gpu& gpu, const volatile bool* stop)>;

// Does the work and writes the report to stdout, a partial one if it was stopped. Returns the exit code or
// throws Error.
int simulate(const Simulation& simulation, const Work& work);

}  // namespace simtlab::cli
