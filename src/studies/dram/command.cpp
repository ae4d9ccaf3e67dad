// simtlab dram: a memory on its own, driven by a trace or by made traffic.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "memory/traffic/formats.h"
#include "memory/traffic/generators.h"
#include "studies/common/studies.h"
#include "studies/dram/dram.h"

namespace simtlab::studies {
namespace {

[[noreturn]] void conflict(std::string message, std::string hint) {
  throw Error(ExitCode::usage, "option-conflict", std::move(message), std::move(hint));
}

void check(const DramOptions& o) {
  if (o.memory.dram.empty())
    throw Error(ExitCode::usage, "dram-what", "no memory is named",
                "--dram ddr4-3200; `simtlab list drams` lists them");
  if (!o.check_commands.empty()) {
    if (!o.trace.empty() || !o.generate.empty())
      conflict("--check-commands replays commands; a trace and --generate are requests",
               "leave one of them out");
    return;
  }
  if (o.trace.empty() == o.generate.empty())
    throw Error(ExitCode::usage, "dram-what",
                o.trace.empty() ? "no traffic: neither a trace nor --generate" : "a trace and --generate",
                "simtlab dram TRACE --dram NAME, or simtlab dram --generate random --dram NAME");
  if (o.generate.empty() && (!o.stride.empty() || !o.footprint.empty() || o.interval || o.read_share != 1))
    conflict("--stride, --footprint, --interval and --read-share make traffic; a trace has its own",
             "leave them out, or use --generate");
  if (!o.generate.empty() && !o.format.empty()) conflict("--format is about a trace", "leave it out");
  if (o.sweep && (!o.commands.empty() || !o.timeline.empty() || o.check))
    conflict("--sweep-load is many runs; --command-trace, --timeline and --check look at one",
             "leave one of them out");
  if (o.sweep && o.trace == "-")
    conflict("--sweep-load reads the trace many times, standard input only once", "name a file");
  if (o.sweep && o.interval) conflict("--sweep-load sets the rate, --interval too", "leave one of them out");
  if (o.to != 0 && o.to <= o.from)
    throw Error(ExitCode::usage, "option-value", fmt::format("a window from clock {} to {}", o.from, o.to),
                "--to is greater than --from");
}

std::string names_of_formats() {
  std::string out;
  for (const memory::traffic::Format& f : memory::traffic::formats())
    out += fmt::format("{}{}", out.empty() ? "" : ", ", f.name);
  return out;
}

std::string names_of_generators() {
  std::string out;
  for (const memory::traffic::Generator& g : memory::traffic::generators())
    out += fmt::format("{}{}", out.empty() ? "" : ", ", g.name);
  return out;
}

void add_memory_options(Command& sub, DramOptions& o) {
  const auto group = "Memory";
  sub.add_option("--dram", o.memory.dram,
                 "The memory: a name of `simtlab list drams`, a technology file, or plugin:FILE?config=TEXT")
      ->check(not_empty())
      ->type_name("NAME|FILE")
      ->group(group);
  sub.add_option("--channels", o.memory.channels, "Channels of it (default 1)")->type_name("N")->group(group);
  sub.add_option("--controller", o.memory.controller,
                 "A name of `simtlab list controllers` or a file (default: default)")
      ->check(not_empty())
      ->type_name("NAME|FILE")
      ->group(group);
  sub.add_option("--set", o.memory.set,
                 "Change one value of the technology or of the controller; may be repeated")
      ->type_name("KEY=VALUE")
      ->one_at_a_time()
      ->group(group);
}

void add_traffic_options(Command& sub, DramOptions& o) {
  const auto group = "Traffic";
  sub.add_option("--format", o.format,
                 "Format of the trace, if it is not to be detected: " + names_of_formats())
      ->check(not_empty())
      ->type_name("NAME")
      ->group(group);
  sub.add_option("--generate", o.generate, "Make traffic: " + names_of_generators())
      ->check(not_empty())
      ->type_name("NAME")
      ->group(group);
  sub.add_option("--requests", o.requests, "Requests to make (default 100000), or to take of the trace")
      ->check(in_range(std::uint64_t{1}, std::uint64_t{1} << 53))
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
  sub.add_option("--per-clock", o.per_clock,
                 "Most requests a clock (default: 1 of a trace, what the memory carries of made traffic)")
      ->check(in_range(std::uint64_t{1}, std::uint64_t{1} << 53))
      ->type_name("N")
      ->group(group);
  sub.add_option("--core-clock", o.core_clock,
                 "Clock of the core that replays instruction traces (default 3.2 GHz)")
      ->type_name("FREQUENCY")
      ->group(group);
  sub.add_option("--core-window", o.core_window, "Instructions in its window (default 128)")
      ->check(in_range(std::uint64_t{1}, std::uint64_t{1} << 53))
      ->type_name("N")
      ->group(group);
  sub.add_flag("--wrap", o.wrap, "Addresses beyond the memory count modulo its size")->group(group);
}

void add_dram_outputs(Command& sub, DramOptions& o) {
  const auto group = "Output";
  sub.add_flag("--sweep-load", o.sweep, "The latency-bandwidth curve: the same traffic at rising loads")
      ->group(group);
  sub.add_option("--command-trace", o.commands, "Write every command of the memory to FILE")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  sub.add_option("--command-format", o.command_format, "simtlab (default) or dramsim3")
      ->type_name("NAME")
      ->group(group);
  sub.add_option("--timeline", o.timeline,
                 "Write a timeline of banks and data buses to FILE, for ui.perfetto.dev")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  sub.add_option("--from", o.from, "First clock of the timeline (default 0)")->type_name("N")->group(group);
  sub.add_option("--to", o.to, "Clock at which it ends (default: 20000 after --from)")
      ->type_name("N")
      ->group(group);
  sub.add_flag("--check", o.check, "Check every command by the rules of the technology while running")
      ->group(group);
  sub.add_option("--check-commands", o.check_commands,
                 "Check a command trace (ours or DRAMsim3's, also compressed) instead of running")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  add_output_options(sub, o.output);
  add_progress_option(sub, o.output);
  add_options(sub, options::Study::drive_memory, o.given);
}

}  // namespace

void add_dram(Command& app) {
  Command* sub = app.add_subcommand("dram", "Drive a memory on its own with a trace or made traffic");
  const auto options = std::make_shared<DramOptions>();
  sub->add_option("TRACE", options->trace, "Trace, plain or compressed with gzip or zstd; - is stdin");
  add_memory_options(*sub, *options);
  add_traffic_options(*sub, *options);
  add_dram_outputs(*sub, *options);
  sub->footer(
      "Forms: simtlab dram TRACE --dram ddr4-3200\n"
      "       simtlab dram --generate random --dram hbm2-2000 --channels 8 --sweep-load\n"
      "       simtlab dram --check-commands COMMANDS --dram ddr4-3200");
  sub->embeds();
  sub->action([options](const Call&) {
    check(*options);
    return options->check_commands.empty() ? run_dram(*options) : check_command_trace(*options);
  });
}

}  // namespace simtlab::studies
