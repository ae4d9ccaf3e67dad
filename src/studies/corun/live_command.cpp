// simtlab corun live: mixes of real programs, started and judged as the mixes of the models are.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "corun/fast_host.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/corun/live_mixes.h"
#include "studies/corun/mix_choice.h"
#include "studies/corun/model_commands.h"
#include "studies/corun/policy_options.h"
#include "studies/corun/study.h"

namespace simtlab::studies {
namespace {

struct LiveOptions : MixChoice {
  std::string applications, profiles;
  SharedDeviceOptions device;
  PolicyOptions policy;
  OutputOptions output;
};

struct LiveRuns {
  std::vector<CorunCell> cells;
  std::size_t all = 0, ended = 0;
  std::optional<Error> stopped;
};

LiveRuns run_groups(const LiveOptions& o, const Groups& groups, CorunStudy& study, LiveMixes& live) {
  LiveRuns out;
  Progress progress("running", o.output);
  for (const auto& group : groups) {
    study.mixes = group;
    study.limits = limits_of(o, group.front().size());
    out.all += runs_of(study);
  }
  study.told = [&] { progress.at(fmt::format("{} of {} runs of mixes", ++out.ended, out.all)); };
  try {
    progress.at("programs alone");
    for (const auto& group : groups) live.run_alone(group, study);
    for (const auto& group : groups) {
      study.mixes = group;
      study.limits = limits_of(o, group.front().size());
      run_study(study, out.cells);
    }
  } catch (const Error& e) {
    if (e.code() != ExitCode::interrupted) throw;
    out.stopped.emplace(ExitCode::interrupted, "interrupted",
                        fmt::format("interrupted: {} of {} runs of mixes were done", out.ended, out.all),
                        "the report covers policies and limits of which all mixes were done");
    if (out.cells.empty()) throw *out.stopped;
  }
  return out;
}

Outcome run_live(LiveOptions o) {
  const RunClock clock;
  check_policy_options(o.policy, o.policies, !o.priorities.empty());
  check_mix_choice(o);
  check_shared_device(o.device);
  check_outputs(o.output);
  std::vector<std::filesystem::path> inputs = {o.applications};
  if (!o.profiles.empty()) inputs.emplace_back(o.profiles);
  check_inputs(o.output, inputs);
  const Signals signals(0);
  LiveMixOptions options;
  if (!o.device.device.empty()) options.device = o.device;
  options.profiles = o.profiles;
  options.quiet = o.output.quiet;
  options.stop = signals.flag();
  LiveMixes live(o.applications, options);
  CorunStudy study;
  study.policies = o.policies;
  study.options.settings = settings_of(o.policy);
  study.priorities = priorities_of(o, live.names());
  study.stop = signals.flag();
  const Groups groups = mixes_of(o, live.names());
  for (const auto& group : groups) live.check_names(group);
  check_limits(o, groups, o.output.quiet);
  const LiveRuns runs = run_groups(o, groups, study, live);
  result::Result result = result_of(runs.cells, true);
  result.manifest.mode = "corun";
  result.manifest.seed = o.seed.value_or(1);
  result.manifest.inputs = hash_inputs(inputs);
  result.manifest.device =
      o.device.device.empty() ? "" : o.device.device.substr(o.device.device.find(':') + 1);
  clock.finish(result);
  if (runs.stopped) note_stop(result.manifest, *runs.stopped);
  Outcome out(std::move(result), o.output);
  out.text = [text = text_of(runs.cells, true)](const report::Style&) { return text; };
  out.failure = runs.stopped;
  return out;
}

}  // namespace

void add_corun_live(Command& corun) {
  Command* sub = corun.add_subcommand(
      "live", "Start mixes of real programs under several policies and limits, and judge them");
  const auto o = std::make_shared<LiveOptions>();
  sub->add_option("--applications", o->applications,
                  "The programs (TOML, docs/guide/corun-live.md): [[application]] with name, run, arguments")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  add_mix_choice(*sub, *o);
  add_priorities(*sub, *o);
  sub->add_option("--profiles", o->profiles,
                  "What is known of kernels: .toml, .csv or a database; policies decide by it")
      ->check(not_empty())
      ->type_name("FILE");
  add_shared_device(*sub, o->device,
                    "The programs of a mix share this simulated GPU (default: the machine's CUDA)");
  add_policy_options(*sub, o->policy);
  add_output_options(*sub, o->output);
  add_progress_option(*sub, o->output);
  sub->footer(
      "Form: simtlab corun live --applications apps.toml --mix a,b,b --policy mps,shark --limit 2 --profiles "
      "my.db --csv");
  sub->action([o](const Call&) { return run_live(*o); });
}

}  // namespace simtlab::studies
