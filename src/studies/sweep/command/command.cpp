// simtlab sweep: a command at many points, on all cores or on a cluster, resumable.
#include "studies/common/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "base/shell.h"
#include "base/shown.h"
#include "base/units.h"
#include "compile/toolchain.h"
#include "studies/common/host.h"
#include "studies/common/outcome.h"
#include "studies/common/signals.h"
#include "studies/common/studies.h"
#include "studies/common/temporary.h"
#include "studies/sweep/command/options.h"
#include "studies/sweep/command/table.h"
#include "studies/sweep/difference.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t differences_told = 3;

// What the study in the database has that this one has not; empty: it is this one.
std::string difference(const studies::sweep::Store& store, const studies::sweep::Study& study) {
  std::vector<std::string> all =
      studies::sweep::differences(store.definition(), studies::sweep::definition(study));
  const std::size_t more = all.size() - std::min(all.size(), differences_told);
  all.resize(all.size() - more);
  return fmt::format("{}{}", fmt::join(all, "; "), more == 0 ? "" : fmt::format("; and {} more", more));
}

// Another study's database is never mixed with this one's.
void check_same_study(const studies::sweep::Store& store, const studies::sweep::Study& study,
                      const std::string& db) {
  if (const std::string what = difference(store, study); !what.empty())
    throw Error(ExitCode::bad_input, "sweep-other-study",
                fmt::format("{} holds another study: {}", shown(db), what),
                "another --db FILE, or remove that one");
}

// The study in the database, or a new one. One that never had a result, as that of a command line with a
// wrong word, is in nobody's way.
void take_study(studies::sweep::Store& store, const studies::sweep::Study& study, const std::string& db,
                const volatile bool* stop) {
  if (store.has_study()) {
    const std::string what = difference(store, study);
    if (what.empty()) return;
    studies::sweep::recover(store);  // results that wait beside the database count
    if (store.counts().done != 0 || !store.batches(true).empty()) check_same_study(store, study, db);
    talk(fmt::format("note: {} held another study without any result, which this one replaces: {}\n",
                     shown(db), what));
    store.clear();
  }
  store.begin(study, stop);
}

studies::sweep::EngineOptions engine_options(const Command& app, const SweepOptions& o,
                                             const studies::sweep::Study& study) {
  studies::sweep::EngineOptions out;
  std::error_code code;
  // In somebody else's program the tool is another one.
  if (!o.program.empty())
    out.program = fs::absolute(o.program).string();
  else if (host() != nullptr)
    out.program = compile::find_tool().string();
  else
    out.program = fs::read_symlink("/proc/self/exe", code).string();
  if (o.engine == "local" && ::access(out.program.c_str(), X_OK) != 0)
    throw Error(ExitCode::bad_input, "file-missing", fmt::format("{} is no program", shown(out.program)),
                "--program names the simtlab that runs the points");
  out.jobs = o.jobs.value_or(std::max(1u, std::thread::hardware_concurrency()));
  // The points share the cores; results are the same for any number of threads.
  const bool set =
      sets_option(study, "threads") ||
      std::ranges::any_of(study.axes, [](const studies::sweep::Axis& a) { return a.name == "threads"; });
  if (!set && command_has(app, study.command.front(), "threads") && (out.jobs > 1 || o.engine != "local"))
    out.extra.emplace_back("--threads=1");
  out.most_failures = o.max_failures, out.retries = o.retries;
  return out;
}

std::string db_of(const SweepOptions& o, const studies::sweep::Study& study) {
  return o.db.empty() ? study.name + ".db" : o.db;
}

