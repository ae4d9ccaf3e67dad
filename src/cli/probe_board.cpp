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

// What is measured: the settings, and the device that is simulated, unless the board is real.
struct Source {
  device::Configuration configuration;
  std::optional<device::LoadedDevice> simulated;
};

Source source_of(const ProbeOptions& o) {
  Source out{resolve(o.run), {}};
  if (!o.device) {
    out.simulated = device::load_device(out.configuration);
    check_inputs(o.output, files_of(out.configuration, *out.simulated));
  }
  return out;
}

std::unique_ptr<gpu::Board> open(const ProbeOptions& o, const Signals& signals, const Source& source) {
  if (o.device) return gpu::cuda_board(*o.device, {.interrupt = signals.flag()});
  const device::ToolOptions& tool = source.configuration.options;
  gpu::SimulatedOptions options;
  options.threads = static_cast<unsigned>(tool.threads);
  options.max_memory_bytes = tool.max_memory;
  options.interrupt = signals.flag();
  return gpu::simulated_board(source.simulated->device, options);
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

}  // namespace

void check_kinds(const std::vector<std::string>& only) {
  std::vector<std::string> known;
  for (const probe::Kind* kind : probe::kinds()) known.emplace_back(kind->name);
  for (const std::string& name : only)
    if (std::ranges::find(known, name) == known.end()) {
      const std::string near = nearest_name(name, known);
      throw Error(ExitCode::usage, "probe-options", fmt::format("there is no probe '{}'", name), near.empty() ? fmt::format("probes: {}", fmt::join(known, ", ")) : fmt::format("did you mean {}?", near));
    }
}

namespace {

result::Result result_of(const probe::Findings& found, const probe::Outcome& outcome, std::uint64_t launches, const gpu::BoardFacts& facts, const Source& source) {
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
  m.device = source.simulated ? source.simulated->device.name : facts.name;
  m.interrupted = outcome.interrupted;
  m.seed = source.configuration.options.seed;
  if (source.simulated) {
    m.configuration = configuration_of(source.configuration, *source.simulated);
    m.inputs = hash_inputs(files_of(source.configuration, *source.simulated));
  }
  return result;
}

// The error that ends a measurement whose board was lost, or one of whose probes failed; the result says it, too.
std::optional<Error> failure_of(const probe::Outcome& outcome) {
  if (outcome.interrupted) return std::nullopt;
  if (outcome.lost) return Error(ExitCode::unavailable, "board-lost", "the device was lost: " + outcome.failed.back(), "what was measured before is in the outputs, marked as partial");
  if (!outcome.failed.empty()) return Error(ExitCode::failure, "probe-failed", "a probe failed: " + outcome.failed.front(), "what the others found is in the outputs");
  return std::nullopt;
}

// What was measured and what another device lent may contradict each other: a file that nothing can read is said to be so.
void check_device_file(const std::string& file, const std::string& base) {
  try {
    static_cast<void>(device::load_device(std::filesystem::absolute(file).string()));
  } catch (const Error& error) {
    talk(fmt::format("warning: what {} lends does not go together with what was measured, so no command takes {} as it is: choose another --base, or change the file\n{}", base, file, error.format()));
  }
}

}  // namespace

int probe_board(ProbeOptions o) {
  const RunClock clock;
  check_outputs(o.output);
  std::optional<device::LoadedDevice> base;
  if (!o.base.empty()) {
    check_inputs(o.output, {o.base});
    base = device::load_device(o.base);
  }
  const Source source = source_of(o);
  const bool thesis = o.method == "thesis";
  probe::Findings found;
  probe::Outcome outcome;
  gpu::BoardFacts facts;
  std::uint64_t launches = 0;
  {
    const Signals signals(source.configuration.options.max_time_ns * 1e-9);
    const auto board = open(o, signals, source);
    facts = board->facts();
    probe::ProbeOptions options;
    options.quick = o.quick;
    if (o.correction) options.correction = *probe::correction_of(*o.correction);   // its name was checked
    options.seed = source.configuration.options.seed;
    options.interrupt = signals.flag();
    probe::Bench bench(*board, options, found);
    Progress progress("measuring", o.output);
    const probe::Begun begun = [&progress](std::string_view kind, std::size_t before, std::size_t of) { progress.at(fmt::format("{}, probe {} of {}", kind, before + 1, of)); };
    outcome = thesis ? probe::run_thesis(bench, begun) : probe::run_probes(bench, o.only, begun);
    launches = bench.launches;
  }
  result::Result result = result_of(found, outcome, launches, facts, source);
  const std::optional<Error> failure = failure_of(outcome);
  if (failure) result.manifest.failure = failure->format(), result.manifest.failure_id = failure->id(), result.manifest.failure_code = static_cast<int>(failure->code());
  clock.finish(result);

  Writing writing;
  if (!data_on_stdout(o.output) && o.output.output != "-") writing([&] { print((thesis ? thesis_tables(found, facts) : "") + text_of(found, outcome, board_text(facts))); });
  if (!o.output.output.empty()) writing([&] { write_to(o.output.output, probe::device_file(found, provenance(facts, found, outcome, base ? o.base : ""), base ? &*base : nullptr)); });
  if (!o.output.output.empty() && o.output.output != "-" && base && std::filesystem::is_regular_file(o.output.output)) check_device_file(o.output.output, o.base);
  if (!o.curves.empty()) writing([&] { write_curves(o.curves, found); });
  if (!o.output.json.empty()) writing([&] { write_result(o.output.json, result); });
  if (!o.output.csv.empty()) writing([&] { write_to(o.output.csv, report::csv(result)); });
  writing.end();
  if (outcome.interrupted) return static_cast<int>(ExitCode::interrupted);
  if (failure) throw *failure;
  return 0;
}

}  // namespace simtlab::cli
