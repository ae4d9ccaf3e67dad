#include "studies/corun/cycle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/shown.h"
#include "base/team.h"
#include "corun/launch_shape.h"
#include "gpu/run_options.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/run/run.h"
#include "timing/main_memory.h"

namespace simtlab::studies {
namespace {

std::filesystem::path applications_file(const std::string& given) {
  if (!given.empty()) return given;
  const std::filesystem::path ours =
      (device::data_directory() / ".." / "examples" / "corun.toml").lexically_normal();
  std::error_code ignored;
  if (!std::filesystem::exists(ours, ignored))
    throw Error(
        ExitCode::bad_input, "corun-applications",
        fmt::format("the cycle-level host needs applications, and {} is not there", ours.string()),
        "--applications FILE names them (docs/concepts/corun.md), or examples/corun.toml of a source tree");
  return ours;
}

options::Configuration resolve_timing(RunOptions given) {
  given.set("mode", "timing");
  return resolve(given);
}

corun::cycle::CycleOptions cycle_options(const options::Options& options, const volatile bool* stop) {
  const gpu::Options all = gpu::options_of(options);
  corun::cycle::CycleOptions out{all, all.sharing};
  out.timing.interrupt = stop;
  out.timing.threads = usable_threads(all.threads);
  out.timing.sample_error = 0;  // kernels would run one after another
  return out;
}

}  // namespace

corun::SmSharing sm_sharing(const options::Configuration& configuration, const device::Device& device) {
  const gpu::Sharing sharing = gpu::parse_sharing(configuration.options.sharing);
  return {sharing.policy,
          [sharing, &device](const std::string& application, const std::string& step) -> corun::SmRange {
            // A shape is no part of the name that a part has
            const std::string kernel(corun::kernel_of(step));
            timing::CycleGpu::Setup part = gpu::setup_of(sharing, device, kernel, kernel);
            if (part.sms == 0) part = gpu::setup_of(sharing, device, application, application);
            return {part.first_sm, part.first_sm + part.sms};
          }};
}

CycleApplications::CycleApplications(const Command& app, const std::string& file, const RunOptions& given,
                                     bool copies)
    : app_(app),
      file_(applications_file(file)),
      given_(given),
      copies_(copies),
      applications_(corun::cycle::load_applications(file_)),
      configuration_(resolve_timing(given)),
      device_(options::load_device(configuration_)) {
  timing::check_main_memory(device_.device);
  gpu::parse_sharing(configuration_.options.sharing);  // its errors before anything runs
}

std::vector<std::string> CycleApplications::names() const { return corun::cycle::names_of(applications_); }

const corun::cycle::Described& CycleApplications::find(const std::string& name) const {
  return corun::cycle::named(applications_, name, file_);
}

void CycleApplications::record(const std::vector<std::vector<std::string>>& mixes,
                               const OutputOptions& output) {
  std::vector<const corun::cycle::Described*> wanted;
  for (const std::vector<std::string>& mix : mixes)
    for (const std::string& name : mix)
      if (const corun::cycle::Described* one = &find(name); std::ranges::find(wanted, one) == wanted.end())
        wanted.push_back(one);
  for (const corun::cycle::Described* one : wanted)
    if (std::ranges::find(recorded_, one, &Recorded::application) == recorded_.end())
      recorded_.push_back({one, record(*one, output)});
}

std::filesystem::path CycleApplications::record(const corun::cycle::Described& a,
                                                const OutputOptions& output) const {
  if (a.is_trace()) return a.file;
  Run run;
  const std::string trace = (folder_.path() / fmt::format("{}.simt", recorded_.size())).string();
  run.given = given_;
  run.given.set("mode", "functional");
  run.given.remove("sharing");  // of kernels that are timed
  run.given.set("record", trace);
  run.mute = true;
  run.output.quiet = output.quiet;
  std::vector<std::string> rest = {a.file.string()};
  std::optional<std::vector<std::string>> after_dashes;
  if (a.is_kernel()) {
    run.kernel.launch_file = a.launch.string();
    run.kernel.launch.kernel = a.kernel;
    run.kernel.launch.grid = a.grid;
    run.kernel.launch.global = a.global;
    run.kernel.launch.block = a.block;
    run.kernel.launch.args = a.args;
  } else if (a.file.extension() == ".cu") {
    after_dashes = a.arguments;
  } else {
    after_dashes = {std::filesystem::absolute(a.file).string()};  // never one that is found by $PATH
    after_dashes->insert(after_dashes->end(), a.arguments.begin(), a.arguments.end());
    rest.clear();
  }
  try {
    study_result(std::move(run), {app_, rest, after_dashes});
  } catch (const Error& e) {
    std::vector<Diagnostic> said = e.diagnostics();
    said.front().message = fmt::format("application {}: {}", shown(a.name), said.front().message);
    throw Error(e.code(), e.id(), said);
  }
  std::error_code ignored;
  if (std::filesystem::exists(trace + ".1", ignored))
    throw Error(
        ExitCode::bad_input, "corun-recording",
        fmt::format(
            "application {}: several processes of it use the GPU, and each is an application of its own",
            shown(a.name)),
        "simtlab run --mode functional --record FILE.simt gives FILE.simt, FILE.simt.1, ...: name those as "
        "applications");
  return trace;
}

void CycleApplications::run_alone(const volatile bool* stop, CorunStudy& study) {
  corun::cycle::CycleOptions options = cycle_options(configuration_.options, stop);
  options.copies = copies_;
  host_ = std::make_unique<corun::cycle::CycleHost>(device_.device, options);
  const std::string source = fmt::format("simtlab {} on simulated {}", version(), device_.device.name);
  for (const Recorded& r : recorded_)
    host_->add(r.application->name, r.trace, r.application->iterations, r.application->gap_ns, source);
  study.profiles = host_->profiles();
  study.host = [this](std::span<const corun::Workload> mix, const corun::Policy& policy,
                      const corun::HostOptions& options) { return host_->run(mix, policy, options); };
}

}  // namespace simtlab::studies
