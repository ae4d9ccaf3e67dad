#include "studies/run/simulate.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "gpu/run_options.h"
#include "studies/common/host.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"

namespace simtlab::studies {
namespace {

gpu::Options gpu_options(const options::Options& o, const device::LoadedDevice& device,
                         const Signals& signals) {
  gpu::Options out = gpu::options_of(o);
  out.interrupt = signals.flag();
  out.record = o.record;
  out.schedule = o.schedule;
  out.checkpoint = gpu::checkpoint_of(o, device);
  // stdout is the report. The simulation's threads print, too: they don't know whom this one serves.
  out.print = [served = host()](std::string_view text) {
    served != nullptr ? served->add_message(text) : pass_on(text);
  };
  if (o.memory_errors == "report")
    out.on_outside = [served = host()](const std::string& message) {
      const std::string text = fmt::format("warning: {}\n", message);
      served != nullptr ? served->add_message(text) : talk(text);
    };
  return out;
}

// Both a signal and the time limit stop the simulation as an interruption; the user is told which it was.
Error what_ended_it(const Error& error, const Signals& signals, const options::Options& o) {
  if (error.code() != ExitCode::interrupted) return error;
  const std::string& where = error.diagnostics().front().message;
  if (signals.timed_out()) return time_limit(o, where);
  return {ExitCode::interrupted, "interrupted", "interrupted" + at_place(where),
          "the result covers what ran until then"};
}

bool has_partial_result(const Error& error, const gpu::Gpu& gpu) {
  // A real board that failed when the simulated half was done.
  if (error.id().starts_with("board-")) return !gpu.result().kernels.empty();
  // A trace or a checkpoint that can't be written on: what ran is not lost for it.
  return error.code() == ExitCode::interrupted || error.code() == ExitCode::program_failed ||
         error.id().starts_with("limit-") || (error.id() == "file-write" && !gpu.result().kernels.empty());
}

}  // namespace

Outcome simulate(const Simulation& simulation, const Work& work) {
  const options::Options& tool = simulation.configuration.options;
  narrate_setup(simulation.output, simulation.configuration, simulation.device, simulation.inputs);
  const Signals signals(tool.max_time_ns * 1e-9);
  gpu::Options gpu_settings = gpu_options(tool, simulation.device, signals);
  auto& traits = gpu_settings.checkpoint.run;
  for (const result::InputHash& input : simulation.inputs)
    traits.emplace_back("the hash of input " + std::to_string(traits.size()), input.xxh64);
  Pulse pulse;
  if (Progress::wanted(simulation.output, false)) gpu_settings.pulse = &pulse;
  gpu::Gpu gpu(simulation.device.device, gpu_settings);
  std::optional<Error> failure;
  std::string where;
  try {
    Progress progress(tool.mode == "predict" ? "predicting" : "simulating", simulation.output,
                      {gpu_settings.pulse, false, simulation.device.device.name, tool.mode});
    try {
      work(gpu, signals.flag());
      progress.end("done");
    } catch (const Error& e) {
      progress.end(e.diagnostics().front().message);
      throw;
    }
  } catch (const Error& e) {
    if (e.code() == ExitCode::interrupted) where = e.diagnostics().front().message;
    failure = what_ended_it(e, signals, tool);
    if (!has_partial_result(*failure, gpu)) throw;
  }
  Writing writing;
  writing([&] { gpu.finish_recording(); });
  writing([&] { gpu.finish_checkpoint(!failure); });

  result::Result result = gpu.result();
  result::Manifest& m = result.manifest;
  m.device = simulation.device.device.name;
  m.mode = tool.mode;
  m.seed = tool.seed;
  m.inputs = simulation.inputs;
  m.configuration = configuration_of(simulation.configuration, simulation.device);
  if (failure) {
    m.stopped_at = where;
    note_stop(m, *failure);
  }
  if (simulation.add) simulation.add(result);
  simulation.clock.finish(result);
  add_source_texts(result);
  if (!tool.timeline.empty()) writing([&] { result::write_timeline(tool.timeline, gpu.timeline()); });
  if (tool.sm_timeline) result::add_sm_timeline(result, gpu.timeline());
  Outcome out(std::move(result), simulation.output);
  if (writing.failed()) out.unwritten.push_back(*writing.failed());
  out.failure = std::move(failure);
  return out;
}

}  // namespace simtlab::studies
