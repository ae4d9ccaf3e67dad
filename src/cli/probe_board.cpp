// simtlab probe of a board, simulated or real: measures, writes the device file, the curves and the result.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/probe.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "gpu/board.h"
#include "probe/device_file.h"
#include "probe/thesis.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

// What was simulated, for the manifest; empty for a real board.
struct Source {
  std::optional<device::Configuration> configuration;
  std::optional<device::LoadedDevice> device;
};

std::unique_ptr<gpu::Board> open(const ProbeOptions& o, const Signals& signals, Source& source) {
  if (o.device) return gpu::cuda_board(*o.device, {.interrupt = signals.flag()});
  source.configuration = resolve(o.run);
  source.device = device::load_device(*source.configuration);
  const device::ToolOptions& tool = source.configuration->options;
  gpu::SimulatedOptions options;
  options.threads = static_cast<unsigned>(tool.threads);
  options.max_memory_bytes = tool.max_memory;
  options.interrupt = signals.flag();
  return gpu::simulated_board(source.device->device, options);
}

std::string board_text(const gpu::BoardFacts& f) {
  return fmt::format("{}{}: {} SMs, compute capability {}.{}, {}", f.name, f.simulated ? " (simulated)" : "", f.sms, f.cc_major, f.cc_minor, f.driver);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

probe::Provenance provenance(const gpu::BoardFacts& f, const probe::Findings& found, const probe::Outcome& outcome, const std::string& base) {
  probe::Provenance p;
  p.board = f.name + (f.simulated ? " (simulated)" : "");
  p.driver = f.simulated ? "no driver" : f.driver;
  if (const auto rate = found.value("clock.rate")) p.clocks = fmt::format("SM clock {:.4g} GHz under load", *rate / 1e9);
  if (!f.simulated) p.date = today();
  p.tool = fmt::format("simtlab {}", version());
  p.partial = outcome.interrupted || outcome.lost || !outcome.failed.empty();
  p.base_name = base;
  return p;
}

// A file a curve: x,y with a line that says what they are.
void write_curves(const std::string& folder, const probe::Findings& found) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(ExitCode::failure, "file-write", fmt::format("cannot create the folder {}: {}", folder, failed.message()), "choose a folder that can be written to");
  for (const probe::Series& s : found.curves()) {
    std::string text = fmt::format("# {}\n", s.name);
    for (const probe::Series::Knee& k : s.knees) text += fmt::format("# {} at {:.6g} ({:.6g} to {:.6g})\n", k.what, k.x, k.low, k.high);
    text += fmt::format("{},{}\n", s.x, s.y);
    for (const probe::Series::Point& p : s.points) text += fmt::format("{:.10g},{:.10g}\n", p.x, p.y);
    write_to((std::filesystem::path(folder) / (s.name + ".csv")).string(), text);
  }
}

void check_kinds(const std::vector<std::string>& only) {
  std::vector<std::string> known;
  for (const probe::Kind& kind : probe::kinds()) known.emplace_back(kind.name);
  for (const std::string& name : only)
    if (std::ranges::find(known, name) == known.end()) {
      const std::string near = nearest_name(name, known);
      throw Error(ExitCode::usage, "probe-options", fmt::format("there is no probe '{}'", name), near.empty() ? fmt::format("probes: {}", fmt::join(known, ", ")) : fmt::format("did you mean {}?", near));
    }
}

}  // namespace

int probe_board(ProbeOptions o) {
  const RunClock clock;
  check_outputs(o.output);
  check_kinds(o.only);
  std::optional<device::LoadedDevice> base;
  if (!o.base.empty()) {
    check_inputs(o.output, {o.base});
    base = device::load_device(o.base);
  }
  Source source;
  probe::Findings found;
  probe::Outcome outcome;
  gpu::BoardFacts facts;
  std::uint64_t launches = 0;
  {
    const device::Configuration settings = resolve(o.run);
    const Signals signals(settings.options.max_time_ns * 1e-9);
    const auto board = open(o, signals, source);
    facts = board->facts();
    probe::ProbeOptions options;
    options.quick = o.quick;
    options.seed = std::max<std::uint64_t>(settings.options.seed, 1);
    options.interrupt = signals.flag();
    probe::Bench bench(*board, options, found);
    const Progress progress("measuring", o.output.quiet);
    outcome = o.method == "thesis" ? probe::run_thesis(bench) : probe::run_probes(bench, o.only);
    launches = bench.launches;
  }
  result::Result result;
  result::KernelResult& k = result.kernels.emplace_back();
  k.name = k.demangled = "board";
  add_tables(k, found);
  std::uint64_t known = 0;
  for (const probe::Finding& f : found.all()) known += f.known() ? 1 : 0;
  result.total.set("probe.findings", known);
  result.total.set("probe.unknown", found.all().size() - known);
  result.total.set("probe.launches", launches);
  result::Manifest& m = result.manifest;
  m.mode = "probe";
  m.device = source.device ? source.device->device.name : facts.name;
  m.interrupted = outcome.interrupted;
  if (source.configuration) {
    m.configuration = configuration_of(*source.configuration, *source.device);
    m.seed = source.configuration->options.seed;
    m.inputs = hash_inputs(files_of(*source.configuration, *source.device));
  }
  clock.finish(result);

  if (!o.output.output.empty()) write_to(o.output.output, probe::device_file(found, provenance(facts, found, outcome, base ? o.base : ""), base ? &*base : nullptr));
  if (!o.curves.empty()) write_curves(o.curves, found);
  if (!o.output.json.empty()) write_to(o.output.json, result::to_json(result));
  if (!o.output.csv.empty()) write_to(o.output.csv, report::csv(result));
  if (!data_on_stdout(o.output) && o.output.output != "-") print((o.method == "thesis" ? thesis_tables(found, facts) : "") + text_of(found, outcome, board_text(facts)));
  if (outcome.interrupted) return static_cast<int>(ExitCode::interrupted);
  if (outcome.lost) throw Error(ExitCode::unavailable, "board-lost", "the device was lost: " + outcome.failed.back(), "what was measured before is in the outputs, marked as partial");
  if (!outcome.failed.empty()) throw Error(ExitCode::failure, "probe-failed", "a probe failed: " + outcome.failed.front(), "what the others found is in the outputs");
  return 0;
}

}  // namespace simtlab::cli
