// simtlab dram: drives the memory, measures, reports.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "memory/traffic/command_trace.h"
#include "memory/traffic/generators.h"
#include "memory/traffic/sweep.h"
#include "memory/traffic/timeline.h"
#include "memory/traffic/trace_reader.h"
#include "studies/common/manifest.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/dram/check.h"
#include "studies/dram/dram.h"
#include "studies/dram/metrics.h"

namespace simtlab::studies {
namespace {

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
  Recorder(const DramOptions& o, const device::Technology& technology) {
    if (!o.commands.empty())
      trace_.emplace(o.commands == "-" ? "/dev/stdout" : o.commands,
                     memory::traffic::command_format_named(o.command_format), technology);
    if (!o.timeline.empty())
      timeline_.emplace(o.timeline == "-" ? "/dev/stdout" : o.timeline, technology, o.from,
                        o.to == 0 ? o.from + timeline_clocks : o.to);
    if (o.check) checked_.emplace(technology);
  }
  bool wanted() const { return trace_ || timeline_ || checked_; }
  void command(const memory::dram::CommandRecord& record) override {
    if (trace_) keep(trace_, [&] { trace_->command(record); });
    if (timeline_) keep(timeline_, [&] { timeline_->command(record); });
    if (checked_) checked_->command(record);
  }
  // end: clock at which the run ended.
  void close(memory::Cycle end) {
    if (trace_) keep(trace_, [&] { trace_->close(); });
    if (timeline_) keep(timeline_, [&] { timeline_->close(); });
    if (checked_) checked_->finish(end);
  }
  Writing writing;

 private:
  // A file that can't be written on is given up; the run goes on.
  template <class File, class Write>
  void keep(std::optional<File>& file, Write&& write) {
    if (!writing(write)) file.reset();
  }

