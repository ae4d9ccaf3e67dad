// simtlab corun: mixes of applications under several policies, on the fast host or the cycle-level one.
// simtlab corun replay: a policy over a trace of events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "device/catalogue.h"
#include "report/format.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/corun/cycle.h"
#include "studies/corun/mix_choice.h"
#include "studies/corun/model_commands.h"
#include "studies/corun/policy_options.h"
#include "studies/corun/study.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_trace_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t most_launches = 1'000'000'000;
constexpr double most_applications = 2'000'000;  // whose results are kept
constexpr double most_kept_launches = 1'000'000;
constexpr std::size_t launches_of_one_mix = 500;  // kept for a picture unless the user says otherwise

struct MixOptions : MixChoice {
  std::string host = "fast";
  std::string profiles, model, log;  // fast: the first two
  std::optional<double> shorten;     // fast
  std::optional<std::size_t> launches;
  std::string applications;  // cycle
  RunOptions given;          // cycle; the device is for both
  bool learn = false;
  bool copies = false;  // cycle
  bool cycle() const { return host == "cycle"; }
  bool on_sms() const { return cycle() || given.has("gpu"); }
  options::Study study() const {
    return cycle()    ? options::Study::mix_cycle
           : on_sms() ? options::Study::mix_on_sms
                      : options::Study::mix_alone;
  }
  PolicyOptions policy;
  OutputOptions output;
};

void check_policies(const MixOptions& o) {
  check_policy_options(o.policy, o.policies, !o.priorities.empty());
  check_finite("--shorten", o.shorten);
  double applications = o.mixes.empty() ? 0 : static_cast<double>(o.mixes.size()) * 1024;
  for (const std::size_t size : o.sizes.empty() ? std::vector<std::size_t>{8} : o.sizes)
    applications += static_cast<double>(size * o.count.value_or(30));
  if (applications *
          static_cast<double>((o.policies.size() + 1) * std::max<std::size_t>(1, o.limits.size())) >
      most_applications)
    throw Error(ExitCode::usage, "corun-amount",
                fmt::format("that is more than {:g} applications over all mixes, policies and limits",
                            most_applications),
                "fewer mixes at a time");
  check_mix_choice(o);
}

// All that would be launched, before anything runs.
void check_amount(const CorunStudy& study) {
  std::uint64_t launches = 0;
  for (const auto& mix : study.mixes)
    for (const corun::Workload& w : corun::workloads(study.profiles, mix, study.shorten)) {
      launches += w.launches();
      if (launches > most_launches)
        throw Error(ExitCode::usage, "corun-amount",
                    fmt::format("these mixes launch more than {} kernels", most_launches),
                    "fewer mixes, or --shorten 100");
    }
}

// What either host is given, and what it was made of.
struct MixHost {
  std::vector<std::string> applications;
  std::vector<std::filesystem::path> inputs;
  std::optional<CycleApplications> cycle;
  // Of the GPU with SMs, on the fast host too.
  std::optional<options::Configuration> configuration;
  std::optional<device::LoadedDevice> device;
};

void open_fast(const MixOptions& o, const OutputOptions& output, CorunStudy& study, MixHost& host) {
  const auto folder = device::data_directory() / "corun";
  host.inputs = {o.profiles.empty() ? folder / "titanx-thesis.toml" : std::filesystem::path(o.profiles)};
  if (!o.on_sms())
    host.inputs.push_back(o.model.empty() ? folder / "model-titanx.toml" : std::filesystem::path(o.model));
  check_inputs(output, host.inputs);
  if (o.on_sms()) {
    host.configuration = resolve(o.given);
    host.device = options::load_device(*host.configuration);
    check_inputs(output, files_of(*host.configuration, *host.device));
    study.options.device = &host.device->device;
    study.options.sharing = sm_sharing(*host.configuration, host.device->device);
  }
  study.shorten = o.shorten.value_or(10);
  study.profiles = corun::load_profiles(host.inputs[0]);
  if (!o.on_sms()) study.options.model = corun::load_model(host.inputs[1]);
  for (const auto& [name, app] : study.profiles.applications) host.applications.push_back(name);
}

