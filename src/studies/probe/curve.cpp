// simtlab probe --analyse: levels in a curve of latency by size that was measured elsewhere.
#include "probe/analysis/curve.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "probe/analysis/levels.h"
#include "studies/common/manifest.h"
#include "studies/probe/probe.h"
#include "studies/probe/result.h"

namespace simtlab::studies {
namespace {

// --step 10 would be a thousand per cent: shares are shares.
void take_share(const char* option, const std::optional<double>& given, double most, double& out) {
  if (!given) return;
  if (!(*given > 0) || !(*given <= most))
    throw Error(ExitCode::usage, "probe-options",
                fmt::format("{} {:g} is not above 0 and up to {:g}", option, *given, most),
                "it is a share: 0.05 is 5 %");
  out = *given;
}

}  // namespace

Outcome probe_curve(ProbeOptions o) {
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
  Outcome out(std::move(result), o.output);
  out.text = [=, name = std::filesystem::path(o.analyse).filename().string()](const report::Style&) {
    return text_of(name, curve, levels, options);
  };
  return out;
}

}  // namespace simtlab::studies
