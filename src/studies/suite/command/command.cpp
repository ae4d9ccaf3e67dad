// simtlab suite FOLDER: how much of a code base builds, runs and passes its own checks on the simulated GPU.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/shown.h"
#include "base/units.h"
#include "compile/build_cache.h"
#include "compile/toolchain.h"
#include "device/catalogue.h"
#include "report/suite.h"
#include "studies/common/manifest.h"
#include "studies/common/outcome.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/common/studies.h"
#include "studies/suite/suite.h"
#include "studies/toolkit/parts.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

struct SuiteCommand {
  std::string folder, list, work, html;
  std::optional<std::string> limit, build_limit, memory, print_limit;
  studies::SuiteOptions suite;
  RunOptions given;
  OutputOptions output;
};

double seconds_of(const std::optional<std::string>& text, const char* option, double otherwise) {
  if (!text) return otherwise;
  const double seconds = parse_quantity(*text, Unit::nanoseconds) / 1e9;
  if (seconds > 0) return seconds;
  throw Error(ExitCode::usage, "option-value", fmt::format("{} is no time above 0", option),
              fmt::format("for example {} \"90 s\"", option));
}
std::uint64_t bytes_of(const std::optional<std::string>& text, std::uint64_t otherwise) {
  return text ? parse_whole_quantity(*text, Unit::bytes) : otherwise;
}

// Where copies, logs and the state lie if nobody says: in the cache, by the folder's own path.
fs::path default_work(const std::string& folder) {
  std::error_code ignored;
  const fs::path meant = fs::weakly_canonical(folder, ignored);
  const std::string name = meant.has_filename() ? meant.filename().string() : "suite";
  return compile::cache_folder(default_cache()) / "suites" /
         (shown(name, 40) + "-" + hash_bytes(meant.string()));
}

// The options of `simtlab run` that were given, as words for the runs of the programs, which have other
// working folders: names of files become absolute.
std::vector<std::string> words_of(const Command& command, const std::vector<const Option*>& own) {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const Option& option : command.options()) {
    if (option.count() == 0 || std::ranges::find(own, &option) != own.end()) continue;
    for (const std::string& value : option.results()) {
      const bool file = value.find('/') != std::string::npos || value.ends_with(".toml");
      out.push_back(fmt::format("--{}={}", option.long_.front(),
                                file && fs::exists(value, ignored) ? fs::absolute(value).string() : value));
    }
  }
  return out;
}

// Another simtlab, or other libraries: what was found before need not hold.
std::string identity(const fs::path& program, const fs::path& libraries) {
  std::string out(version());
  std::error_code ignored;
  for (const fs::path& file : {program, libraries / "libcudart.so.12"})
    out += fmt::format(" {} {} {}", file.string(), fs::file_size(file, ignored),
                       fs::last_write_time(file, ignored).time_since_epoch().count());
  return out;
}

void complete(SuiteCommand& o) {
  studies::SuiteOptions& s = o.suite;
  s.folder = o.folder, s.list = o.list;
  s.work = fs::absolute(o.work.empty() ? default_work(o.folder) : fs::path(o.work)).lexically_normal();
  s.limits.seconds = seconds_of(o.limit, "--limit", s.limits.seconds);
  s.limits.build_seconds = seconds_of(o.build_limit, "--build-limit", s.limits.build_seconds);
  s.limits.memory_bytes = bytes_of(o.memory, s.limits.memory_bytes);
  s.limits.output_bytes = bytes_of(o.print_limit, s.limits.output_bytes);
  s.parts = toolkit_parts();
  s.tool = identity(s.parts.program, s.parts.libraries);
}

std::optional<Error> failure_of(const result::Suite& found) {
  if (found.unfinished() > 0)
    return Error(
        ExitCode::interrupted, "interrupted",
        fmt::format("stopped with {} of {} programs left", found.unfinished(), found.programs.size()),
        "the same command goes on");
  if (found.failed() > 0)
    return Error(ExitCode::check_failed, "suite-failed",
                 fmt::format("{} of {} programs did not build, run or pass their own check", found.failed(),
                             found.programs.size()),
                 "the table says why; the logs say more");
  return std::nullopt;
}

