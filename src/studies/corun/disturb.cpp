#include "studies/corun/disturb.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/files.h"
#include "compile/launch_file.h"
#include "device/catalogue.h"
#include "hosts/cuda/launch_runner.h"
#include "studies/common/manifest.h"
#include "studies/run/kernel_source.h"
#include "studies/run/simulate.h"

namespace simtlab::studies {
namespace {

// Not less: 32 units that wait for memory or for 32 multiply-adds
constexpr double round_cycles = 2000;

struct Params {  // of the kernels traffic and compute
  std::uint64_t buffer;
  std::uint32_t mask, busy, rounds, unused;
  std::uint64_t flag;
};
static_assert(sizeof(Params) == 32);

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

class Disturber {
 public:
  Disturber(gpu::Gpu& gpu, gpu::ModuleId module, const hosts::cuda::Launched& launched, DisturbedKernel& out)
      : gpu_(gpu), launched_(launched), out_(out) {
    for (const char* name : {"traffic", "compute", "stop"}) {
      const auto kernel = gpu.find_kernel(module, name);
      if (!kernel)
        throw Error(ExitCode::bad_input, "launch-arguments",
                    fmt::format("interfere.ptx has no kernel {}", name));
      kernels_.push_back(*kernel);
    }
    bytes_ = noise_bytes(static_cast<std::uint64_t>(gpu.device().l2.bytes));
    const auto buffer = gpu.allocate(bytes_.dram, "traffic"), flag = gpu.allocate(256, "flag");
    if (!buffer || !flag)
      throw Error(ExitCode::failure, "host-memory",
                  "no room for the buffer of the micro-benchmarks beside the kernel's own");
    buffer_ = *buffer;
    flag_ = *flag;
    noise_ = gpu.create_stream(true);
    stream_ = gpu.create_stream(true);
  }
  ~Disturber() {
    gpu_.release(buffer_);
    gpu_.release(flag_);
  }
  Disturber(const Disturber&) = delete;
  Disturber& operator=(const Disturber&) = delete;

  void run(unsigned steps, const volatile bool* stop) {
    // Once more alone: it has left its buffers in L2, as before each of the runs beside a micro-benchmark.
    gpu_.launch(launched_.kernel, launched_.grid, launched_.block, launched_.shared_bytes, launched_.params,
                stream_);
    gpu_.synchronize();
    const result::KernelResult alone = gpu_.result().kernels.back();
    out_.name = alone.demangled.empty() ? alone.name : alone.demangled;
    out_.alone_ns = alone.metrics.get("gpu.time").value_or(0);
    const double cycles = alone.metrics.get("gpu.cycles").value_or(0);
    rounds_ = noise_rounds(cycles * most_slowdown);
    for (const auto& [kind, busy] : intensities_of(steps)) {
      if (stop != nullptr && *stop)
        throw Error(ExitCode::interrupted, "interrupted", "between two intensities");
      out_.points.push_back(point(kind, busy));
    }
  }

 private:
  DisturbedPoint point(corun::Disturbance kind, unsigned busy) {
    const std::uint32_t zero = 0;
    gpu_.memory().write(flag_, bytes_of(zero));
    const bool compute = kind == corun::Disturbance::compute;
    const Params params{
        buffer_, static_cast<std::uint32_t>((kind == corun::Disturbance::dram ? bytes_.dram : bytes_.l2) - 1),
        busy,    rounds_,
        0,       flag_};
    gpu_.launch(kernels_[compute ? 1 : 0], {gpu_.device().sm.count, 1, 1}, {noise_threads, 1, 1}, 0,
                bytes_of(params), noise_);
    gpu_.launch(launched_.kernel, launched_.grid, launched_.block, launched_.shared_bytes, launched_.params,
                stream_);
    gpu_.launch(kernels_[2], {1, 1, 1}, {1, 1, 1}, 0, bytes_of(flag_), stream_);
    gpu_.synchronize();
    const std::vector<result::KernelResult> all = gpu_.result().kernels;
    const result::KernelResult &noise = all[all.size() - 3], &kernel = all[all.size() - 2];
    DisturbedPoint out{kind, busy, 0, kernel.metrics.get("gpu.time").value()};
    const double seconds = noise.metrics.get("gpu.time").value() * 1e-9;
    if (noise.name != (compute ? "compute" : "traffic") || seconds * 1e9 < out.time_ns)
      throw Error(
          ExitCode::bad_input, "corun-together",
          fmt::format("the kernel did not run beside the micro-benchmark ({} {}): that one ended before",
                      corun::name_of(kind), busy),
          "a kernel that fills every SM alone has no room for a block of 256 threads beside it; --sharing "
          "spatial gives both a part");
    if (kind == corun::Disturbance::l2) out.load = noise.metrics.get("l2.bytes").value_or(0) / seconds;
    if (kind == corun::Disturbance::dram)
      out.load = (noise.metrics.get("dram.read.bytes").value_or(0) +
                  noise.metrics.get("dram.write.bytes").value_or(0)) /
                 seconds;
    if (compute)
      out.load =
          noise.metrics.get("gpu.instructions.warp").value_or(0) / noise.metrics.get("gpu.cycles").value();
    return out;
  }