std::string scripts_text(const studies::sweep::Study& study, const SweepOptions& o,
                         const studies::sweep::EngineOptions& engine) {
  const std::string db = db_of(o, study);
  std::error_code ignored;
  const TemporaryDirectory folder;
  const bool there = fs::exists(db, ignored);
  studies::sweep::Store store(there ? fs::path(db) : folder.path() / fs::path(db).filename(),
                              there ? studies::sweep::Store::Mode::read : studies::sweep::Store::Mode::write);
  if (there)
    check_same_study(store, study, db);
  else
    store.begin(study, nullptr), store.stand_for(db);
  std::string text;
  for (const studies::sweep::Script& s : studies::sweep::slurm_scripts(study, store, engine, o.slurm))
    text += fmt::format("# {}\n{}\n", s.name, s.content);
  return text;
}

// A line a point, also of those before what was wrong.
std::string commands_text(const studies::sweep::Study& study, std::optional<Error>& failure) {
  std::string text;
  try {
    const studies::sweep::Expansion e =
        studies::sweep::expand(study, [&](const studies::sweep::Combination& c) {
          for (std::uint64_t r = 0; r < study.repeats; ++r) {
            std::vector<std::string> words = studies::sweep::point_command(study, c.values, study.seed + r);
            words.insert(words.begin(), "simtlab");
            text += shell_words(words) + "\n";
          }
        });
    talk(fmt::format("{} points in {}\n", e.combinations * study.repeats, shown(study.folder)));
  } catch (const Error& e) { failure = e; }
  return text;
}

// What would be run, without running or keeping anything. It goes to stdout, whatever outputs the study has.
Outcome plan_of(const studies::sweep::Study& study, const SweepOptions& o,
                const studies::sweep::EngineOptions& engine) {
  Outcome out;
  std::string plan = o.engine == "slurm" ? scripts_text(study, o, engine) : commands_text(study, out.failure);
  out.text = [plan = std::move(plan)](const report::Style&) { return plan; };
  return out;
}