void open_cycle(const Command& app, const MixOptions& o, const OutputOptions& output, CorunStudy& study,
                MixHost& host) {
  host.cycle.emplace(app, o.applications, o.given, o.copies);
  host.applications = host.cycle->names();
  host.inputs = {host.cycle->file()};
  check_inputs(output, host.inputs);
  check_inputs(output, files_of(host.cycle->configuration(), host.cycle->device()));
  study.shorten = 1;
  host.configuration = host.cycle->configuration();
  host.device = host.cycle->device();
}

// How many launches of each mix are kept.
std::size_t kept_launches(const MixOptions& o, const Groups& groups) {
  std::size_t mixes = 0;
  for (const auto& group : groups) mixes += group.size();
  const std::size_t out = o.launches.value_or(mixes == 1 ? launches_of_one_mix : 0);
  if (static_cast<double>(out * mixes * o.policies.size() * std::max<std::size_t>(1, o.limits.size())) >
      most_kept_launches)
    throw Error(
        ExitCode::usage, "corun-amount",
        fmt::format("--launches {} would keep more than {:g} launches over all mixes, policies and limits",
                    out, most_kept_launches),
        "a smaller N, or fewer mixes at a time");
  return out;
}

struct MixRuns {
  std::vector<CorunCell> cells;
  std::size_t all = 0, ended = 0;
  std::optional<Error> stopped;
  std::string done() const { return fmt::format("{} of {} runs of mixes were done", ended, all); }
};

MixRuns run_groups(const MixOptions& o, const Groups& groups, CorunStudy& study, MixHost& host) {
  MixRuns out;
  const Signals signals(host.cycle ? host.cycle->configuration().options.max_time_ns * 1e-9 : 0);
  study.stop = signals.flag();
  try {
    Progress progress("simulating", o.output);
    if (host.cycle) progress.at("applications alone"), host.cycle->run_alone(signals.flag(), study);
    const auto choose = [&](const auto& group) {
      study.mixes = group;
      study.limits = limits_of(o, group.front().size());
    };
    for (const auto& group : groups) choose(group), out.all += runs_of(study);
    const auto tell = [&] { progress.at(fmt::format("{} of {} runs of mixes", out.ended, out.all)); };
    study.told = [&] { ++out.ended, tell(); };
    tell();
    for (const auto& group : groups) {
      choose(group);
      check_amount(study);
      run_study(study, out.cells);
    }
  } catch (const Error& e) {
    if (e.code() != ExitCode::interrupted) throw;
    if (signals.timed_out())
      out.stopped = time_limit(host.cycle->configuration().options, "");
    else
      out.stopped.emplace(ExitCode::interrupted, "interrupted", "interrupted: " + out.done(),
                          out.cells.empty()
                              ? "no policy had run all of them: there is nothing to report"
                              : "the report covers policies and limits of which all mixes were done");
    if (out.cells.empty()) throw *out.stopped;
  }
  return out;
}

result::Result result_of(const MixOptions& o, const MixHost& host, const MixRuns& runs, bool applications,
                         const RunClock& clock) {
  result::Result out = result_of(runs.cells, applications);
  out.manifest.mode = "corun";
  out.manifest.seed = o.seed.value_or(1);
  out.manifest.inputs = hash_inputs(host.inputs);
  if (host.device) {
    out.manifest.device = host.device->device.name;
    out.manifest.configuration = configuration_of(*host.configuration, *host.device);
  }
  clock.finish(out);
  if (runs.stopped) note_stop(out.manifest, *runs.stopped);
  return out;
}

