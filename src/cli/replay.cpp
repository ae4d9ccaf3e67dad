#include "cli/replay.h"

#include "base/error.h"
#include "cli/output.h"
#include "cli/simulate.h"
#include "stream/trace/reader.h"
#include "timing/main_memory.h"

namespace simtlab::cli {

bool is_trace(const std::string& file) { return file.ends_with(".simt"); }

int run_trace(const std::string& file, const RunOptions& options, const OutputOptions& output, const std::string& record) {
  const RunClock clock;
  const device::Configuration configuration = resolve(options);
  if (configuration.options.mode != "timing")
    throw Error(ExitCode::usage, "option-conflict", "a trace holds addresses, not values: there is nothing to execute in functional mode",
                "leave out --mode functional");
  const device::LoadedDevice device = device::load_device(configuration);
  check_inputs(output, {file});
  check_inputs(output, files_of(configuration, device));
  const std::unique_ptr<stream::trace::Reader> reader = stream::trace::open(file);
  const Simulation simulation{configuration, device, output, clock, hash_inputs({file}), record};
  return simulate(simulation, [&](gpu::Gpu& gpu, const volatile bool*) { gpu.replay(*reader); });
}

}  // namespace simtlab::cli
