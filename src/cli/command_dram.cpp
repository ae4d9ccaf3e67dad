// simtlab dram: a memory on its own, driven by a trace or by made traffic.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/dram_memory.h"
#include "cli/dram_metrics.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "traffic/command_trace.h"
#include "traffic/generators.h"
#include "traffic/sweep.h"
#include "traffic/timeline.h"
#include "traffic/trace_reader.h"

namespace simtlab::cli {
namespace {

struct Dram {
  MemoryOptions memory;
  RunOptions run;  // seed and limits
  OutputOptions output;
  std::string trace, format, generate;
  std::string line = "64", stride, footprint, core_clock;
  std::optional<std::uint64_t> requests, interval;
  std::optional<std::uint32_t> per_clock, core_window;
  double read_share = 1;
  bool wrap = false, sweep = false;
  std::string commands, command_format = "simtlab", timeline;
  std::uint64_t from = 0, to = 0;
};

constexpr std::uint64_t timeline_clocks = 20000;  // unless --to says otherwise
constexpr std::uint64_t generated_requests = 100000;

// A bare number is bytes: these options measure nothing else.
std::uint64_t bytes_of(std::string text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) text += " B";
  return text.empty() ? 0 : parse_whole_quantity(text, Unit::bytes);
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Of all that wants to see the commands.
class Recorder : public memory::dram::CommandSink {
 public:
  Recorder(const Dram& o, const device::Technology& technology) {
    if (!o.commands.empty())
      trace_.emplace(o.commands == "-" ? "/dev/stdout" : o.commands,
                     traffic::command_format_named(o.command_format), technology);
    if (!o.timeline.empty())
      timeline_.emplace(o.timeline == "-" ? "/dev/stdout" : o.timeline, technology, o.from,
                        o.to == 0 ? o.from + timeline_clocks : o.to);
  }
  bool wanted() const { return trace_ || timeline_; }
  void command(const memory::dram::CommandRecord& record) override {
    if (trace_) trace_->command(record);
    if (timeline_) timeline_->command(record);
  }
  void close() {
    if (trace_) trace_->close();
    if (timeline_) timeline_->close();
  }