Outcome run_mixes(const Command& app, MixOptions& o) {
  const RunClock clock;
  check_policies(o);
  OutputOptions output = o.output;
  if (!o.log.empty()) output.more.push_back({"--log", &o.log});
  check_outputs(output);
  CorunStudy study;
  MixHost host;
  if (o.cycle())
    open_cycle(app, o, output, study, host);
  else
    open_fast(o, output, study, host);
  study.policies = o.policies;
  study.options.settings = settings_of(o.policy);
  study.options.learn = o.learn;
  study.priorities = priorities_of(o, host.applications);
  const Groups groups = mixes_of(o, host.applications);
  check_limits(o, groups, o.output.quiet);
  study.options.launches = kept_launches(o, groups);
  std::string log;
  if (!o.log.empty()) {
    if (groups.size() != 1 || groups.front().size() != 1 || o.policies.size() != 1 || o.limits.size() > 1)
      throw Error(ExitCode::usage, "option-conflict", "--log is of one mix under one policy with one limit",
                  "--mix HW,HW,LAVA --policy shark --limit 2 --log FILE");
    study.options.log = [&log](std::string_view line) { log.append(line) += '\n'; };
  }
  if (host.cycle)
    for (const auto& group : groups) host.cycle->record(group, output);
  const MixRuns runs = run_groups(o, groups, study, host);
  const bool applications = !o.mixes.empty() || output.all;
  Outcome out(result_of(o, host, runs, applications, clock), output);
  out.text = [text = (runs.stopped ? fmt::format("INCOMPLETE: {}\n\n", runs.done()) : "") +
                     text_of(runs.cells, applications)](const report::Style&) { return text; };
  out.more.push_back({o.log, [log = std::move(log)] { return log; }});
  out.failure = runs.stopped;
  return out;
}

struct ReplayOptions {
  std::string trace, policy;
  std::optional<std::uint32_t> limit;
  PolicyOptions settings;
  OutputOptions output;
};

std::string figures_text(const corun::LogFigures& f, const std::string& who) {
  return fmt::format("{}: launches waited {} in the mean, {} at most; the last one ended after {}\n", who,
                     report::format_time(f.wait_mean),
                     report::format_time(static_cast<double>(f.wait_longest)),
                     report::format_time(static_cast<double>(f.last_end)));
}

// What another policy would have changed: a launch takes as long as the log says, so only waiting differs.
std::string figures_text(const corun::Replayed& r, bool other) {
  if (!other) return r.after.granted == 0 ? "" : figures_text(r.after, "this log");
  std::string out = r.before.granted == 0 ? "" : figures_text(r.before, "in the log");
  if (r.after.granted == 0) return out;
  out += figures_text(r.after, fmt::format("under {}", r.policy->name));
  std::vector<double> ratios;
  for (const auto& [client, before] : r.before.turnaround)
    if (const auto after = r.after.turnaround.find(client);
        before != 0 && after != r.after.turnaround.end() && after->second != 0)
      ratios.push_back(static_cast<double>(before) / static_cast<double>(after->second));
  if (ratios.empty()) return out;
  const auto [least, most] = std::ranges::minmax(ratios);
  return out + fmt::format(
                   "speed-up of the turnaround of {} clients against the log: {:.3f} (geometric mean; {:.3f} "
                   "to {:.3f})\n",
                   ratios.size(), corun::geometric_mean(ratios), least, most);
}

Outcome run_replay(ReplayOptions o) {
  check_outputs(o.output);
  check_inputs(o.output, {o.trace});
  const PolicyOptions& p = o.settings;
  if (o.policy.empty() && (o.limit || p.light || p.best_effort || p.aging || p.quantum_ms || p.l2_cap ||
                           p.dram_cap || p.memory_class))
    throw Error(ExitCode::usage, "option-conflict",
                "without --policy a trace is replayed under its own policy and settings",
                "add --policy NAME");
  const std::string text = read_file(o.trace, max_trace_bytes, "trace of events");
  const corun::Policy* other = o.policy.empty() ? nullptr : &corun::policy(o.policy);
  corun::Settings settings = settings_of(p);
  settings.limit = o.limit.value_or(settings.limit);
  const corun::Replayed replayed =
      corun::replay(text, o.trace, other, other == nullptr ? nullptr : &settings);
  Outcome out;
  out.text = [log = replayed.log](const report::Style&) { return log; };
  out.output = o.output;
  if (out.output.output.empty())
    out.output.output = "-";  // the log is data: what is said of it goes to stderr
  out.remark = fmt::format("{} launches, {} granted, {} wait, {} run at the end{}\n", replayed.launches,
                           replayed.grants, replayed.waiting, replayed.running,
                           !replayed.had_grants || other != nullptr ? ""
                           : replayed.difference.empty()            ? "; the same decisions as in the log"
                                                                    : "");
  out.remark += figures_text(replayed, other != nullptr);
  if (replayed.unknown != 0)
    out.remark += fmt::format(
        "note: policy {} decides by the {} of kernels, which {} of {} kernels lack (first {}): {}\n",
        replayed.policy->name, corun::knowledge_text(replayed.policy->needs), replayed.unknown,
        replayed.kernels, shown(replayed.first_unknown), unknown_text(*replayed.policy));
  if (other == nullptr && !replayed.difference.empty())
    out.failure =
        Error(ExitCode::check_failed, "corun-replay",
              fmt::format("other decisions than in the log: {}", replayed.difference),
              "--policy NAME replays its events under a policy of your choice, without a comparison");
  return out;
}

