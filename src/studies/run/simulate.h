// A simulation in this process, from the GPU to the report.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "studies/common/manifest.h"
#include "studies/common/options.h"
#include "studies/common/outcome.h"
#include "studies/common/output.h"
#include "studies/run/observe.h"

namespace simtlab::studies {

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

// Does the work. What was done before it was stopped is in the outcome, too. Throws Error where nothing was.
Outcome simulate(const Simulation& simulation, const Work& work);

}  // namespace simtlab::studies
