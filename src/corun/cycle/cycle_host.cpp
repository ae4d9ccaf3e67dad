#include "corun/cycle/cycle_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/shown.h"
#include "corun/cycle/profile.h"
#include "gpu/copy_time.h"
#include "result/totals.h"

namespace simtlab::corun::cycle {
namespace {

using corun::Traffic;

constexpr std::size_t results_at_once = 256;  // of launches, before those of one kernel are merged

Traffic traffic_of(const result::Metrics& m) {
  Traffic out;
  out.l2_bytes = m.get("l2.bytes").value_or(0);
  out.dram_bytes = m.get("dram.read.bytes").value_or(0) + m.get("dram.write.bytes").value_or(0);
  out.l2_reads = m.get("l2.read.accesses").value_or(0);
  out.l2_misses = m.get("l2.read.misses").value_or(0);
  out.instructions = m.get("gpu.instructions.warp").value_or(0);
  return out;
}

void keep(std::vector<result::KernelResult>& results, result::KernelResult&& result, const std::string& name,
          const stream::WarpSource& launch) {
  result.name = result.demangled = name;
  const stream::Dim3 grid = launch.grid(), block = launch.block();
  result.grid[0] = grid.x, result.grid[1] = grid.y, result.grid[2] = grid.z;
  result.block[0] = block.x, result.block[1] = block.y, result.block[2] = block.z;
  result.shared_bytes = launch.shared_bytes();
  result.registers = std::max(1u, launch.function().registers);
  results.push_back(std::move(result));
  if (results.size() >= results_at_once) results = result::merge_by_name(results);
}

std::vector<std::string> names_of(const Recording& recording) {
  std::vector<ShapedKernel> shapes;
  for (std::size_t i = 0; i < recording.launches(); ++i) {
    const stream::WarpSource& launch = recording.launch(i);
    const stream::Dim3 grid = launch.grid(), block = launch.block();
    shapes.push_back({recording.kernel(i),
                      {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, launch.shared_bytes()}});
  }
  return step_names(shapes);
}

std::vector<corun::Copy> copies_of(std::span<const Recording::Transfer> transfers,
                                   const device::Device& device) {
  using enum stream::trace::OpKind;
  using Kind = gpu::Gpu::CopyKind;
  std::vector<corun::Copy> out;
  for (const Recording::Transfer& t : transfers) {
    if (t.kind == invalidate) continue;
    if (t.kind == fill) {
      out.push_back({corun::Copy::within, gpu::fill_ns(device, t.a)});
      continue;
    }
    const auto kind = static_cast<Kind>(std::min<std::uint64_t>(t.b, 2));
    out.push_back({kind == Kind::host_to_device   ? corun::Copy::in
                   : kind == Kind::device_to_host ? corun::Copy::out
                                                  : corun::Copy::within,
                   gpu::copy_ns(device, t.a, kind)});
  }
  return out;
}

}  // namespace

struct CycleHost::Application {
  explicit Application(const std::filesystem::path& trace) : recording(trace), steps(names_of(recording)) {}
  Recording recording;
  std::vector<std::string> steps;  // names of its launches
  corun::ApplicationResult alone;
};

CycleHost::CycleHost(const device::Device& device, const CycleOptions& options)
    : device_(device), options_(options) {}
CycleHost::~CycleHost() = default;

void CycleHost::add(const std::string& name, const std::filesystem::path& trace, std::uint64_t iterations,
                    double gap_ns, const std::string& source) {
  auto application = std::make_unique<Application>(trace);
  corun::Application described;
  described.name = name;
  described.iterations = iterations;
  described.gap_ns = gap_ns;
  described.source = source;
  corun::Workload workload;
  workload.name = name;
  workload.iterations = iterations;
  workload.gap_ns = gap_ns;
  for (const std::string& step : application->steps) {
    described.sequence.push_back(step);
    workload.sequence.push_back({step, {}});
  }
  const Application& made = *application;
  corun::ApplicationResult& alone = application->alone;
  applications_[name] = std::move(application);
  corun::HostOptions options;
  options.settings.limit = 1;
  CycleOptions whole = options_;
  whole.sharing = {};
  std::vector<result::KernelResult> results;
  alone = std::move(run({&workload, 1}, corun::policy("mps"), options, whole, &results).applications.front());
  for (const result::KernelResult& kernel : result::merge_by_name(results)) {
    corun::Profile profile = profile_of(kernel, device_);
    const auto at = std::ranges::find(made.steps, kernel.name);
    add_cold(run_cold(made, static_cast<std::size_t>(at - made.steps.begin()), whole), device_, profile);
    profiles_.add(corun::KernelProfile{name, kernel.name, profile, source});
  }
  profiles_.add(std::move(described));
}

void CycleHost::add_copies(const Application& application, corun::Workload& workload) const {
  const Recording& recording = application.recording;
  for (std::size_t i = 0; i < workload.sequence.size(); ++i)
    workload.sequence[i].before = copies_of(recording.before(i), device_);
  workload.after = copies_of(recording.before(recording.launches()), device_);
}

// A launch on a GPU that has just been switched on.
result::KernelResult CycleHost::run_cold(const Application& application, std::size_t launch,
                                         const CycleOptions& cycle) const {
  result::KernelResult out;
  CycleMachine machine(
      device_, cycle, {{"", &application.recording}},
      [&](std::size_t, std::size_t, result::KernelResult&& result) { out = std::move(result); });
  machine.begin(0, launch, 0);
  std::vector<std::size_t> ended;
  for (corun::Time now = 0; ended.empty();) now = machine.advance(now, corun::never, ended);
  return out;
}

const corun::ApplicationResult& CycleHost::alone(const std::string& name) const {
  return applications_.at(name)->alone;
}

corun::MixResult CycleHost::run(std::span<const corun::Workload> mix, const corun::Policy& policy,
                                const corun::HostOptions& options) const {
  corun::MixResult out = run(mix, policy, options, options_, nullptr);
  for (corun::ApplicationResult& a : out.applications) {
    const corun::ApplicationResult& before = alone(a.name);
    a.solo_ns = before.gpu_ns;
    a.alone_ns = before.turnaround_ns;
    a.copied_alone_ns = before.copied_ns;
    for (std::size_t k = 0; k < a.kernels.size(); ++k) {
      a.kernels[k].solo_ns = before.kernels[k].gpu_ns;
      a.kernels[k].alone = before.kernels[k].together;
    }
  }
  return out;
}

corun::MixResult CycleHost::run(std::span<const corun::Workload> mix, const corun::Policy& policy,
                                const corun::HostOptions& options, const CycleOptions& cycle,
                                std::vector<result::KernelResult>* results) const {
  std::vector<CycleMachine::Process> processes;
  std::vector<const Application*> known;
  std::vector<std::map<std::string, Traffic>> traffic(mix.size());
  for (const corun::Workload& w : mix) {
    const auto at = applications_.find(w.name);
    if (at == applications_.end())
      throw Error(ExitCode::bad_input, "corun-recording",
                  fmt::format("there is no recording of an application {}", shown(w.name)));
    processes.push_back({w.name, &at->second->recording});
    known.push_back(at->second.get());
  }
  CycleMachine machine(device_, cycle, std::move(processes),
                       [&](std::size_t process, std::size_t launch, result::KernelResult&& result) {
                         const std::string& name = known[process]->steps[launch];
                         traffic[process][name].add(traffic_of(result.metrics));
                         if (results != nullptr)
                           keep(*results, std::move(result), name, known[process]->recording.launch(launch));
                       });
  std::vector<corun::Workload> with_copies;
  if (cycle.copies) {
    with_copies.assign(mix.begin(), mix.end());
    for (std::size_t p = 0; p < mix.size(); ++p) add_copies(*known[p], with_copies[p]);
    mix = with_copies;
  }
  corun::MixResult out = corun::run_mix(mix, policy, options, machine);
  for (std::size_t p = 0; p < mix.size(); ++p)
    for (corun::KernelShare& k : out.applications[p].kernels) k.together = traffic[p][k.name];
  return out;
}

}  // namespace simtlab::corun::cycle
