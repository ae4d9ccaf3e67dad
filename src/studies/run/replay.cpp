#include "studies/run/replay.h"

#include <filesystem>
#include <vector>

#include "base/error.h"
#include "stream/trace/reader.h"
#include "studies/common/temporary.h"
#include "studies/run/simulate.h"
#include "studies/trace/convert.h"
#include "timing/main_memory.h"

namespace simtlab::studies {

bool is_trace(const std::string& file) {
  return file.ends_with(".simt") || is_accelsim(file) || is_access_text(file);
}

Outcome run_trace(const std::string& file, const RunOptions& given, const OutputOptions& output) {
  const RunClock clock;
  const options::Configuration configuration = resolve(given);
  if (configuration.options.mode == "functional")
    throw Error(ExitCode::usage, "option-conflict",
                "a trace holds addresses, not values: there is nothing to execute in functional mode",
                "leave out --mode functional");
  const device::LoadedDevice device = options::load_device(configuration);
  const std::string& cubin = configuration.options.cubin;
  if (!cubin.empty() && !is_accelsim(file))
    throw Error(ExitCode::usage, "option-conflict",
                "--cubin is for Accel-Sim's traces: others have the code that ran, or none", "leave it out");
  check_inputs(output, cubin.empty() ? std::vector<std::filesystem::path>{file}
                                     : std::vector<std::filesystem::path>{file, cubin});
  check_inputs(output, files_of(configuration, device));
  const Simulation simulation{configuration, device, output, clock,
                              cubin.empty() ? hash_inputs({file}) : hash_inputs({file, cubin})};
  if (!is_accelsim(file) && !is_access_text(file)) {
    const std::unique_ptr<stream::trace::Reader> reader = stream::trace::open(file);
    return simulate(simulation, [&](gpu::Gpu& gpu, const volatile bool*) { gpu.replay(*reader); });
  }
  // Text is read once and in its order; the SMs read blocks here and there.
  const TemporaryDirectory folder;
  return simulate(simulation, [&](gpu::Gpu& gpu, const volatile bool* stop) {
    if (is_access_text(file))
      import_access_text(file, folder.path() / "trace.simt", stop);
    else
      import_accelsim(file, folder.path() / "trace.simt", cubin, stop);
    gpu.replay(*stream::trace::open(folder.path() / "trace.simt"));
  });
}

}  // namespace simtlab::studies