 private:
  std::optional<traffic::CommandTrace> trace_;
  std::optional<traffic::CommandTimeline> timeline_;
};

[[noreturn]] void conflict(std::string message, std::string hint) {
  throw Error(ExitCode::usage, "option-conflict", std::move(message), std::move(hint));
}

void check(const Dram& o) {
  if (o.memory.dram.empty())
    throw Error(ExitCode::usage, "dram-what", "no memory is named",
                "--dram ddr4-3200; `simtlab list drams` lists them");
  if (o.trace.empty() == o.generate.empty())
    throw Error(ExitCode::usage, "dram-what",
                o.trace.empty() ? "no traffic: neither a trace nor --generate" : "a trace and --generate",
                "simtlab dram TRACE --dram NAME, or simtlab dram --generate random --dram NAME");
  if (o.generate.empty() && (!o.stride.empty() || !o.footprint.empty() || o.interval || o.read_share != 1))
    conflict("--stride, --footprint, --interval and --read-share make traffic; a trace has its own",
             "leave them out, or use --generate");
  if (!o.generate.empty() && !o.format.empty()) conflict("--format is about a trace", "leave it out");
  if (o.sweep && (!o.commands.empty() || !o.timeline.empty()))
    conflict("--sweep-load is many runs; --command-trace and --timeline show one", "leave one of them out");
  if (o.sweep && o.trace == "-")
    conflict("--sweep-load reads the trace many times, standard input only once", "name a file");
  if (o.sweep && o.interval) conflict("--sweep-load sets the rate, --interval too", "leave one of them out");
  if (o.to != 0 && o.to <= o.from)
    throw Error(ExitCode::usage, "option-value", fmt::format("a window from clock {} to {}", o.from, o.to),
                "--to is greater than --from");
}

// Called again for each load of a sweep.
using MakeSource = std::function<std::unique_ptr<traffic::Source>()>;

MakeSource source_of(const Dram& o, const DrivenMemory& memory, std::uint64_t line, std::uint64_t seed,
                     const volatile bool* stop) {
  if (o.generate.empty()) {
    const traffic::Format* format = o.format.empty() ? nullptr : &traffic::format_named(o.format);
    return [&o, format, stop] { return traffic::open_trace(o.trace, format, stop); };
  }
  traffic::GeneratorOptions g;
  g.requests = o.requests.value_or(generated_requests);
  g.read_share = o.read_share;
  g.line = line;
  if (!o.stride.empty()) g.stride = bytes_of(o.stride);
  g.footprint = bytes_of(o.footprint);
  g.seed = seed;
  g.interval = o.interval.value_or(0);
  g.capacity = memory.channels->channel_bytes() * memory.channels->count();
  g.mapping = memory.system == nullptr ? nullptr : &memory.system->mapping();
  return [&o, g] { return traffic::generate(o.generate, g); };
}

// A trace gives at most one request a clock, as in the simulators whose traces these are; made traffic as
// many as the memory could carry.
std::uint32_t requests_per_clock(const Dram& o, const DrivenMemory& memory, std::uint64_t line) {
  if (o.per_clock) return *o.per_clock;
  if (o.generate.empty()) return 1;
  const double bytes = memory.peak * memory.channels->clock_period() * 1e-12;
  return std::max(1u, static_cast<std::uint32_t>(std::ceil(bytes / static_cast<double>(line) - 1e-9)));
}

std::optional<Error> what_ended_it(traffic::Outcome outcome, const Signals& signals,
                                   const device::ToolOptions& tool) {
  if (outcome == traffic::Outcome::finished) return std::nullopt;
  if (outcome == traffic::Outcome::cycle_limit)
    return Error(ExitCode::failure, "limit-cycles",
                 fmt::format("stopped after {} clocks of the memory (--max-cycles)", tool.max_cycles),
                 "raise --max-cycles, or a shorter trace");
  if (signals.timed_out()) return time_limit(tool, {});
  return Error(ExitCode::interrupted, "interrupted", "interrupted: the result covers what ran until then");
}

struct Totals {
  double requests = 0, cycles = 0;
  traffic::Outcome outcome = traffic::Outcome::finished;
};

class Session {
 public:
  Session(const Dram& options, const device::Configuration& configuration, DrivenMemory& memory,
          const Signals& signals)
      : o_(options), memory_(memory), line_(bytes_of(options.line)) {
    driver_.line = line_;
    driver_.per_clock = requests_per_clock(o_, memory_, std::max<std::uint64_t>(line_, 1));
    driver_.wrap = o_.wrap;
    driver_.max_requests = o_.generate.empty() ? o_.requests.value_or(0) : 0;
    driver_.max_cycles = configuration.options.max_cycles;
    driver_.stop = signals.flag();
    if (o_.core_window) driver_.core.window = *o_.core_window;
    if (!o_.core_clock.empty()) driver_.core.clock_hz = parse_quantity(o_.core_clock, Unit::hertz);
    if (driver_.core.window == 0 || driver_.core.clock_hz <= 0)
      throw Error(ExitCode::usage, "option-value", "a core without a window or a clock",
                  "--core-window is 1 or more, --core-clock for example \"3.2 GHz\"");
    make_ = source_of(o_, memory_, line_, configuration.options.seed, driver_.stop);
  }

  void run(result::Result& result) {
    const traffic::Router router(memory_.system == nullptr ? nullptr : &memory_.system->mapping(),
                                 *memory_.channels, line_);
    const std::string name =
        o_.generate.empty() ? o_.trace == "-" ? "standard input" : o_.trace : o_.generate;
    const double begin = processor_seconds();
    if (o_.sweep)
      sweep(router, name, result);
    else
      once(router, name, result);
    const double seconds = processor_seconds() - begin;
    if (seconds <= 0) return;
    result.total.set("host.rate.requests", totals_.requests / seconds);
    result.total.set("host.rate.cycles", totals_.cycles / seconds);
  }

  traffic::Outcome outcome() const { return totals_.outcome; }

 private:
  result::Metrics account(const traffic::Measured& m) {
    totals_.requests += static_cast<double>(m.read_latency.count() + m.write_latency.count());
    totals_.cycles += static_cast<double>(m.cycles);
    totals_.outcome = std::max(totals_.outcome, m.outcome);
    return metrics_of(m, memory_, line_);
  }