  gpu::Gpu& gpu_;
  const hosts::cuda::Launched& launched_;
  DisturbedKernel& out_;
  std::vector<gpu::Kernel> kernels_;  // traffic, compute, stop
  NoiseBytes bytes_;
  std::uint64_t buffer_ = 0, flag_ = 0;
  gpu::StreamId noise_ = 0, stream_ = 0;
  std::uint32_t rounds_ = 0;
};

}  // namespace

NoiseBytes noise_bytes(std::uint64_t l2_bytes) {
  return {std::bit_floor(std::max<std::uint64_t>(l2_bytes / 3, 65536)),
          std::min<std::uint64_t>(std::bit_ceil(l2_bytes * 8), std::uint64_t{1} << 31)};
}

std::uint32_t noise_rounds(double cycles) {
  return static_cast<std::uint32_t>(std::clamp(cycles / round_cycles, 64.0, 1e6));
}

std::vector<std::pair<corun::Disturbance, unsigned>> intensities_of(unsigned steps) {
  std::vector<std::pair<corun::Disturbance, unsigned>> out;
  for (const corun::Disturbance kind : corun::disturbances)
    for (unsigned step = 1; step <= steps; ++step)
      out.emplace_back(
          kind, steps == 1 ? corun::intensities : 1 + (corun::intensities - 1) * (step - 1) / (steps - 1));
  return out;
}

result::Manifest launch_to_disturb(const KernelRun& run, const options::Configuration& configuration,
                                   const OutputOptions& output, const ToDisturb& then) {
  const RunClock clock;
  const device::LoadedDevice device = options::load_device(configuration);
  compile::LaunchSpec base;
  if (!run.launch_file.empty()) base = compile::load_launch_file(run.launch_file);
  compile::LaunchSpec launch = compile::launch_from_options(run.launch, std::move(base));
  launch.expect.clear();  // the kernel runs again and again on what it has left
  const KernelSource source =
      read_kernel_source(run.file, run.options, run.links, launch, device.device, output);
  const std::filesystem::path noise = device::data_directory() / "corun" / "interfere.ptx";
  const std::string noise_text = read_file(noise, 1 << 20, "micro-benchmarks");
  std::vector<std::filesystem::path> inputs = {run.file, noise};
  inputs.insert(inputs.end(), run.links.begin(), run.links.end());
  if (!run.launch_file.empty()) inputs.emplace_back(run.launch_file);
  check_inputs(output, inputs);
  check_inputs(output, files_of(configuration, device));

  OutputOptions inner;
  inner.quiet = output.quiet, inner.progress = output.progress;
  const Outcome done = simulate({configuration, device, inner, clock, hash_inputs(inputs)},
                                [&](gpu::Gpu& gpu, const volatile bool* stop) {
                                  const gpu::ModuleId module = gpu.load_module(run.file, source.ptx);
                                  hosts::cuda::run_launch(launch, module, gpu, configuration.options.seed,
                                                          stop, [&](const hosts::cuda::Launched& launched) {
                                                            then(gpu, launched, source.ptx, noise_text, stop);
                                                          });
                                });
  if (done.failure) throw Error(*done.failure);
  return done.result->manifest;
}

DisturbedKernel disturb_kernel(const KernelRun& run, RunOptions given, const OutputOptions& output,
                               unsigned steps) {
  given.set("mode", "timing");  // they disturb each other at cycle level only
  const options::Configuration configuration = resolve(given);
  DisturbedKernel out;
  out.manifest = launch_to_disturb(
      run, configuration, output,
      [&](gpu::Gpu& gpu, const hosts::cuda::Launched& launched, const std::string&, const std::string& noise,
          const volatile bool* stop) {
        Disturber(gpu, gpu.load_module("interfere.ptx", noise), launched, out).run(steps, stop);
      });
  return out;
}

}  // namespace simtlab::studies