void remember_interest(studies::sweep::Store& store, const studies::sweep::Study& study,
                       const std::vector<std::string>& baseline) {
  const auto keep = [&](const char* key, const std::vector<std::string>& names) {
    if (!names.empty())
      store.set_value(key,
                      nlohmann::json(names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  keep("metrics", study.metrics), keep("minimise", study.minimise), keep("maximise", study.maximise);
  keep("baseline", baseline);
  store.commit();
}

std::optional<Error> failure_of(const result::Study& found, studies::sweep::Ending ending) {
  const std::uint64_t left = found.pending + found.running;
  if (ending == studies::sweep::Ending::interrupted)
    return Error(ExitCode::interrupted, "interrupted",
                 fmt::format("stopped with {} of {} points left", left, found.points.size()),
                 "the same command goes on");
  if (ending == studies::sweep::Ending::too_many_failures)
    return Error(ExitCode::failure, "sweep-failed",
                 fmt::format("{} points failed; {} were not run", found.failed, left),
                 "--max-failures sets the limit; --retry-failed runs them again");
  if (found.failed > 0)
    return Error(ExitCode::failure, "sweep-failed",
                 fmt::format("{} of {} points failed", found.failed, found.points.size()),
                 "their errors are in the report; --retry-failed runs them again");
  return std::nullopt;
}

Outcome finish_sweep(const studies::sweep::Store& store, const studies::sweep::Study& study,
                     const SweepOptions& o, studies::sweep::Ending ending, const std::string& db) {
  result::Study found =
      studies::sweep::summary(store, {study.metrics, study.minimise, study.maximise, o.baseline});
  std::optional<Error> failure = failure_of(found, ending);
  const std::string next =
      fmt::format("simtlab report {} --html=r.html; --point N is one point's result", shell_words({db}));
  Outcome out = study_outcome(std::move(found), {o.html, o.timeline, "", next}, o.output);
  out.failure = std::move(failure);
  return out;
}

Outcome sweep_command(const Call& call, SweepOptions o) {
  o.output.more = {{"--html", &o.html}, {"--timeline", &o.timeline}};
  check_outputs(o.output);
  const studies::sweep::Study study = study_of(call, o);
  const std::string db = db_of(o, study);
  check_inputs(o.output, o.study.empty() ? std::vector<fs::path>{db} : std::vector<fs::path>{db, o.study});
  studies::sweep::EngineOptions engine = engine_options(call.command.root(), o, study);
  if (o.dry_run) return plan_of(study, o, engine);
  const Signals signals(0);
  engine.stop = signals.flag();
  studies::sweep::Store store(db, studies::sweep::Store::Mode::write);
  take_study(store, study, db, signals.flag());
  remember_interest(store, study, o.baseline);
  SweepTable table(store.axis_names(), o.output);
  engine.suspend = table.suspension_wanted();
  const std::uint64_t taken = studies::sweep::recover(store);
  if (o.retry_failed) {
    store.give_back_all(studies::sweep::State::failed);
    store.commit();
  }
  const studies::sweep::Counts before = store.counts();
  if (before.done + before.failed > 0)
    table.say(fmt::format("{}: {} of {} points are there already{}", shown(db), before.done + before.failed,
                          before.all(),
                          taken > 0 ? fmt::format(" ({} found beside the database)", taken) : ""));
  const studies::sweep::Ending ending = o.engine == "slurm"
                                            ? studies::sweep::run_slurm(study, store, engine, o.slurm, table)
                                            : studies::sweep::run_local(study, store, engine, table);
  table.clear();
  return finish_sweep(store, study, o, ending, db);
}

int task_command(const std::string& list, std::uint64_t task) {
  const Signals signals(0);
  return studies::sweep::run_task(list, task, signals.flag());
}

void add_study_part(Command& sub, SweepOptions& o) {
  const auto list = [&](const char* name, std::vector<std::string>& to, const char* text, const char* type) {
    sub.add_option(name, to, text)->check(not_empty())->type_name(type)->one_at_a_time()->group("Study");
  };
  sub.add_option("STUDY", o.study, "Study file (TOML, docs/guide/sweep.md); options change what it says");
  list("--axis", o.axes,
       "What varies: an option of the command, a key of the device, or a {NAME} in the command; values, "
       "FIRST:LAST:STEP or doublings FIRST:LAST",
       "NAME=[VALUES]");
  sub.add_option("--kernels", o.kernels,
                 "Inputs of the command as an axis of their own, each with its options: app.cu \"k.ptx "
                 "--launch k.toml\"")
      ->check(not_empty())
      ->type_name("FILE...")
      ->group("Study");
  sub.add_option("--design", o.design, "cartesian (default), zip, random or latin-hypercube")
      ->check(not_empty())
      ->type_name("NAME")
      ->group("Study");
  sub.add_option("--points", o.points, "Combinations of a random or latin-hypercube design")
      ->check(in_range(std::uint64_t{1}, studies::sweep::most_points))
      ->type_name("N")
      ->group("Study");
  list("--constraint", o.constraints,
       "Leave out combinations for which this is not so, as \"sm.count < 100 or dram == 'hbm3'\"",
       "EXPRESSION");
  sub.add_option("--repeats", o.repeats,
                 "Runs of each combination, with a seed each; figures are their medians")
      ->check(in_range(std::uint64_t{1}, std::uint64_t{100000}))
      ->type_name("N")
      ->group("Study");
  sub.add_option("--seed", o.seed, "Of the design, and of the first repeat (default 0)")
      ->type_name("N")
      ->group("Study");
  list("--metric", o.metrics, "A metric for the report (default: the time)", "NAME");
  list("--minimise", o.minimise, "A metric or axis of which less is better, for the Pareto front", "NAME");
  list("--maximise", o.maximise, "A metric or axis of which more is better", "NAME");
  list("--baseline", o.baseline,
       "What each kernel is compared with, as dram=ddr2 (default: the first value of each axis)",
       "AXIS=VALUE");
}

void add_run_part(Command& sub, SweepOptions& o) {
  const auto group = "Running";
  sub.add_option("--db", o.db, "Database of the results (default STUDY.db); one that exists is gone on with")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  sub.add_option("-j,--jobs", o.jobs, "Points at once (default: the cores)")
      ->check(in_range(std::size_t{1}, std::size_t{1024}))
      ->type_name("N")
      ->group(group);
  sub.add_option("--timeout", o.timeout, "A point that takes longer has failed, e.g. \"90 s\"")
      ->check(not_empty())
      ->type_name("TIME")
      ->group(group);
  sub.add_option("--max-failures", o.max_failures, "Stop when N points have failed (default: run all)")
      ->type_name("N")
      ->group(group);
  sub.add_flag("--retry-failed", o.retry_failed, "Run points again that failed")->group(group);
  sub.add_flag("--dry-run", o.dry_run,
               "Print the commands, or with --engine slurm the scripts, and run nothing")
      ->group(group);
  sub.add_option("--engine", o.engine, "local (default): processes on this machine; slurm: job arrays")
      ->check(one_of({"local", "slurm"}))
      ->type_name("NAME")
      ->group(group);
  sub.add_option("--program", o.program, "The simtlab that runs the points (default: this one)")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  const auto slurm = "Slurm";
  sub.add_option("--sbatch", o.slurm.options,
                 "An option for sbatch, e.g. --sbatch=--partition=long; may be repeated")
      ->check(not_empty())
      ->type_name("OPTION")
      ->one_at_a_time()
      ->group(slurm);
  sub.add_option("--tasks", o.slurm.tasks, "Tasks of a job array at once (default: what the cluster gives)")
      ->type_name("N")
      ->group(slurm);
  sub.add_option(
         "--points-per-task", o.slurm.points_a_task,
         "Points that a task runs one after the other (default: so that an array has at most 1000 tasks)")
      ->check(in_range(std::uint64_t{1}, std::uint64_t{100000}))
      ->type_name("N")
      ->group(slurm);
  sub.add_option("--retries", o.retries,
                 "How often a point that was lost with its node is given to the cluster again (default 2)")
      ->check(in_range(std::uint64_t{0}, std::uint64_t{100}))
      ->type_name("N")
      ->group(slurm);
  sub.add_option("--poll", o.slurm.poll_s, "Seconds between looks at the jobs (default 2)")
      ->check(in_range(0.1, 3600.0))
      ->type_name("S")
      ->group(slurm);
}

}  // namespace

void add_sweep(Command& app) {
  Command* sub = app.add_subcommand(
      "sweep",
      "Run a command at many points: all combinations or a sample, on all cores or a cluster, resumable");
  const auto o = std::make_shared<SweepOptions>();
  const auto list = std::make_shared<std::string>();
  const auto task = std::make_shared<std::uint64_t>(0);
  add_study_part(*sub, *o);
  add_run_part(*sub, *o);
  sub->add_option("--task-list", *list)->group("");  // for the scripts of the Slurm engine
  sub->add_option("--task", *task)->group("");
  const auto form = [&](const char* name, std::string& to, const char* text) {
    sub->add_option(name, to, text)->check(output_file())->type_name("FILE")->group("Output");
  };
  form("--html", o->html, "Write a page with Pareto front, main effects and points to FILE");
  form("--timeline", o->timeline, "Write which point ran when and where to FILE, for ui.perfetto.dev");
  add_output_options(*sub, o->output);
  add_progress_option(*sub, o->output);
  sub->footer(
      "Forms: simtlab sweep study.toml\n"
      "       simtlab sweep --axis sm.count=[60:132:12] --kernels app.cu other.cu\n"
      "       simtlab sweep --axis dram=[hbm2,hbm3] --db memory.db -- run k.ptx --launch k.toml --gpu a100\n"
      "       simtlab sweep study.toml --engine slurm --sbatch=--partition=long\n"
      "The same command goes on where it was stopped or killed.");
  sub->takes_program();
  sub->embeds();
  sub->action([o, list, task](const Call& call) {
    return list->empty() ? sweep_command(call, *o) : task_command(*list, *task);
  });
}

}  // namespace simtlab::studies
