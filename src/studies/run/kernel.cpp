#include "studies/run/kernel.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "hosts/cuda/board_launch.h"
#include "hosts/cuda/launch_runner.h"
#include "ptx/module.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"
#include "studies/run/kernel_source.h"
#include "studies/run/simulate.h"

namespace simtlab::studies {
namespace {

// What is read once: a pipe gives its text only once.
struct Inputs {
  KernelSource source;
  std::string launch_text;
  compile::LaunchSpec launch;
};

Inputs read_inputs(const KernelRun& run, const device::Device& device, const OutputOptions& output) {
  Inputs out;
  compile::LaunchSpec base;
  if (!run.launch_file.empty()) {
    out.launch_text = read_file(run.launch_file, compile::max_launch_file_bytes, "launch file");
    base = compile::parse_launch_file(out.launch_text, run.launch_file);
  }
  out.launch = compile::launch_from_options(run.launch, std::move(base));
  out.source = read_kernel_source(run.file, run.options, run.links, out.launch, device, output);
  return out;
}

void check_kernel_inputs(const OutputOptions& output, const KernelRun& run,
                         const compile::LaunchSpec& launch) {
  std::vector<std::filesystem::path> files = {run.file};
  files.insert(files.end(), run.links.begin(), run.links.end());
  if (!run.launch_file.empty()) files.emplace_back(run.launch_file);
  for (const compile::LaunchArg& a : launch.args)
    if (!a.contents.file.empty()) files.push_back(a.contents.file);
  for (const compile::Expectation& e : launch.expect)
    if (!e.contents.file.empty()) files.push_back(e.contents.file);
  check_inputs(output, files);
}

// The simulated kernel's time, if the mode has times.
std::optional<double> simulated_time(const result::Result& result) {
  return result.kernels.empty() ? std::nullopt : result.kernels.front().metrics.get("gpu.time");
}

// What is known once the launch has run on the board, too.
struct OnBoard {
  gpu::BoardFacts facts;
  std::optional<hosts::cuda::BoardLaunch> launch;
  std::string text;

  void add_to(result::Result& result) {
    if (!launch || result.kernels.empty()) return;
    const std::optional<double> simulated = simulated_time(result);
    hosts::cuda::add_metrics(*launch, simulated, result.kernels.front().metrics);
    hosts::cuda::add_metrics(*launch, simulated, result.total);
    text = hosts::cuda::to_text(*launch, facts, simulated);
  }
};

// The simulator first, its buffers then beside the board's.
void run_on_both(const KernelRun& run, const Inputs& inputs, gpu::Gpu& gpu, std::uint64_t seed,
                 const volatile bool* stop, OnBoard& out) {
  const std::unique_ptr<gpu::Board> board = gpu::cuda_board(run.board.device, {.interrupt = stop});
  out.facts = board->facts();
  const gpu::ModuleId module = gpu.load_module(run.file, inputs.source.ptx);
  hosts::cuda::run_launch(inputs.launch, module, gpu, seed, stop, [&](const hosts::cuda::Launched& launched) {
    out.launch = hosts::cuda::launch_on_board(
        *board, inputs.source.ptx, launched, gpu,
        {.seed = seed, .repeat = run.board.repeat, .tolerance = run.board.tolerance, .interrupt = stop});
  });
}

void leave_out_effects(options::Options& tool) {
  if (tool.mode == "predict") {
    gpu::PredictOptions predict = gpu::parse_predict_options(tool.predict);
    predict.effects = false;
    tool.predict = gpu::to_text(predict);
  } else if (tool.mode == "cache") {
    cache::Options study = cache::parse_options(tool.cache);
    study.effects = study.sms.all() && study.groups.all();  // of all blocks there is nothing to leave out
    tool.cache = cache::to_text(study);
  }
}

}  // namespace

Outcome run_kernel(const KernelRun& run, const RunOptions& given, const OutputOptions& output) {
  if (!run.links.empty() && !run.board.device.empty())
    throw Error(ExitCode::usage, "machine-link",
                "--device: a board does not take what simtlab has linked (--link)",
                "nvcc -dlink -cubin links it for both");
  const RunClock clock;
  options::Configuration configuration = resolve(given);
  const options::Options& tool = configuration.options;
  const device::LoadedDevice device = options::load_device(configuration);
  const Inputs inputs = read_inputs(run, device.device, output);
  check_kernel_inputs(output, run, inputs.launch);
  // What the kernel leaves is compared with nothing: a prediction or a study need not execute all of it.
  if (inputs.launch.expect.empty()) leave_out_effects(configuration.options);
  check_inputs(output, files_of(configuration, device));

  std::vector<result::InputHash> hashes = {{run.file, hash_bytes(inputs.source.text)}};
  for (result::InputHash& link : hash_inputs({run.links.begin(), run.links.end()}))
    hashes.push_back(std::move(link));
  if (!run.launch_file.empty()) hashes.push_back({run.launch_file, hash_bytes(inputs.launch_text)});
  OnBoard on_board;
  Simulation simulation{configuration, device, output, clock, std::move(hashes), [&](result::Result& result) {
                          on_board.add_to(result);
                        }};
  const auto work = [&](gpu::Gpu& gpu, const volatile bool* stop) {
    if (!run.board.device.empty()) return run_on_both(run, inputs, gpu, tool.seed, stop, on_board);
    const gpu::ModuleId module = gpu.load_module(run.file, inputs.source.ptx);
    hosts::cuda::run_launch(inputs.launch, module, gpu, tool.seed, stop);
  };
  try {
    Outcome out = simulate(simulation, work);
    out.remark = on_board.text;
    return out;
  } catch (const Error& e) {
    // Where the device's memory can't even be reserved, what is wrong with the text is said all the same.
    if (e.id() == "memory-reserve" && !inputs.source.ptx.starts_with("\x7f"
                                                                     "ELF"))
      ptx::load_module(run.file, inputs.source.ptx);
    throw;
  }
}

}  // namespace simtlab::studies
