// simtlab probe: measures a GPU's parameters. Today the part that needs no device: levels in a curve of latency by size.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/manifest.h"
#include "cli/output.h"
#include "cli/probe_result.h"
#include "probe/curve.h"
#include "probe/levels.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

struct ProbeOptions {
  std::string analyse, gpu, detector = "rank";
  std::optional<double> significance, step, confidence;
  OutputOptions output;
};

// --step 10 would be a thousand per cent: shares are shares.
void take_share(const char* option, const std::optional<double>& given, double most, double& out) {
  if (!given) return;
  if (!(*given > 0) || !(*given <= most)) throw Error(ExitCode::usage, "probe-options", fmt::format("{} {:g} is not above 0 and up to {:g}", option, *given, most), "it is a share: 0.05 is 5 %");
  out = *given;
}

int analyse(ProbeOptions o) {
  const RunClock clock;
  check_outputs(o.output);
  check_inputs(o.output, {o.analyse});
  probe::LevelOptions options;
  take_share("--significance", o.significance, 0.5, options.change.significance);
  take_share("--step", o.step, 10, options.least_step);
  take_share("--confidence", o.confidence, 0.9999, options.confidence);
  options.change.method = o.detector == "ks" ? probe::ChangeMethod::ks : probe::ChangeMethod::rank;
  const probe::Curve curve = probe::read_curve(o.analyse);
  const probe::Levels levels = probe::find_levels(curve, options);
  result::Result result = result_of(curve, levels);
  result.manifest.mode = "probe";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(o.analyse, ignored)) result.manifest.inputs = hash_inputs({o.analyse});
  clock.finish(result);
  if (!o.output.json.empty()) write_to(o.output.json, result::to_json(result));
  if (!o.output.csv.empty()) write_to(o.output.csv, report::csv(result));
  const std::string text = text_of(std::filesystem::path(o.analyse).filename().string(), curve, levels, options);
  if (!o.output.output.empty())
    write_to(o.output.output, text);
  else if (!data_on_stdout(o.output))
    print(text);
  return 0;
}

int run_probe(const ProbeOptions& o) {
  if (o.analyse.empty())
    throw Error(ExitCode::unsupported, "probe-device", "measuring a device is not there yet: simtlab probe only analyses curves that were measured elsewhere",
                "simtlab probe --analyse CURVE.csv (columns size_bytes,cycles) finds their levels; simtlab validate timing measures the simulated devices");
  if (!o.gpu.empty()) throw Error(ExitCode::usage, "probe-options", "--analyse takes no device: a curve says nothing of the board that it was measured on", "leave out --gpu");
  return analyse(o);
}

}  // namespace

void add_probe(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("probe", "Find cache levels in a measured curve (measuring devices is not there yet)");
  const auto o = std::make_shared<ProbeOptions>();
  const CLI::Validator not_empty(refuse_empty, "");
  sub->add_option("--analyse", o->analyse, "Find the levels in this curve: CSV with the columns size_bytes,cycles[,weight]")->check(not_empty)->type_name("CURVE.csv");
  sub->add_option("--gpu", o->gpu, "The device to measure (not there yet)")->check(not_empty)->type_name("NAME|FILE");
  sub->add_option("--detector", o->detector, "Of changes: rank (default) or ks, Kolmogorov-Smirnov")->check(CLI::IsMember({"rank", "ks"}))->type_name("NAME");
  sub->add_option("--significance", o->significance, "A change that chance makes more often is none (default 0.05)")->type_name("P");
  sub->add_option("--step", o->step, "Levels differ by at least this share (default 0.1)")->type_name("SHARE");
  sub->add_option("--confidence", o->confidence, "Of the intervals (default 0.95)")->type_name("SHARE");
  add_output_options(*sub, o->output);
  sub->footer("Form: simtlab probe --analyse CURVE.csv [--detector ks] [--json]");
  sub->callback([&chosen, o] { chosen = [o] { return run_probe(*o); }; });
}

}  // namespace simtlab::cli
