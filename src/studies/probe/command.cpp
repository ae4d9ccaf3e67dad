// simtlab probe: measures a GPU's parameters, or evaluates a curve that was measured elsewhere.
#include "studies/common/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/error.h"
#include "studies/common/studies.h"
#include "studies/probe/probe.h"

namespace simtlab::studies {
namespace {

options::Study study_of(const ProbeOptions& o) {
  if (!o.compare.empty()) return options::Study::probe_compare;
  if (!o.samples.empty()) return options::Study::probe_samples;
  if (!o.analyse.empty()) return options::Study::probe_curve;
  return o.device ? options::Study::probe_board : options::Study::probe_simulated;
}

std::vector<std::string_view> names_of_single_kinds() {
  std::vector<std::string_view> out;
  for (const probe::Kind* kind : probe::kinds())
    if (kind->single) out.push_back(kind->name);
  return out;
}

Outcome run_probe(const Command& command, const ProbeOptions& o) {
  const options::Study study = study_of(o);
  refuse_unread(command, study);
  if (study == options::Study::probe_compare) return probe_compare(o);
  if (study == options::Study::probe_curve) return probe_curve(o);
  if (study == options::Study::probe_samples) return probe_samples(o);
  if (!o.histograms.empty() && o.method != "thesis")
    throw Error(ExitCode::usage, "probe-options",
                "--histogram has no effect here: only --method thesis keeps what single launches gave",
                "add --method thesis");
  static_cast<void>(launches_of(o.histograms));  // before a long measurement
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

void add_measuring(Command& sub, ProbeOptions& o) {
  const options::Studies measured = options::Study::probe_simulated | options::Study::probe_board;
  add_options(sub, options::probes, o.given);
  std::optional<ReadBy> read(std::in_place, sub, options::Study::probe_board);
  sub.add_option("--device", o.device, "A real board: its index or UUID (simtlab doctor lists them)")
      ->check(not_empty())
      ->type_name("N|UUID")
      ->group("Configuration");
  read.reset();
  read.emplace(sub, measured);
  sub.add_flag("--quick", o.quick, "Fewer points; what takes long is left out")->group("Configuration");
  sub.add_option("--only", o.only, "These probes and those that they need: simtlab list probes")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group("Configuration");
  sub.add_option("--method", o.method,
                 "slope (default), or thesis: one interval less the clock's cost, as Sanchez published it, "
                 "with the slopes beside it")
      ->check(one_of({"slope", "thesis"}))
      ->type_name("NAME")
      ->group("Configuration");
  sub.add_option(
         "--histogram", o.histograms,
         "With --method thesis: keep the histograms of these launches, too, of every kernel, as curves "
         "histogram.* (--curves, the page)")
      ->delimiter(',')
      ->type_name("BLOCKSxTHREADS,...")
      ->group("Configuration");
  read.reset();
  read.emplace(sub, measured | options::Study::probe_samples);
  sub.add_option(
         "--correction", o.correction,
         "How the cost of reading the clock is taken out of latencies: slope (default), difference, "
         "deconvolve, subtract or none, of single intervals, with the slope beside it; of samples difference "
         "(default), deconvolve, subtract or none")
      ->check(one_of({"slope", "difference", "deconvolve", "subtract", "none"}))
      ->type_name("NAME")
      ->group("Configuration");
  read.reset();
  read.emplace(sub, measured);
  sub.add_option("--base", o.base,
                 "Who lends the device file what was not measured, marked as estimates (default: the "
                 "nearest shipped device); none: nobody")
      ->check(not_empty())
      ->type_name("NAME|FILE")
      ->group("Configuration");
  read.reset();
  read.emplace(sub, measured | options::Study::probe_samples);
  sub.add_option("--curves", o.curves, "Write every measured curve to a CSV file in this folder")
      ->check(output_folder())
      ->type_name("FOLDER")
      ->group("Output");
}

void add_curve_options(Command& sub, ProbeOptions& o) {
  const ReadBy read(sub, options::Study::probe_curve);
  sub.add_option("--analyse", o.analyse,
                 "Find the levels in this curve instead: CSV with the columns size_bytes,cycles[,weight]")
      ->check(not_empty())
      ->type_name("CURVE.csv")
      ->group("A curve");
  sub.add_option("--detector", o.detector, "Of changes: rank (default) or ks, Kolmogorov-Smirnov")
      ->check(one_of({"rank", "ks"}))
      ->type_name("NAME")
      ->group("A curve");
  sub.add_option("--significance", o.significance,
                 "A change that chance makes more often is none (default 0.05)")
      ->type_name("P")
      ->group("A curve");
  sub.add_option("--step", o.step, "Levels differ by at least this share (default 0.1)")
      ->type_name("SHARE")
      ->group("A curve");
  sub.add_option("--confidence", o.confidence, "Of the intervals (default 0.95)")
      ->type_name("SHARE")
      ->group("A curve");
}

void add_two(Command& sub, ProbeOptions& o) {
  const ReadBy read(sub, options::Study::probe_compare);
  sub.add_option("--compare", o.compare,
                 "Two measurements instead: results of --json, device files, or names of devices")
      ->expected(2, 2)
      ->check(not_empty())
      ->type_name("A B")
      ->group("Two measurements");
}

void add_samples(Command& sub, ProbeOptions& o) {
  const ReadBy read(sub, options::Study::probe_samples);
  sub.add_option(
         "--samples", o.samples,
         "Find the distribution behind these samples instead: timed intervals, a number for each thread")
      ->check(not_empty())
      ->type_name("TIMES")
      ->group("Samples");
  sub.add_option("--cost", o.cost,
                 "Samples of the readings of the clock alone; without them nothing is taken out")
      ->check(not_empty())
      ->type_name("CLOCK")
      ->group("Samples");
  sub.add_option("--one-in", o.one_in, "Take the first of so many samples: of a warp (default 32); 1: all")
      ->type_name("N")
      ->group("Samples");
  sub.add_option("--boundary", o.boundaries, "Part the distribution at these cycles, the smallest first")
      ->delimiter(',')
      ->type_name("CYCLES,...")
      ->group("Samples");
  sub.add_option(
         "--counters", o.counters,
         "Part it by how many accesses each level served, the nearest first (hits of L1, of L2, DRAM)")
      ->delimiter(',')
      ->type_name("COUNT,...")
      ->group("Samples");
}

}  // namespace

void add_probe(Command& app) {
  Command* sub = app.add_subcommand(
      "probe", "Measure a GPU's parameters, and write the device file that the models read");
  const auto o = std::make_shared<ProbeOptions>();
  add_measuring(*sub, *o);
  add_curve_options(*sub, *o);
  add_two(*sub, *o);
  add_samples(*sub, *o);
  add_output_options(*sub, o->output);
  add_progress_option(*sub, o->output);
  sub->footer(
      "Forms: simtlab probe [--gpu NAME | --device N] [--quick] [--correction NAME] [-o DEVICE.toml] [--base "
      "NAME] [--curves FOLDER]\n       simtlab probe --method thesis [--gpu NAME | --device N] [--quick]\n   "
      "    simtlab probe --samples TIMES [--cost CLOCK] [--boundary CYCLES,... | --counters COUNT,...]\n   "
      "    simtlab probe --analyse CURVE.csv [--detector ks] [--json]\n       simtlab probe --compare A B "
      "[--json] [--csv]\n-o writes the device file; of a curve and of a comparison, the text.");
  sub->embeds();
  sub->action([o](const Call& call) { return run_probe(call.command, *o); });
}

}  // namespace simtlab::studies
