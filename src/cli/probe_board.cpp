// simtlab probe of a board, simulated or real: measures, writes the device file, the curves and the result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/probe.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "gpu/board/board.h"
#include "probe/base.h"
#include "probe/device_file.h"
#include "probe/thesis.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

// What is measured: the settings, and the device that is simulated, unless the board is real.
struct Source {
  options::Configuration configuration;
  std::optional<device::LoadedDevice> simulated;
};

Source source_of(const ProbeOptions& o) {
  Source out{resolve(o.given), {}};
  if (!o.device) {
    out.simulated = options::load_device(out.configuration);
    check_inputs(o.output, files_of(out.configuration, *out.simulated));
  }
  return out;
}

std::unique_ptr<gpu::Board> open(const ProbeOptions& o, const Signals& signals, const Source& source) {
  if (o.device) return gpu::cuda_board(*o.device, {.interrupt = signals.flag()});
  const options::Options& tool = source.configuration.options;
  gpu::SimulatedOptions options;
  options.threads = static_cast<unsigned>(tool.threads);
  options.max_memory_bytes = tool.max_memory;
  options.interrupt = signals.flag();
  return gpu::simulated_board(source.simulated->device, options);
}

std::string board_text(const gpu::BoardFacts& f) {
  return fmt::format("{}{}: {} SMs, compute capability {}.{}, {}", f.name, f.simulated ? " (simulated)" : "",
                     f.sms, f.cc_major, f.cc_minor, f.driver);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

probe::Provenance provenance(const gpu::BoardFacts& f, const probe::Findings& found,
                             const probe::Outcome& outcome, const std::optional<probe::Lender>& base) {
  probe::Provenance p;
  p.board = f.name + (f.simulated ? " (simulated)" : "");
  p.driver = f.simulated ? "no driver" : f.driver;
  if (const auto rate = found.value("clock.rate"))
    p.clocks = fmt::format("SM clock {:.4g} GHz under load", *rate / 1e9);
  if (!f.simulated) p.date = today();
  p.tool = fmt::format("simtlab {}", version());
  p.partial = outcome.interrupted || outcome.lost || !outcome.failed.empty();
  if (base) p.base_name = base->name;
  return p;
}

// A file a curve: x,y with a line that says what they are.
void write_curves(const std::string& folder, const probe::Findings& found) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw Error(ExitCode::failure, "file-write",
                fmt::format("cannot create the folder {}: {}", folder, failed.message()),
                "choose a folder that can be written to");
  for (const probe::Series& s : found.curves()) {
    std::string text = fmt::format("# {}\n", s.name);
    for (const probe::Series::Knee& k : s.knees)
      text += fmt::format("# {} at {:.6g} ({:.6g} to {:.6g})\n", k.what, k.x, k.low, k.high);
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
      throw Error(ExitCode::usage, "probe-options", fmt::format("there is no probe '{}'", name),
                  near.empty() ? fmt::format("probes: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean {}?", near));
    }
}