  std::optional<memory::traffic::CommandTrace> trace_;
  std::optional<memory::traffic::CommandTimeline> timeline_;
  std::optional<CheckedCommands> checked_;
};

// Called again for each load of a sweep.
using MakeSource = std::function<std::unique_ptr<memory::traffic::Source>()>;

MakeSource source_of(const DramOptions& o, const DrivenMemory& memory, std::uint64_t line, std::uint64_t seed,
                     const volatile bool* stop) {
  if (o.generate.empty()) {
    const memory::traffic::Format* format =
        o.format.empty() ? nullptr : &memory::traffic::format_named(o.format);
    return [&o, format, stop] { return memory::traffic::open_trace(o.trace, format, stop); };
  }
  memory::traffic::GeneratorOptions g;
  g.requests = o.requests.value_or(generated_requests);
  g.read_share = o.read_share;
  g.line = line;
  if (!o.stride.empty()) g.stride = bytes_of(o.stride);
  g.footprint = bytes_of(o.footprint);
  g.seed = seed;
  g.interval = o.interval.value_or(0);
  g.capacity = memory.channels->channel_bytes() * memory.channels->count();
  g.mapping = memory.system == nullptr ? nullptr : &memory.system->mapping();
  return [&o, g] { return memory::traffic::generate(o.generate, g); };
}

// A trace gives at most one request a clock, as in the simulators whose traces these are; made traffic as
// many as the memory could carry.
std::uint32_t requests_per_clock(const DramOptions& o, const DrivenMemory& memory, std::uint64_t line) {
  if (o.per_clock) return *o.per_clock;
  if (o.generate.empty()) return 1;
  const double bytes = memory.peak * memory.channels->clock_period() * 1e-12;
  return std::max(1u, static_cast<std::uint32_t>(std::ceil(bytes / static_cast<double>(line) - 1e-9)));
}

std::optional<Error> what_ended_it(memory::traffic::Outcome outcome, const Signals& signals,
                                   const options::Options& tool) {
  if (outcome == memory::traffic::Outcome::finished) return std::nullopt;
  if (outcome == memory::traffic::Outcome::cycle_limit)
    return Error(ExitCode::failure, "limit-cycles",
                 fmt::format("stopped after {} clocks of the memory (--max-cycles)", tool.max_cycles),
                 "raise --max-cycles, or a shorter trace");
  if (signals.timed_out()) return time_limit(tool, {});
  return Error(ExitCode::interrupted, "interrupted", "interrupted: the result covers what ran until then");
}

struct Totals {
  double requests = 0, cycles = 0;
  memory::traffic::Outcome outcome = memory::traffic::Outcome::finished;
};

class Session {
 public:
  Session(const DramOptions& options, const options::Configuration& configuration, DrivenMemory& memory,
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

  // Who is told how far it is.
  void tell(Progress& progress) {
    driver_.told = [this, &progress](std::uint64_t requests, memory::Cycle now) {
      const std::string of = driver_.max_requests != 0 ? fmt::format(" of {}", driver_.max_requests)
                             : o_.generate.empty()
                                 ? ""
                                 : fmt::format(" of {}", o_.requests.value_or(generated_requests));
      progress.at(fmt::format("{}{}{} requests, {} clocks", load_, requests, of, now));
    };
  }

  void run(result::Result& result) {
    const memory::traffic::Router router(memory_.system == nullptr ? nullptr : &memory_.system->mapping(),
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

  memory::traffic::Outcome outcome() const { return totals_.outcome; }
  Writing writing;  // of what is recorded

 private:
  result::Metrics account(const memory::traffic::Measured& m) {
    totals_.requests += static_cast<double>(m.read_latency.count() + m.write_latency.count());
    totals_.cycles += static_cast<double>(m.cycles);
    totals_.outcome = std::max(totals_.outcome, m.outcome);
    return metrics_of(m, memory_, line_);
  }

  void once(const memory::traffic::Router& router, const std::string& name, result::Result& result) {
    // The traffic first: what is wrong with it is said before a file is made.
    const std::unique_ptr<memory::traffic::Source> source = make_();
    if (const auto* trace = dynamic_cast<const memory::traffic::TraceReader*>(source.get()))
      note_format(*trace);
    std::optional<Recorder> recorder;
    if (memory_.system != nullptr) {
      recorder.emplace(o_, memory_.system->technology());
      if (recorder->wanted()) memory_.system->record(&*recorder);
    } else if (!o_.commands.empty() || !o_.timeline.empty() || o_.check) {
      throw Error(ExitCode::unsupported, "plugin-commands", "a plug-in does not tell its commands",
                  "--command-trace, --timeline and --check are for memory technologies");
    }
    const memory::traffic::Measured m =
        memory::traffic::Driver(*memory_.channels, router, driver_).run(*source);
    result::KernelResult& k = result.kernels.emplace_back();
    k.name = k.demangled = name;
    k.metrics = account(m);
    result.total = k.metrics;
    if (!recorder) return;
    memory_.system->record(nullptr);
    recorder->close(m.end);
    writing = std::move(recorder->writing);
  }

  void note_format(const memory::traffic::TraceReader& trace) {
    std::string name(trace.format().name);
    if (!trace.compression().empty()) name += fmt::format(", {}", trace.compression());
    memory_.configuration.push_back(
        {"traffic.format", name, o_.format.empty() ? "detected" : "command line (--format)", ""});
  }

  void sweep(const memory::traffic::Router& router, const std::string& name, result::Result& result) {
    load_ = fmt::format("load 1 of {}: ", memory::traffic::usual_loads().size());
    if (memory_.peak <= 0)
      throw Error(ExitCode::unsupported, "sweep-peak", "this plug-in does not tell its peak bandwidth",
                  "offer loads with --generate and --interval");
    memory::traffic::sweep_load(*memory_.channels, router, driver_, make_, memory_.peak,
                                memory::traffic::usual_loads(), [&](const memory::traffic::LoadPoint& point) {
                                  load_ = fmt::format("load {} of {}: ", result.kernels.size() + 2,
                                                      memory::traffic::usual_loads().size());
                                  result::KernelResult& k = result.kernels.emplace_back();
                                  k.name = k.demangled =
                                      fmt::format("{} at {:.0f} %", name, 100 * point.offered / memory_.peak);
                                  k.metrics = account(point.measured);
                                  k.metrics.set("dram.load.offered", point.offered);
                                });
  }

  const DramOptions& o_;
  DrivenMemory& memory_;
  std::uint64_t line_;
  memory::traffic::DriverOptions driver_;
  MakeSource make_;
  Totals totals_;
  std::string load_;  // of a sweep: which one is under way
};

void note_inputs(result::Manifest& m, const DramOptions& o) {
  struct stat status {};
  if (!o.trace.empty() && o.trace != "-" && ::stat(o.trace.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    m.inputs = hash_inputs({o.trace});
}

}  // namespace

Outcome run_dram(DramOptions& o) {
  const RunClock clock;
  OutputOptions output = o.output;
  if (!o.commands.empty()) output.more.push_back({"--command-trace", &o.commands});
  if (!o.timeline.empty()) output.more.push_back({"--timeline", &o.timeline});
  check_outputs(output);
  const options::Configuration configuration = resolve(o.given);
  DrivenMemory memory = make_memory(o.memory);
  std::vector<std::filesystem::path> inputs = memory.files;
  if (!o.trace.empty()) inputs.emplace_back(o.trace == "-" ? "/dev/stdin" : o.trace);
  check_inputs(output, inputs);

  const Signals signals(configuration.options.max_time_ns * 1e-9);
  result::Result result;
  Session session(o, configuration, memory, signals);
  try {
    Progress progress("simulating", output);
    if (progress_shown(output) != Shown::nothing) session.tell(progress);
    session.run(result);
  } catch (const Error& e) {
    if (e.code() == ExitCode::interrupted && signals.timed_out()) throw time_limit(configuration.options, {});
    throw;
  }
  std::optional<Error> failure = what_ended_it(session.outcome(), signals, configuration.options);
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
  Outcome out(std::move(result), output);
  if (session.writing.failed()) out.unwritten.push_back(*session.writing.failed());
  out.failure = std::move(failure);
  return out;
}

}  // namespace simtlab::studies
