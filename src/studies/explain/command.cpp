// simtlab explain WORD: what a word of a report, a configuration or the command line means (word.h).
// Of a file: the result in it.
#include "studies/common/command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/shown.h"
#include "studies/common/host.h"
#include "studies/common/studies.h"
#include "studies/explain/result.h"
#include "studies/explain/word.h"

namespace simtlab::studies {
namespace {

// Options that are about a result file say nothing about a word.
void check_options(const std::string& word, const ExplainOptions& o) {
  const std::pair<const char*, bool> given[] = {{"--kernel", !o.kernel.empty()},
                                                {"--try", !o.limits.empty()},
                                                {"--rerun", o.rerun},
                                                {"--json", !o.json.empty()}};
  for (const auto& [name, is_given] : given)
    if (is_given)
      throw Error(ExitCode::usage, "option-conflict",
                  fmt::format("{} is about a result file, and '{}' is none", name, shown(word)),
                  "leave the option out, or name a file that --json=FILE of `simtlab run` wrote");
}

Outcome explain_word(const Command& tool, const std::string& word, const ExplainOptions& options) {
  check_options(word, options);
  const std::string text = explained(tool, word);
  if (text.empty()) {
    const std::string near = nearest_name(word.substr(0, 200), explained_words(tool));
    throw Error(ExitCode::usage, "explain-unknown", fmt::format("nothing is known about '{}'", shown(word)),
                near.empty() ? "`simtlab list stats` lists the metrics, `simtlab config show` the "
                               "parameters; errors print their name in brackets"
                             : fmt::format("did you mean '{}'?", near));
  }
  Outcome out;
  out.text = [text](const report::Style&) { return text; };
  return out;
}

}  // namespace

void add_explain(Command& app) {
  Command* sub = app.add_subcommand(
      "explain", "Why a kernel takes so long (of a result file), or what a word of the report means");
  struct Options {
    std::string name;
    ExplainOptions result;
  };
  const auto o = std::make_shared<Options>();
  sub->add_option("NAME|RESULT", o->name,
                  "A result file (--json=FILE of run), or a word: a metric, parameter, policy, option, "
                  "error, deviation (l2.bytes, gto, --lines, file-missing)")
      ->required();
  const auto group = "Result files";
  sub->add_option("--kernel", o->result.kernel,
                  "The kernel to explain (default: the one that takes most time)")
      ->check(not_empty())
      ->type_name("NAME")
      ->group(group);
  sub->add_option("--try", o->result.limits,
                  "Lift this limit of --what-if instead of those that the evidence points at; may be "
                  "repeated; runs again as --rerun does")
      ->type_name("LIMIT")
      ->one_at_a_time()
      ->group(group);
  sub->add_flag("--rerun", o->result.rerun,
                "Run the command of the file again, once a limit lifted, to tell what lifting it would gain; "
                "without this nothing is run")
      ->group(group);
  sub->add_option("--json", o->result.json, "Write it as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->group(group);
  sub->embeds();
  sub->action([o](const Call& call) {
    if (host() != nullptr && (o->result.rerun || !o->result.limits.empty()))
      throw Error(ExitCode::usage, "command-embedded",
                  "--rerun and --try start simtlab again, and this is another program",
                  "simtlab explain RESULT.json --rerun on the command line");
    std::error_code ignored;
    const bool file =
        std::filesystem::exists(o->name, ignored) && !std::filesystem::is_directory(o->name, ignored);
    const Command& tool = call.command.root();
    return file || o->name.ends_with(".json") ? explain_result(tool, o->name, o->result)
                                              : explain_word(tool, o->name, o->result);
  });
}

}  // namespace simtlab::studies