namespace {

result::Result result_of(const probe::Findings& found, const probe::Outcome& outcome, std::uint64_t launches,
                         const gpu::BoardFacts& facts, const Source& source) {
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

// The error that ends a measurement whose board was lost, or one of whose probes failed; the result says it,
// too.
std::optional<Error> failure_of(const probe::Outcome& outcome) {
  if (outcome.interrupted) return std::nullopt;
  if (outcome.lost)
    return Error(ExitCode::unavailable, "board-lost", "the device was lost: " + outcome.failed.back(),
                 "what was measured before is in the outputs, marked as partial");
  if (!outcome.failed.empty())
    return Error(ExitCode::failure, "probe-failed", "a probe failed: " + outcome.failed.front(),
                 "what the others found is in the outputs");
  return std::nullopt;
}

constexpr const char* no_base = "none";  // of --base: the file has what was measured and nothing else

// Who lends what is not measured, if the user said it: its errors come before a long measurement.
std::optional<probe::Lender> wished_base(const ProbeOptions& o) {
  if (o.base.empty() || o.base == no_base) return std::nullopt;
  check_inputs(o.output, {o.base});
  return probe::Lender{o.base, device::load_device(o.base)};
}

// What was measured may contradict itself: a file that nothing can read is said to be so.
void check_device_file(const std::string& file, const std::string& base) {
  try {
    static_cast<void>(device::load_device(std::filesystem::absolute(file).string()));
  } catch (const Error& error) {
    talk(
        fmt::format("warning: what was measured does not go together, nor with what {} lends, so no command "
                    "takes {} as it is: choose another --base, or change the file\n{}",
                    base, file, error.format()));
  }
}

std::string last_line(const std::string& file, const probe::DeviceFile& written, const probe::Provenance& p) {
  std::string out =
      fmt::format("{}: {} value{} measured", file, written.measured, written.measured == 1 ? "" : "s");
  if (p.base_name.empty())
    return out + (written.missing == 0 ? "\n"
                                       : fmt::format(", {} missing, so no command takes it as it is (without "
                                                     "--base {} the nearest shipped device lends them)\n",
                                                     written.missing, no_base));
  for (const auto& [name, values] : written.lent) out += fmt::format(", {} from {}", values, name);
  out += " (--base NAME for another";
  if (!p.base_remark.empty()) out += "; " + p.base_remark;
  if (!written.given_way.empty())
    out += fmt::format("; measured, but together with no device's values: {}",
                       fmt::join(written.given_way, ", "));
  return out + ")\n";
}

// The file of -o, and what it says of itself: the last line of what is printed.
std::string write_device_file(const ProbeOptions& o, const gpu::BoardFacts& facts,
                              const probe::Findings& found, const probe::Outcome& outcome,
                              std::optional<probe::Lender> base) {
  std::vector<probe::Lender> others;
  if (o.base != no_base) others = probe::nearest_devices(facts);
  const bool nearest = !base && !others.empty();
  if (nearest) base = others.front();
  probe::Provenance p = provenance(facts, found, outcome, base);
  if (nearest) p.base_remark = probe::remark_on(*base, facts);
  const std::string& file = o.output.output;
  const probe::DeviceFile written =
      probe::device_file(found, p, probe::Loans(found, base ? &*base : nullptr, others));
  write_to(file, written.text);
  if (base && file != "-" && std::filesystem::is_regular_file(file)) check_device_file(file, base->name);
  return last_line(file == "-" ? "device file" : file, written, p);
}

}  // namespace

int probe_board(ProbeOptions o) {
  const RunClock clock;
  check_outputs(o.output);
  const std::optional<probe::Lender> base = wished_base(o);
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
    if (o.correction) options.correction = *probe::correction_of(*o.correction);  // its name was checked
    options.seed = source.configuration.options.seed;
    options.interrupt = signals.flag();
    probe::Bench bench(*board, options, found);
    Progress progress("measuring", o.output);
    const probe::Begun begun = [&progress](std::string_view kind, std::size_t before, std::size_t of) {
      progress.at(fmt::format("{}, probe {} of {}", kind, before + 1, of));
    };
    outcome = thesis ? probe::run_thesis(bench, begun) : probe::run_probes(bench, o.only, begun);
    launches = bench.launches;
  }
  result::Result result = result_of(found, outcome, launches, facts, source);
  const std::optional<Error> failure = failure_of(outcome);
  if (failure)
    result.manifest.failure = failure->format(), result.manifest.failure_id = failure->id(),
    result.manifest.failure_code = static_cast<int>(failure->code());
  clock.finish(result);

  Writing writing;
  const bool prints = !data_on_stdout(o.output) && o.output.output != "-";
  std::string last;
  if (prints)
    writing([&] {
      print((thesis ? thesis_tables(found, facts) : "") + text_of(found, outcome, board_text(facts)));
    });
  if (!o.output.output.empty()) writing([&] { last = write_device_file(o, facts, found, outcome, base); });
  if (!o.curves.empty()) writing([&] { write_curves(o.curves, found); });
  if (!o.output.json.empty()) writing([&] { write_result(o.output.json, result); });
  if (!o.output.csv.empty()) writing([&] { write_to(o.output.csv, report::csv(result)); });
  if (prints && !last.empty())
    writing([&] { print(last); });
  else if (!o.output.quiet)
    talk(last);
  writing.end();
  if (outcome.interrupted) return static_cast<int>(ExitCode::interrupted);
  if (failure) throw *failure;
  return 0;
}

}  // namespace simtlab::cli