void add_cycle_options(Command& corun, MixOptions& o) {
  const auto group = "GPU with SMs";
  corun
      .add_option("--host", o.host,
                  "fast: the interference model, or with --gpu a model of its SMs (default); cycle: recorded "
                  "applications on the simulated GPU")
      ->check(one_of({"fast", "cycle"}))
      ->type_name("HOST");
  const ReadBy cycle(corun, options::Study::mix_cycle);
  corun
      .add_option(
          "--applications", o.applications,
          "What the applications of mixes run (TOML, docs/concepts/corun.md; default: examples/corun.toml)")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  corun
      .add_flag("--copies", o.copies,
                "Copies of the applications take their time and the engines for them, as under simtlab run; "
                "without, they take none")
      ->group(group);
  add_options(corun, options::mixes, o.given);
}

}  // namespace

void add_corun_mixes(Command& corun) {
  const auto o = std::make_shared<MixOptions>();
  add_mix_choice(corun, *o);
  {
    const ReadBy fast(corun, options::Study::mix_alone | options::Study::mix_on_sms);
    corun
        .add_option("--profiles", o->profiles,
                    "Kernels and applications: TOML, CSV or SQLite (default: Table 5.1 of the SHARK thesis)")
        ->check(not_empty())
        ->type_name("FILE");
    read_by(corun
                .add_option("--model", o->model,
                            "Parameters of the interference model (default: data/corun/model-titanx.toml)")
                ->check(not_empty())
                ->type_name("FILE"),
            options::Study::mix_alone);
    corun.add_option("--shorten", o->shorten, "Applications do 1/X of their iterations (default 10)")
        ->check(in_range(1.0, 1e9))
        ->type_name("X");
  }
  add_priorities(corun, *o);
  corun
      .add_option("--launches", o->launches,
                  "Launches of each mix and policy that the result keeps for the page's picture (default: "
                  "500 of a single mix, none of several)")
      ->check(in_range(0, 100000))
      ->type_name("N");
  corun.add_flag("--learn", o->learn, "Kernels are unknown to the policy until they have run once");
  corun.add_option("--log", o->log, "Write the decision log of a single run; - is stdout")
      ->check(output_file())
      ->type_name("FILE");
  add_policy_options(corun, o->policy);
  add_cycle_options(corun, *o);
  add_output_options(corun, o->output);
  add_progress_option(corun, o->output);
  std::string footer = "Policies:\n";
  for (const corun::Policy* p : corun::policies()) footer += fmt::format("  {:<18} {}\n", p->name, p->doc);
  corun.footer(footer +
               "Form: simtlab corun --mixes 30 --size 4,8,16 --limit 2,4,8,16 --policy mps,shark,fair");
  corun.action([o](const Call& call) {
    refuse_unread(call.command, o->study());
    return run_mixes(call.command, *o);
  });
}

void add_corun_replay(Command& corun) {
  Command* sub = corun.add_subcommand(
      "replay",
      "Run a policy over a trace of events; of a decision log, check that the decisions are the same");
  const auto o = std::make_shared<ReplayOptions>();
  sub->add_option("trace", o->trace, "Trace or decision log")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  sub->add_option("--policy", o->policy, "Another policy than that of the trace")
      ->check(not_empty())
      ->type_name("NAME");
  sub->add_option("--limit", o->limit, "With --policy: its limit (default 8)")
      ->check(in_range(1, 1 << 20))
      ->type_name("N");
  sub->add_option("-o,--output", o->output.output, "Write the log there instead of stdout")
      ->check(output_file())
      ->type_name("FILE");
  sub->add_flag("-q,--quiet", o->output.quiet, "No summary on stderr");
  add_policy_options(*sub, o->settings);
  sub->embeds();
  sub->action([o](const Call&) { return run_replay(*o); });
}

}  // namespace simtlab::studies
