#include "gpu/run_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/shown.h"
#include "options/run_file.h"

namespace simtlab::gpu {
namespace {

[[noreturn]] void refuse(const char* option, const std::string& value, const char* expected) {
  throw Error(ExitCode::usage, "option-value",
              fmt::format("{} {} is {}", option, shown(value, 60), expected));
}

std::uint64_t whole(const char* option, const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    refuse(option, text, "no whole number");
  return std::stoull(text);
}

timing::TimelineWindow window_of(const options::Options& run) {
  timing::TimelineWindow out;
  if (run.timeline.empty() && !run.sm_timeline) return out;
  const std::string& window = run.timeline_window;
  const std::size_t colon = std::min(window.find(':'), window.size());
  out.from = whole("--timeline-window", window.substr(0, colon));
  out.to = whole("--timeline-window", window.substr(std::min(colon + 1, window.size())));
  if (out.to <= out.from) refuse("--timeline-window", window, "no window FROM:TO with FROM below TO");
  const std::string& sm = run.timeline_sm;
  const std::uint64_t number = sm == "all" ? timing::TimelineWindow::all_sms : whole("--timeline-sm", sm);
  if (number > timing::TimelineWindow::all_sms) refuse("--timeline-sm", sm, "no SM");
  out.sm = static_cast<std::uint32_t>(number);
  out.events = !run.timeline.empty();
  out.states = run.sm_timeline;
  return out;
}

}  // namespace

Options options_of(const options::Options& run) {
  Options out;
  out.mode = mode_of(run.mode);
  out.cache = cache::parse_options(run.cache, run.seed);
  out.predict = parse_predict_options(run.predict);
  out.check = check::parse_options(run.check);
  out.kernels = KernelChoice(run.kernels);
  out.sharing = parse_sharing(run.sharing);
  out.max_memory_bytes = run.max_memory;
  out.max_cycles = run.max_cycles;
  out.registers_override = static_cast<std::uint32_t>(run.registers);
  out.threads = static_cast<unsigned>(run.threads);
  out.sample_error = run.sample;
  out.cold_caches = run.cache_control == "all";
  out.outside_goes_on = run.memory_errors != "stop";
  out.code = run.code == "machine" ? Code::machine : run.code == "ptx" ? Code::ptx : Code::automatic;
  out.results = run.results == "late"      ? exec::Results::late
                : run.results == "checked" ? exec::Results::checked
                                           : exec::Results::early;
  out.stack_bytes = static_cast<std::uint32_t>(run.stack);
  out.what_if = device::parse_what_if(run.what_if);
  out.ptx = ptx_of(run.lowering);
  out.lowering = out.ptx != Ptx::off;
  if (out.check.any()) {  // detectors know the instructions of PTX
    out.ptx = Ptx::off;
    if (out.code == Code::automatic) out.code = Code::ptx;
  }
  out.observe = {run.lines, run.series, window_of(run)};
  return out;
}

CheckpointOptions checkpoint_of(const options::Options& run, const device::LoadedDevice& device) {
  CheckpointOptions out;
  out.write = run.checkpoint;
  out.resume = run.resume;
  out.every = run.checkpoint_every;
  out.run = options::what_results_depend_on(run);
  out.run.emplace_back("the version of simtlab", SIMTLAB_VERSION);
  for (const device::Entry& e : device.entries) out.run.emplace_back(e.key, e.value);
  return out;
}

}  // namespace simtlab::gpu