  void once(const traffic::Router& router, const std::string& name, result::Result& result) {
    // The traffic first: what is wrong with it is said before a file is made.
    const std::unique_ptr<traffic::Source> source = make_();
    std::optional<Recorder> recorder;
    if (memory_.system != nullptr) {
      recorder.emplace(o_, memory_.system->technology());
      if (recorder->wanted()) memory_.system->record(&*recorder);
    } else if (!o_.commands.empty() || !o_.timeline.empty()) {
      throw Error(ExitCode::unsupported, "plugin-commands", "a plug-in does not tell its commands",
                  "--command-trace and --timeline are for memory technologies");
    }
    const traffic::Measured m = traffic::Driver(*memory_.channels, router, driver_).run(*source);
    result::KernelResult& k = result.kernels.emplace_back();
    k.name = k.demangled = name;
    k.metrics = account(m);
    result.total = k.metrics;
    if (!recorder) return;
    memory_.system->record(nullptr);
    recorder->close();
  }

  void sweep(const traffic::Router& router, const std::string& name, result::Result& result) {
    if (memory_.peak <= 0)
      throw Error(ExitCode::unsupported, "sweep-load", "this plug-in does not tell its peak bandwidth",
                  "offer loads with --generate and --interval");
    traffic::sweep_load(*memory_.channels, router, driver_, make_, memory_.peak, traffic::usual_loads(),
                        [&](const traffic::LoadPoint& point) {
                          result::KernelResult& k = result.kernels.emplace_back();
                          k.name = k.demangled =
                              fmt::format("{} at {:.0f} %", name, 100 * point.offered / memory_.peak);
                          k.metrics = account(point.measured);
                          k.metrics.set("dram.load.offered", point.offered);
                        });
  }

