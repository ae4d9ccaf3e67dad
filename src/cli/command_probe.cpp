// simtlab probe: measures a GPU's parameters, or evaluates a curve that was measured elsewhere.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <memory>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/output_option.h"
#include "cli/probe.h"

namespace simtlab::cli {
namespace {

// The first of the options that the chosen form of the command does not read; null: all are read.
struct Given {
  bool given;
  const char* name;
};
const char* first_of(std::initializer_list<Given> options) {
  for (const Given& g : options)
    if (g.given) return g.name;
  return nullptr;
}

const char* of_a_measurement(const ProbeOptions& o) {
  const RunOptions& r = o.run;
  return first_of({{o.device.has_value(), "--device"},
                   {r.device.gpu.has_value(), "--gpu"},
                   {!r.device.set.empty(), "--set"},
                   {!r.device.config.empty(), "--config"},
                   {o.quick, "--quick"},
                   {!o.only.empty(), "--only"},
                   {o.method.has_value(), "--method"},
                   {o.correction.has_value(), "--correction"},
                   {!o.base.empty(), "--base"},
                   {!o.curves.empty(), "--curves"},
                   {r.seed.has_value(), "--seed"},
                   {r.threads.has_value(), "--threads"},
                   {r.max_time.has_value(), "--max-time"},
                   {r.max_memory.has_value(), "--max-memory"}});
}

const char* of_a_curve(const ProbeOptions& o) {
  return first_of({{o.detector.has_value(), "--detector"},
                   {o.significance.has_value(), "--significance"},
                   {o.step.has_value(), "--step"},
                   {o.confidence.has_value(), "--confidence"}});
}

const char* of_a_simulation(const ProbeOptions& o) {
  const RunOptions& r = o.run;
  return first_of({{r.device.gpu.has_value(), "--gpu"},
                   {!r.device.set.empty(), "--set"},
                   {r.threads.has_value(), "--threads"},
                   {r.max_memory.has_value(), "--max-memory"}});
}

// An option without effect would be taken for one that has one.
void refuse(const char* option, const char* why, const char* hint) {
  if (option != nullptr)
    throw Error(ExitCode::usage, "probe-options", fmt::format("{} has no effect here: {}", option, why),
                hint);
}

std::vector<std::string_view> names_of_single_kinds() {
  std::vector<std::string_view> out;
  for (const probe::Kind* kind : probe::kinds())
    if (kind->single) out.push_back(kind->name);
  return out;
}

int run_probe(const ProbeOptions& o) {
  const char* const forms = "the forms of this command: simtlab probe --help";
  if (!o.compare.empty()) {
    refuse(of_a_measurement(o), "--compare measures nothing, it takes two files",
           "simtlab probe --compare A B [-o FILE] [--json] [--csv]");
    refuse(o.analyse.empty() ? of_a_curve(o) : "--analyse", "--compare takes two measurements", forms);
    return probe_compare(o);
  }
  if (!o.analyse.empty()) {
    refuse(of_a_measurement(o), "--analyse takes a curve that was measured elsewhere",
           "simtlab probe --analyse CURVE.csv [--detector ks] [--json]");
    return probe_curve(o);
  }
  refuse(of_a_curve(o), "it says how --analyse finds levels in a curve",
         "add --analyse CURVE.csv, or leave it out");
  if (o.device) refuse(of_a_simulation(o), "--device is a real board", "leave out one of them");
  if (o.method == "thesis" && !o.only.empty())
    throw Error(ExitCode::usage, "probe-options", "--method thesis is a way to measure a board as a whole",
                "leave out --only");
  if (o.method == "thesis" && o.correction)
    throw Error(
        ExitCode::usage, "probe-options",
        "--correction has no effect here: the published method takes the clock's cost out by difference",
        "leave out one of them");
  check_kinds(o.only);
  if (o.correction && !probe::single_operations(o.only))
    throw Error(ExitCode::usage, "probe-options",
                "--correction has no effect here: none of these probes times single operations",
                fmt::format("those that do: {}", fmt::join(names_of_single_kinds(), ", ")));
  return probe_board(o);
}

}  // namespace

void add_probe(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand(
      "probe", "Measure a GPU's parameters, and write the device file that the models read");
  const auto o = std::make_shared<ProbeOptions>();
  const CLI::Validator not_empty(refuse_empty, "");
  add_device_options(*sub, o->run.device);
  sub->add_option("--device", o->device, "A real board: its index or UUID (simtlab doctor lists them)")
      ->check(not_empty)
      ->type_name("N|UUID")
      ->group("Configuration");
  sub->add_flag("--quick", o->quick, "Fewer points; what takes long is left out")->group("Configuration");
  sub->add_option("--only", o->only, "These probes and those that they need: simtlab list probes")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group("Configuration");
  sub->add_option("--method", o->method,
                  "slope (default), or thesis: one interval less the clock's cost, as Sanchez published it, "
                  "with the slopes beside it")
      ->check(CLI::IsMember({"slope", "thesis"}))
      ->type_name("NAME")
      ->group("Configuration");
  sub->add_option("--correction", o->correction,
                  "How the cost of reading the clock is taken out of latencies: slope (default), difference, "
                  "deconvolve, subtract or none, of single intervals, with the slope beside it")
      ->check(CLI::IsMember({"slope", "difference", "deconvolve", "subtract", "none"}))
      ->type_name("NAME")
      ->group("Configuration");
  sub->add_option("--base", o->base,
                  "Who lends the device file what was not measured, marked as estimates (default: the "
                  "nearest shipped device); none: nobody")
      ->check(not_empty)
      ->type_name("NAME|FILE")
      ->group("Configuration");
  sub->add_option("--seed", o->run.seed, "Seed of random orders (default 0)")
      ->type_name("N")
      ->group("Configuration");
  sub->add_option("--threads", o->run.threads, "Host threads of a simulated board; 0 (default): all")
      ->type_name("N")
      ->group("Limits");
  sub->add_option("--max-time", o->run.max_time, "Stop after this wall time, and keep what was measured")
      ->type_name("TIME")
      ->group("Limits");
  sub->add_option("--max-memory", o->run.max_memory, "Most host memory for a simulated board's allocations")
      ->type_name("SIZE")
      ->group("Limits");
  sub->add_option("--curves", o->curves, "Write every measured curve to a CSV file in this folder")
      ->check(output_folder())
      ->type_name("FOLDER")
      ->group("Output");
  sub->add_option("--analyse", o->analyse,
                  "Find the levels in this curve instead: CSV with the columns size_bytes,cycles[,weight]")
      ->check(not_empty)
      ->type_name("CURVE.csv")
      ->group("A curve");
  sub->add_option("--detector", o->detector, "Of changes: rank (default) or ks, Kolmogorov-Smirnov")
      ->check(CLI::IsMember({"rank", "ks"}))
      ->type_name("NAME")
      ->group("A curve");
  sub->add_option("--significance", o->significance,
                  "A change that chance makes more often is none (default 0.05)")
      ->type_name("P")
      ->group("A curve");
  sub->add_option("--step", o->step, "Levels differ by at least this share (default 0.1)")
      ->type_name("SHARE")
      ->group("A curve");
  sub->add_option("--confidence", o->confidence, "Of the intervals (default 0.95)")
      ->type_name("SHARE")
      ->group("A curve");
  sub->add_option("--compare", o->compare,
                  "Two measurements instead: results of --json, device files, or names of devices")
      ->expected(2)
      ->check(not_empty)
      ->type_name("A B")
      ->group("Two measurements");
  add_output_options(*sub, o->output);
  add_progress_option(*sub, o->output);
  sub->footer(
      "Forms: simtlab probe [--gpu NAME | --device N] [--quick] [--correction NAME] [-o DEVICE.toml] [--base "
      "NAME] [--curves FOLDER]\n       simtlab probe --method thesis [--gpu NAME | --device N] [--quick]\n   "
      "    simtlab probe --analyse CURVE.csv [--detector ks] [--json]\n       simtlab probe --compare A B "
      "[--json] [--csv]\n-o writes the device file; of a curve and of a comparison, the text.");
  sub->callback([&chosen, o] { chosen = [o] { return run_probe(*o); }; });
}

}  // namespace simtlab::cli
