// simtlab probe of a board, simulated or real: measures, writes the device file, the curves and the result.
#include "gpu/board/board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "probe/base.h"
#include "probe/device_file.h"
#include "probe/thesis.h"
#include "studies/common/manifest.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/probe/probe.h"

namespace simtlab::studies {
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

struct Measured {
  gpu::BoardFacts facts;
  probe::Findings found;
  probe::Outcome outcome;
  std::uint64_t launches = 0;
};

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

probe::Provenance provenance(const Measured& measured, const std::optional<probe::Lender>& base) {
  const gpu::BoardFacts& f = measured.facts;
  const probe::Outcome& outcome = measured.outcome;
  probe::Provenance p;
  p.board = f.name + (f.simulated ? " (simulated)" : "");
  p.driver = f.simulated ? "no driver" : f.driver;
  if (const auto rate = measured.found.value("clock.rate"))
    p.clocks = fmt::format("SM clock {:.4g} GHz under load", *rate / 1e9);
  if (!f.simulated) p.date = today();
  p.tool = fmt::format("simtlab {}", version());
  p.partial = outcome.interrupted || outcome.lost || !outcome.failed.empty();
  if (base) p.base_name = base->name;
  return p;
}

}  // namespace

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
    write_file_atomically(std::filesystem::path(folder) / (s.name + ".csv"), text);
  }
}

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

result::Result result_of(const Measured& measured, const Source& source) {
  result::Result result;
  result::KernelResult& k = result.kernels.emplace_back();
  k.name = k.demangled = "board";
  add_tables(k, measured.found);
  std::uint64_t known = 0;
  for (const probe::Finding& f : measured.found.all()) known += f.known() ? 1 : 0;
  result.total.set("probe.findings", known);
  result.total.set("probe.unknown", measured.found.all().size() - known);
  result.total.set("probe.launches", measured.launches);
  result::Manifest& m = result.manifest;
  m.mode = "probe";
  m.device = source.simulated ? source.simulated->device.name : measured.facts.name;
  m.interrupted = measured.outcome.interrupted;
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

// What was measured may contradict itself: of a file that nothing can read it is said. Empty: it can be read.
std::string what_is_wrong_with(const std::string& file, const std::string& base) {
  try {
    static_cast<void>(device::load_device(std::filesystem::absolute(file).string()));
    return {};
  } catch (const Error& error) {
    return fmt::format(
        "warning: what was measured does not go together, nor with what {} lends, so no command "
        "takes {} as it is: choose another --base, or change the file\n{}",
        base, file, error.format());
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

// Writes the file of -o, or has it written to stdout. What it says of itself: the remark.
void add_device_file(Outcome& out, const ProbeOptions& o, const Measured& measured,
                     std::optional<probe::Lender> base) {
  std::vector<probe::Lender> others;
  if (o.base != no_base) others = probe::nearest_devices(measured.facts);
  const bool nearest = !base && !others.empty();
  if (nearest) base = others.front();
  probe::Provenance p = provenance(measured, base);
  if (nearest) p.base_remark = probe::remark_on(*base, measured.facts);
  const std::string& file = o.output.output;
  const probe::DeviceFile made =
      probe::device_file(measured.found, p, probe::Loans(measured.found, base ? &*base : nullptr, others));
  if (file == "-") {
    out.more.push_back({file, [text = made.text] { return text; }});
  } else {
    write_file_atomically(file, made.text);
    if (base && std::filesystem::is_regular_file(file)) out.warning = what_is_wrong_with(file, base->name);
  }
  out.remark = last_line(file == "-" ? "device file" : file, made, p);
}

Measured measure(const ProbeOptions& o, const Source& source) {
  Measured out;
  const Signals signals(source.configuration.options.max_time_ns * 1e-9);
  const auto board = open(o, signals, source);
  out.facts = board->facts();
  probe::ProbeOptions options;
  options.quick = o.quick;
  if (o.correction) options.correction = *probe::correction_of(*o.correction);  // its name was checked
  options.seed = source.configuration.options.seed;
  options.interrupt = signals.flag();
  probe::Bench bench(*board, options, out.found);
  Progress progress("measuring", o.output);
  const probe::Begun begun = [&progress](std::string_view kind, std::size_t before, std::size_t of) {
    progress.at(fmt::format("{}, probe {} of {}", kind, before + 1, of));
  };
  out.outcome = o.method == "thesis" ? probe::run_thesis(bench, begun, launches_of(o.histograms))
                                     : probe::run_probes(bench, o.only, begun);
  out.launches = bench.launches;
  return out;
}

}  // namespace

Outcome probe_board(ProbeOptions o) {
  const RunClock clock;
  check_outputs(o.output);
  const std::optional<probe::Lender> base = wished_base(o);
  const Source source = source_of(o);
  const auto measured = std::make_shared<const Measured>(measure(o, source));
  Outcome out(result_of(*measured, source), o.output);
  result::Manifest& manifest = out.result->manifest;
  out.failure = failure_of(measured->outcome);
  if (out.failure)
    manifest.failure = out.failure->format(), manifest.failure_id = out.failure->id(),
    manifest.failure_code = static_cast<int>(out.failure->code());
  clock.finish(*out.result);

  out.text = [measured, thesis = o.method == "thesis"](const report::Style&) {
    return (thesis ? thesis_tables(measured->found, measured->facts) : "") +
           text_of(measured->found, measured->outcome, board_text(measured->facts));
  };
  out.output.output.clear();  // -o is the device file, not the text
  out.text_on_stdout = o.output.output != "-";
  Writing writing;
  if (!o.output.output.empty()) writing([&] { add_device_file(out, o, *measured, base); });
  if (!o.curves.empty()) writing([&] { write_curves(o.curves, measured->found); });
  if (writing.failed()) out.unwritten.push_back(*writing.failed());
  out.in_a_file = !o.output.output.empty() && o.output.output != "-" && !writing.failed();
  if (measured->outcome.interrupted) out.code = static_cast<int>(ExitCode::interrupted);
  return out;
}

}  // namespace simtlab::studies