  const Dram& o_;
  DrivenMemory& memory_;
  std::uint64_t line_;
  traffic::DriverOptions driver_;
  MakeSource make_;
  Totals totals_;
};

void note_inputs(result::Manifest& m, const Dram& o) {
  struct stat status{};
  if (!o.trace.empty() && o.trace != "-" && ::stat(o.trace.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    m.inputs = hash_inputs({o.trace});
}

int dram(Dram o) {
  const RunClock clock;
  if (!o.commands.empty()) o.output.more.push_back({"--command-trace", &o.commands});
  if (!o.timeline.empty()) o.output.more.push_back({"--timeline", &o.timeline});
  check_outputs(o.output);
  check(o);
  const device::Configuration configuration = resolve(o.run);
  DrivenMemory memory = make_memory(o.memory);
  std::vector<std::filesystem::path> inputs = memory.files;
  if (!o.trace.empty()) inputs.emplace_back(o.trace == "-" ? "/dev/stdin" : o.trace);
  check_inputs(o.output, inputs);

  const Signals signals(configuration.options.max_time_ns * 1e-9);
  result::Result result;
  Session session(o, configuration, memory, signals);
  try {
    const Progress progress("simulating", o.output.quiet);
    session.run(result);
  } catch (const Error& e) {
    if (e.code() == ExitCode::interrupted && signals.timed_out()) throw time_limit(configuration.options, {});
    throw;
  }
  const std::optional<Error> failure = what_ended_it(session.outcome(), signals, configuration.options);
  result::Manifest& m = result.manifest;
  m.device = memory.name;
  m.mode = "memory";
  m.seed = configuration.options.seed;
  m.configuration = memory.configuration;
  note_inputs(m, o);
  if (failure) {
    m.interrupted = failure->code() == ExitCode::interrupted;
    if (!m.interrupted) {
      m.failure = failure->format();
      m.failure_id = failure->id();
      m.failure_code = static_cast<int>(failure->code());
    }
  }
  clock.finish(result);
  write_outputs(result, o.output, STDOUT_FILENO);
  if (failure) throw *failure;
  return 0;
}

std::string names_of_formats() {
  std::string out;
  for (const traffic::Format& f : traffic::formats())
    out += fmt::format("{}{}", out.empty() ? "" : ", ", f.name);
  return out;
}

std::string names_of_generators() {
  std::string out;
  for (const traffic::Generator& g : traffic::generators())
    out += fmt::format("{}{}", out.empty() ? "" : ", ", g.name);
  return out;
}

void add_memory_options(CLI::App& sub, Dram& o) {
  const auto group = "Memory";
  const CLI::Validator not_empty(refuse_empty, "");
  sub.add_option("--dram", o.memory.dram, "The memory: a name of `simtlab list drams` or a technology file")
      ->check(not_empty)
      ->type_name("NAME|FILE")
      ->group(group);
  sub.add_option("--channels", o.memory.channels, "Channels of it (default 1)")->type_name("N")->group(group);
  sub.add_option("--controller", o.memory.controller,
                 "A name of `simtlab list controllers` or a file (default: default)")
      ->check(not_empty)
      ->type_name("NAME|FILE")
      ->group(group);
  sub.add_option("--set", o.memory.set,
                 "Change one value of the technology or of the controller; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->group(group);
}

void add_traffic_options(CLI::App& sub, Dram& o) {
  const auto group = "Traffic";
  const CLI::Validator not_empty(refuse_empty, "");
  sub.add_option("--format", o.format,
                 "Format of the trace, if it is not to be detected: " + names_of_formats())
      ->check(not_empty)
      ->type_name("NAME")
      ->group(group);
  sub.add_option("--generate", o.generate, "Make traffic: " + names_of_generators())
      ->check(not_empty)
      ->type_name("NAME")
      ->group(group);
  sub.add_option("--requests", o.requests, "Requests to make (default 100000), or to take of the trace")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  sub.add_option("--line", o.line, "Bytes of a request, a power of two (default 64)")
      ->type_name("BYTES")
      ->group(group);
  sub.add_option("--read-share", o.read_share, "Share of reads in made traffic, 0 to 1 (default 1)")
      ->type_name("SHARE")
      ->group(group);
  sub.add_option("--stride", o.stride, "Bytes between requests of stride (default 4096)")
      ->type_name("BYTES")
      ->group(group);
  sub.add_option("--footprint", o.footprint, "Memory that made traffic touches (default: all)")
      ->type_name("BYTES")
      ->group(group);
  sub.add_option("--interval", o.interval,
                 "Clocks between made requests (default: as fast as they are taken)")
      ->type_name("N")
      ->group(group);
  sub.add_option("--seed", o.run.seed, "Seed of made traffic (default 0)")->type_name("N")->group(group);
  sub.add_option("--per-clock", o.per_clock,
                 "Most requests a clock (default: 1 of a trace, what the memory carries of made traffic)")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  sub.add_option("--core-clock", o.core_clock,
                 "Clock of the core that replays instruction traces (default 3.2 GHz)")
      ->type_name("FREQUENCY")
      ->group(group);
  sub.add_option("--core-window", o.core_window, "Instructions in its window (default 128)")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  sub.add_flag("--wrap", o.wrap, "Addresses beyond the memory count modulo its size")->group(group);
}

void add_dram_outputs(CLI::App& sub, Dram& o) {
  const auto group = "Output";
  const CLI::Validator not_empty(refuse_empty, "");
  sub.add_flag("--sweep-load", o.sweep, "The latency-bandwidth curve: the same traffic at rising loads")
      ->group(group);
  sub.add_option("--command-trace", o.commands, "Write every command of the memory to FILE")
      ->check(not_empty)
      ->type_name("FILE")
      ->group(group);
  sub.add_option("--command-format", o.command_format, "simtlab (default) or dramsim3")
      ->type_name("NAME")
      ->group(group);
  sub.add_option("--timeline", o.timeline,
                 "Write a timeline of banks and data buses to FILE, for ui.perfetto.dev")
      ->check(not_empty)
      ->type_name("FILE")
      ->group(group);
  sub.add_option("--from", o.from, "First clock of the timeline (default 0)")->type_name("N")->group(group);
  sub.add_option("--to", o.to, "Clock at which it ends (default: 20000 after --from)")
      ->type_name("N")
      ->group(group);
  add_output_options(sub, o.output);
  sub.add_option("--max-cycles", o.run.max_cycles, "Stop after N clocks of the memory")
      ->type_name("N")
      ->group("Limits");
  sub.add_option("--max-time", o.run.max_time, "Stop after this wall time, e.g. 90 or \"2 s\"")
      ->type_name("TIME")
      ->group("Limits");
}

}  // namespace

void add_dram(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("dram", "Drive a memory on its own with a trace or made traffic");
  const auto options = std::make_shared<Dram>();
  sub->add_option("TRACE", options->trace, "Trace, plain or compressed with gzip or zstd; - is stdin");
  add_memory_options(*sub, *options);
  add_traffic_options(*sub, *options);
  add_dram_outputs(*sub, *options);
  sub->footer(
      "Forms: simtlab dram TRACE --dram ddr4-3200\n"
      "       simtlab dram --generate random --dram hbm2-2000 --channels 8 --sweep-load");
  sub->callback([&chosen, options] { chosen = [options] { return dram(*options); }; });
}

}  // namespace simtlab::cli
