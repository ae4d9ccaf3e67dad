// simtlab check: what `simtlab run` takes, with all checks on.
#include "studies/common/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "base/error.h"
#include "base/shown.h"
#include "report/check.h"
#include "result/json.h"
#include "result/merge_findings.h"
#include "studies/check/baseline.h"
#include "studies/check/judge.h"
#include "studies/common/studies.h"
#include "studies/run/replay.h"
#include "studies/run/run.h"

namespace simtlab::studies {
namespace {

struct CheckRun {
  Run run;
  std::vector<std::string> checks, kernels, without_kernels, suppressions;
  std::string level = "error", baseline, write_baseline, text_like = "simtlab";
  std::string sarif, junit, lcov, html;  // where to; "-": stdout; empty: not asked for
  std::optional<unsigned> explore;
  std::string order;
  std::optional<double> coverage_min;  // per cent
  bool nan = false, github = false;
};

const std::vector<std::string>& known_checks() {
  static const std::vector<std::string> names = {"memory", "races", "init",    "barriers",
                                                 "leaks",  "api",   "numbers", "coverage"};
  return names;
}

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

// In the order of known_checks().
std::vector<std::string> chosen_checks(const CheckRun& c) {
  std::vector<std::string> wanted = c.checks;
  for (const std::string& word : wanted) {
    if (word == "all" || has(known_checks(), word)) continue;
    const std::string near = nearest_name(word, known_checks());
    throw Error(ExitCode::usage, "option-value", fmt::format("--checks: there is no check '{}'", shown(word)),
                fmt::format("{}all, or some of {}",
                            near.empty() ? std::string() : fmt::format("did you mean '{}'? ", near),
                            fmt::join(known_checks(), ", ")));
  }
  const bool usual = wanted.empty();
  std::vector<std::string> out;
  for (const std::string& name : known_checks()) {
    const bool of_an_option = (name == "numbers" && c.nan) ||
                              (name == "coverage" && (!c.lcov.empty() || c.coverage_min.has_value()));
    if (of_an_option || has(wanted, "all") || has(wanted, name) || (usual && name != "numbers"))
      out.push_back(name);
  }
  return out;
}

// Options::check.
std::string words_of(const CheckRun& c) {
  std::vector<std::string> words = chosen_checks(c);
  if (c.explore) words.push_back(fmt::format("explore={}", *c.explore));
  if (!c.order.empty()) {
    if (c.explore)
      throw Error(ExitCode::usage, "option-conflict", "--order is one order, --explore tries several",
                  "leave one of them out");
    if (c.order.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:+-") !=
        std::string::npos)
      throw Error(ExitCode::usage, "option-value",
                  fmt::format("--order: '{}' is no order that a finding names", shown(c.order)),
                  "take the word behind `again:` of the report");
    words.push_back("order=" + c.order);
  }
  return fmt::format("{}", fmt::join(words, ","));
}

Judging judging_of(const CheckRun& c, std::vector<std::string>& warnings) {
  Judging out;
  out.kernels = c.kernels;
  out.without_kernels = c.without_kernels;
  for (const std::string& file : c.suppressions)
    for (Suppression& one : read_suppressions(file, warnings)) out.suppressions.push_back(std::move(one));
  if (!c.baseline.empty()) out.baseline = read_baseline(c.baseline);
  out.fails_from = c.level == "warning" ? result::Level::warning : result::Level::error;
  out.coverage_min = c.coverage_min.value_or(0) / 100;
  return out;
}

// `check a.json b.json`: what earlier checks have found, as one.
bool asks_for_results(const Call& call) {
  return !call.rest.empty() && !call.after_dashes &&
         std::ranges::all_of(call.rest, [](const std::string& word) { return word.ends_with(".json"); });
}

Outcome results_of(const Call& call, const OutputOptions& output) {
  Outcome out;
  out.output = output;
  for (const std::string& file : call.rest) {
    result::Result one = result::read_result_file(file);
    if (!one.check)
      throw Error(ExitCode::bad_input, "check-result", fmt::format("{} is no result of a check", shown(file)),
                  "take what `simtlab check --json=FILE` wrote");
    if (out.code == 0) out.code = one.manifest.failure_code;
    if (!out.result) {
      out.result = std::move(one);
      continue;
    }
    result::Result& all = *out.result;
    result::merge(*all.check, std::move(*one.check));
    std::ranges::move(one.kernels, std::back_inserter(all.kernels));
    if (all.manifest.failure.empty()) all.manifest.failure = one.manifest.failure;
    all.manifest.interrupted = all.manifest.interrupted || one.manifest.interrupted;
  }
  return out;
}

void refuse_traces(const Call& call) {
  for (const std::string& word : call.rest)
    if (is_trace(word))
      throw Error(ExitCode::usage, "run-what",
                  fmt::format("{} is a trace: what it recorded was not executed here", shown(word)),
                  "check the program or kernel that it was recorded from");
}

// A failure of the program that a finding explains is no other failure: the exit code is that of findings.
void settle_ending(const report::CheckReport& report, Outcome& out) {
  const bool found = report::counts_of(report).failing != 0;
  const bool program_failed = out.failure ? out.failure->code() == ExitCode::program_failed
                                          : out.code == static_cast<int>(ExitCode::program_failed);
  if (found && program_failed && out.failure) {
    out.verdict = out.failure->format();
    out.failure.reset();
  }
  if (out.failure || (out.code != 0 && !(found && program_failed))) return;
  out.code = found                                 ? static_cast<int>(ExitCode::findings)
             : report::too_little_coverage(report) ? static_cast<int>(ExitCode::check_failed)
                                                   : 0;
}

// A report of nothing because nothing was looked at must not look like one of a clean program.
void note_what_was_not_checked(result::Result& result) {
  const bool looked = result.check.has_value();
  if (!looked) result.check.emplace();
  if (result.kernels.empty() && result.check->launches == 0)
    result.check->gaps.push_back("no kernel was launched");
  else if (!looked)
    result.check->gaps.push_back("the program ended without telling what was found in it");
}

Outcome check(const Call& call, CheckRun c) {
  const bool again = asks_for_results(call);
  if (again) {
    refuse_unread(call.command, options::Study::check_results);
  } else {
    c.run.given.set("check", words_of(c));
    c.run.given.set("mode", "functional");
    c.run.given.set("memory-errors", "report");
    refuse_traces(call);
    refuse_unread(call.command, study_of(c.run, call));
  }
  std::vector<std::string> warnings;
  const Judging judging = judging_of(c, warnings);
  c.run.output.more = {{"--sarif", &c.sarif},
                       {"--junit", &c.junit},
                       {"--lcov", &c.lcov},
                       {"--html", &c.html},
                       {"--write-baseline", &c.write_baseline}};
  check_outputs(c.run.output);
  if (c.github && data_on_stdout(c.run.output))
    throw Error(ExitCode::usage, "option-conflict", "--github and another output would share stdout",
                "give the other one a file, as --sarif=FILE");
  // Writing the baseline that is read is how it is renewed; all else that is read must stay.
  std::vector<std::filesystem::path> inputs(c.suppressions.begin(), c.suppressions.end());
  if (again) inputs.insert(inputs.end(), call.rest.begin(), call.rest.end());
  check_inputs(c.run.output, inputs);
  Outcome out = again ? results_of(call, c.run.output) : run_command(call, c.run);
  if (!out.result) return out;
  // Left by _exit: green would be a lie.
  if (!out.result->check && !out.result->kernels.empty() && !out.failure && out.code == 0)
    out.failure.emplace(ExitCode::program_failed, "program-left",
                        "the program ended without telling what was found in it",
                        "let it end by exit() or by return from main");
  note_what_was_not_checked(*out.result);
  const auto report = std::make_shared<report::CheckReport>(judge(*out.result, judging));
  report->warnings.insert(report->warnings.begin(), warnings.begin(), warnings.end());
  report->all = c.run.output.all || c.run.output.verbose != 0;
  out.text = [report, like = c.text_like](const report::Style& style) {
    return like == "simtlab" ? report::check_text(*report, style) : report::check_like_sanitizer(*report);
  };
  out.beside_program = false;
  const auto add = [&](const std::string& file, std::string (*make)(const report::CheckReport&)) {
    if (!file.empty()) out.more.push_back({file, [report, make] { return make(*report); }});
  };
  add(c.sarif, report::check_sarif);
  add(c.junit, report::check_junit);
  add(c.lcov, report::check_lcov);
  add(c.html, report::check_html);
  add(c.write_baseline, baseline_of);
  if (c.github) add("-", report::check_github);
  settle_ending(*report, out);
  return out;
}

void add_check_options(Command& command, CheckRun& c) {
  const auto group = "Checks";
  command
      .add_option("--checks", c.checks,
                  "What is looked for: all, or some of memory, races, init, barriers, leaks, api, numbers, "
                  "coverage (default: all but numbers)")
      ->delimiter(',')
      ->check(not_empty())
      ->type_name("LIST")
      ->one_at_a_time()
      ->group(group);
  command.add_flag("--nan", c.nan, "The check numbers, too: where the first NaN or infinity comes from")
      ->group(group);
  command
      .add_option("--explore", c.explore,
                  "Run in N other orders of blocks, warps and lanes, too, and say what depends on the order")
      ->check(in_range(1u, 10000u))
      ->type_name("N")
      ->group(group);
  command.add_option("--order", c.order, "Run in this order alone: what a finding of --explore names")
      ->check(not_empty())
      ->type_name("SEED")
      ->group(group);
}

void add_weight_options(Command& command, CheckRun& c) {
  const auto group = "What counts";
  command.add_option("--level", c.level, "Findings that fail the check: error (default), or warning: both")
      ->check(one_of({"error", "warning"}))
      ->type_name("LEVEL")
      ->group(group);
  command
      .add_option("--kernel-name", c.kernels,
                  "Only findings of kernels with such a name (* and ?); may be given again")
      ->check(not_empty())
      ->type_name("PATTERN")
      ->one_at_a_time()
      ->group(group);
  command
      .add_option("--kernel-name-exclude", c.without_kernels,
                  "No findings of kernels with such a name; may be given again")
      ->check(not_empty())
      ->type_name("PATTERN")
      ->one_at_a_time()
      ->group(group);
  command
      .add_option(
          "--suppressions", c.suppressions,
          "Findings that may stay (docs/guide/check.md), or the XML of compute-sanitizer; may be given "
          "again")
      ->check(not_empty())
      ->type_name("FILE")
      ->one_at_a_time()
      ->group(group);
  command.add_option("--baseline", c.baseline, "Findings that are known: only new ones fail")
      ->check(not_empty())
      ->type_name("FILE")
      ->group(group);
  command.add_option("--write-baseline", c.write_baseline, "Write what was found as such a file")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
}

void add_form_options(Command& command, CheckRun& c) {
  const auto form = [&](const char* name, std::string& to, const char* text) {
    command.add_option(name, to, text)->check(output_file())->type_name("[=FILE]")->group("Forms");
  };
  form("--sarif", c.sarif, "SARIF 2.1.0 for code scanning, to stdout or with --sarif=FILE to FILE");
  form("--junit", c.junit, "JUnit's XML, a test case a kernel and check");
  form("--lcov", c.lcov, "Coverage of device code for genhtml, Codecov, GitLab");
  form("--html", c.html, "One page with findings, their code, and coverage");
  command.add_flag("--github", c.github, "Annotations of GitHub Actions on stdout")->group("Forms");
  command
      .add_option(
          "--text-like", c.text_like,
          "simtlab (default), or compute-sanitizer: the text in lines that scripts for that tool read")
      ->check(one_of({"simtlab", "compute-sanitizer"}))
      ->type_name("TOOL")
      ->group("Forms");
}

}  // namespace

void add_check(Command& app) {
  Command* sub = app.add_subcommand(
      "check",
      "Run a program without a GPU and report races, bad accesses, what nobody initialised, wrong "
      "barriers, leaks");
  const auto options = std::make_shared<CheckRun>();
  sub->allow_extras();
  sub->footer(
      "Forms: simtlab check [OPTIONS] app.cu [MORE SOURCES AND NVCC FLAGS] [-- ARGUMENTS]\n"
      "       simtlab check [OPTIONS] -- ./app [ARGUMENTS]\n"
      "       simtlab check [OPTIONS] kernel.ptx --launch FILE\n"
      "       simtlab check [OPTIONS] a.json b.json ...  (results of earlier checks, as one)\n"
      "       simtlab check [OPTIONS] kernel.cl --global 160x160 --local 16x16 --arg ...\n"
      "Exit codes: 0 nothing that counts; 8 findings; 6 too little coverage; else as `simtlab run`.");
  add_options(*sub, options::checked, options->run.given);
  {
    const ReadBy runs(*sub, options::checked);
    add_check_options(*sub, *options);
  }
  sub->add_option("--coverage-min", options->coverage_min,
                  "Fail (exit code 6) where fewer per cent of the lines of device code ran")
      ->check(in_range(0.0, 100.0))
      ->type_name("PERCENT")
      ->group("Checks");
  add_weight_options(*sub, *options);
  {
    const ReadBy kernels(*sub, options::Study::check_kernel);
    add_kernel_options(*sub, options->run.kernel);
  }
  add_form_options(*sub, *options);
  add_output_options(*sub, options->run.output);
  add_progress_option(*sub, options->run.output);
  sub->takes_program();
  sub->embeds();
  sub->action([options](const Call& call) { return check(call, *options); });
}

}  // namespace simtlab::studies