Outcome outcome_of(result::Suite&& suite, const SuiteCommand& o) {
  const auto found = std::make_shared<const result::Suite>(std::move(suite));
  Outcome out;
  out.output = o.output;
  out.json = [found] { return report::suite_json(*found); };
  out.csv = [found] { return report::suite_csv(*found); };
  out.more = {{o.html, [found] { return report::suite_html(*found); }}};
  out.text = [found](const report::Style& style) { return report::suite_text(*found, style); };
  out.failure = failure_of(*found);
  return out;
}

Outcome suite(SuiteCommand o) {
  o.output.more = {{"--html", &o.html}};
  check_outputs(o.output);
  options::load_device(resolve(o.given));  // its errors before anything is built
  complete(o);
  const Signals signals(0);
  o.suite.stop = signals.flag();
  Progress progress("building and running", o.output);
  std::size_t through = 0;
  o.suite.told = [&](const std::string& project, const result::SuiteProgram* program) {
    if (program == nullptr)
      return progress.at(fmt::format("{}, {} programs are through", shown(project, 60), through));
    ++through;
    narrate(
        o.output, 1,
        fmt::format("{}: {}", shown(program->name, 80), program->fine() ? "fine" : shown(program->reason)));
  };
  result::Suite found = studies::run_suite(o.suite);
  progress.end("done");
  return outcome_of(std::move(found), o);
}

void add_suite_options(Command& sub, SuiteCommand& o) {
  sub.add_option("FOLDER", o.folder, "The folder that holds the programs; it is never written to")
      ->required();
  const auto group = "Suite";
  sub.add_option("--only", o.suite.only, "Programs whose name fits, with * and ?; may be repeated")
      ->check(not_empty())
      ->type_name("PATTERN")
      ->one_at_a_time()
      ->group(group);
  sub.add_option("--list", o.list,
                 "List of programs (TOML, docs/guide/suite.md; default: simtlab-suite.toml of the folder, if "
                 "it is there)")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  sub.add_flag("--build-only", o.suite.build_only, "Run nothing")->group(group);
  sub.add_option("--limit", o.limit, "A run that takes longer is ended (default 120 s)")
      ->check(not_empty())
      ->type_name("TIME")
      ->group(group);
  sub.add_option("--build-limit", o.build_limit, "The same of a build (default 600 s)")
      ->check(not_empty())
      ->type_name("TIME")
      ->group(group);
  sub.add_option("--memory-limit", o.memory, "Memory of one program's processes (default 8 GiB)")
      ->check(not_empty())
      ->type_name("SIZE")
      ->group(group);
  sub.add_option("--print-limit", o.print_limit, "What one build or run may print (default 64 MiB)")
      ->check(not_empty())
      ->type_name("SIZE")
      ->group(group);
  sub.add_option("-j,--jobs", o.suite.jobs, "Projects at once (default 1)")
      ->check(in_range(std::size_t{1}, std::size_t{1024}))
      ->type_name("N")
      ->group(group);
  sub.add_option("--work", o.work,
                 "Folder for copies, logs, results and the state (default: one in the cache)")
      ->check(output_folder())
      ->type_name("FOLDER")
      ->group(group);
  sub.add_flag("--fresh", o.suite.fresh, "Forget what an earlier call found")->group(group);
  sub.add_flag("--retry-failed", o.suite.retry_failed, "Build and run again what failed")->group(group);
  sub.add_flag("--keep", o.suite.keep, "Leave the copies and what was built in the work folder")
      ->group(group);
  sub.add_option("--html", o.html, "Write the table as a page to FILE")
      ->check(output_file())
      ->type_name("FILE")
      ->group("Output");
}

}  // namespace

void add_suite(Command& app) {
  Command* sub = app.add_subcommand(
      "suite", "Which programs of a folder build, run and pass their own check: resumable, in copies");
  const auto o = std::make_shared<SuiteCommand>();
  add_suite_options(*sub, *o);
  add_output_options(*sub, o->output);
  add_progress_option(*sub, o->output);
  const auto own = std::make_shared<std::vector<const Option*>>();
  for (const Option& option : sub->options()) own->push_back(&option);
  add_options(*sub, options::Study::run_suite, o->given);  // those go on to `simtlab run`
  sub->footer(
      "Forms: simtlab suite samples --gpu a100 --jobs 4 --html=samples.html\n"
      "       simtlab suite . --only 'apps/*' --build-only\n"
      "The same command goes on where it was stopped; what has changed is done again.");
  sub->action([o, own](const Call& call) {
    o->suite.run_words = words_of(call.command, *own);
    return suite(*o);
  });
}

}  // namespace simtlab::studies
