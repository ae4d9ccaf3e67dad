#include "cli/kernel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "gpu/gpu.h"
#include "runtime/launch_runner.h"

namespace simtlab::cli {
namespace {

constexpr std::uint64_t max_ptx_bytes = std::uint64_t{256} << 20;

gpu::Options gpu_options(const device::ToolOptions& o, const Signals& signals) {
  gpu::Options out;
  out.mode = o.mode == "functional" ? gpu::Mode::functional : gpu::Mode::timing;
  out.max_cycles = o.max_cycles;
  out.max_memory_bytes = o.max_memory;
  out.registers_override = static_cast<std::uint32_t>(o.registers);
  out.threads = static_cast<unsigned>(o.threads);
  out.interrupt = signals.flag();
  out.print = [](std::string_view text) { talk(text); };  // stdout is the report
  return out;
}

// Both a signal and the time limit stop the simulation as an interruption; the user is told which it was.
Error what_ended_it(const Error& error, const Signals& signals, const device::ToolOptions& o) {
  if (error.code() != ExitCode::interrupted) return error;
  if (signals.timed_out()) return time_limit(o, error.diagnostics().front().message);
  return error;
}

bool has_partial_result(const Error& error) {
  return error.code() == ExitCode::interrupted || error.code() == ExitCode::program_failed ||
         error.id().starts_with("limit-");
}

// What is read once: a pipe gives its text only once.
struct Inputs {
  std::string ptx, launch_text;
  frontend::LaunchSpec launch;
};

Inputs read_inputs(const KernelRun& run) {
  Inputs out;
  frontend::LaunchSpec base;
  if (!run.launch_file.empty()) {
    out.launch_text = read_file(run.launch_file, frontend::max_launch_file_bytes, "launch file");
    base = frontend::parse_launch_file(out.launch_text, run.launch_file);
  }
  out.launch = frontend::launch_from_options(run.launch, std::move(base));
  out.ptx = read_file(run.file, max_ptx_bytes, "PTX file");
  return out;
}

void check_kernel_inputs(const OutputOptions& output, const KernelRun& run,
                         const frontend::LaunchSpec& launch) {
  std::vector<std::filesystem::path> files = {run.file};
  if (!run.launch_file.empty()) files.emplace_back(run.launch_file);
  for (const frontend::LaunchArg& a : launch.args)
    if (!a.contents.file.empty()) files.push_back(a.contents.file);
  for (const frontend::Expectation& e : launch.expect)
    if (!e.contents.file.empty()) files.push_back(e.contents.file);
  check_inputs(output, files);
}

}  // namespace

int run_kernel(const KernelRun& run, const RunOptions& options, const OutputOptions& output) {
  const RunClock clock;
  const device::Configuration configuration = resolve(options);
  const device::ToolOptions& tool = configuration.options;
  const device::LoadedDevice device = device::load_device(configuration);
  const Inputs inputs = read_inputs(run);
  check_kernel_inputs(output, run, inputs.launch);
  check_inputs(output, files_of(configuration, device));

  const Signals signals(tool.max_time_ns * 1e-9);
  gpu::Gpu gpu(device.device, gpu_options(tool, signals));
  const gpu::ModuleId module = gpu.load_module(run.file, inputs.ptx);
  std::optional<Error> failure;
  std::string where;
  try {
    const Progress progress("simulating", output.quiet);
    runtime::run_launch(inputs.launch, module, gpu, tool.seed, signals.flag());
  } catch (const Error& e) {
    if (e.code() == ExitCode::interrupted) where = e.diagnostics().front().message;
    failure = what_ended_it(e, signals, tool);
    if (!has_partial_result(*failure)) throw;
  }

  result::Result result = gpu.result();
  result::Manifest& m = result.manifest;
  m.device = device.device.name;
  m.mode = tool.mode;
  m.seed = tool.seed;
  m.inputs = {{run.file, hash_bytes(inputs.ptx)}};
  if (!run.launch_file.empty()) m.inputs.push_back({run.launch_file, hash_bytes(inputs.launch_text)});
  m.configuration = configuration_of(configuration, device);
  if (failure) {
    m.stopped_at = where;
    m.interrupted = failure->code() == ExitCode::interrupted;
    m.failure = failure->format();
    m.failure_id = failure->id();
    m.failure_code = static_cast<int>(failure->code());
  }
  clock.finish(result);
  write_outputs(result, output, STDOUT_FILENO);
  if (failure) throw *failure;
  return 0;
}

}  // namespace simtlab::cli
