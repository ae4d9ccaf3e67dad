// simtlab explain NAME: a metric, a stall reason, an error, a deviation or an exit code. Of a file: the
// result in it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/shown.h"
#include "cli/cli.h"
#include "cli/exit_codes.h"
#include "cli/explain_result.h"
#include "cli/output.h"
#include "cli/output_option.h"
#include "device/op_class.h"
#include "report/glossary.h"
#include "result/metrics.h"

namespace simtlab::cli {
namespace {

constexpr std::size_t width = 100;

std::string field(std::string_view label, std::string_view text) {
  return text.empty() ? "" : fmt::format("  {:<10} {}\n", label, report::wrapped(text, width, 13));
}

// What is in the class of instructions.CLASS; empty for other metrics.
std::string_view operations_of(std::string_view metric) {
  constexpr std::string_view family = "instructions.";
  if (!metric.starts_with(family)) return {};
  const auto found = std::ranges::find(device::op_class_names, metric.substr(family.size()));
  if (found == device::op_class_names.end()) return {};
  return device::op_class_traits[static_cast<std::size_t>(found - device::op_class_names.begin())].operations;
}

std::string metric(const std::string& name, const result::MetricDeclaration& m) {
  std::string out = fmt::format("{}: metric\n", name);
  out += field("meaning", m.doc);
  out += field("operations", operations_of(name));
  out += field("unit", m.unit == "1" ? "1 (a count or a ratio)" : m.unit);
  out += field("scope", m.scope);
  out += field("formula", m.formula);
  if (m.name != name) out += field("family", m.name);
  out += field("elsewhere", m.aliases);
  if (m.combine == result::Combine::weighted)
    out += field("in totals", fmt::format("mean of the launches, weighted by {}", m.weight));
  else if (m.combine == result::Combine::sum)
    out += field("in totals", "sum of the launches");
  else if (m.combine == result::Combine::max)
    out += field("in totals", "maximum of the launches");
  return out;
}

std::string term(const char* kind, const report::Term& t) {
  return fmt::format("{}: {}\n", t.name, kind) + field("meaning", t.meaning) + field("what to do", t.remedy);
}

// Whether `name` is one of the names in "nvprof: a; ncu: 1 - b / 100". Words without an underscore have to be
// all that stands behind the colon.
bool is_alias(std::string_view aliases, std::string_view name) {
  constexpr std::string_view separators = " ,;";
  for (std::size_t at = aliases.find(name); at != std::string_view::npos && !name.empty();
       at = aliases.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at < 2 || aliases[at - 1] != ' ') continue;
    if (end < aliases.size() && separators.find(aliases[end]) == std::string_view::npos) continue;
    if (name.find('_') != std::string_view::npos ||
        (aliases[at - 2] == ':' && (end == aliases.size() || aliases[end] == ';')))
      return true;
  }
  return false;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const result::MetricDeclaration& m : result::registry()) names.emplace_back(m.name);
  for (const auto* terms : {&report::stall_reasons(), &report::error_ids(), &report::deviations()})
    for (const report::Term& t : *terms) names.emplace_back(t.name);
  return names;
}

int explain(const std::string& name) {
  const std::string reason = name.starts_with("stall.") ? name.substr(6) : name;
  std::string out;
  if (const report::Term* t = report::find_term(report::stall_reasons(), reason))
    out += term("stall reason", *t);
  if (const result::MetricDeclaration* m = result::find_metric(name);
      m != nullptr && (!name.starts_with("stall.") || !out.empty() || m->name == name))
    out += metric(name, *m);
  if (const report::Term* t = report::find_term(report::error_ids(), name)) out += term("error", *t);
  if (const report::Term* t = report::find_term(report::deviations(), name))
    out += term("deviation from real hardware", *t);
  for (const ExitCodeText& e : exit_codes())
    if (name == fmt::format("{}", e.code) || name == e.name)
      out += fmt::format("exit code {} ({})\n", e.code, e.name) + field("meaning", e.meaning);
  // What other tools call it (docs/migration.md).
  if (out.empty())
    for (const result::MetricDeclaration& m : result::registry())
      if (is_alias(m.aliases, name)) out += metric(std::string(m.name), m);
  if (out.empty()) {
    const std::string near = nearest_name(name.substr(0, 200), known_names());
    throw Error(ExitCode::usage, "explain-unknown", fmt::format("nothing is known about '{}'", shown(name)),
                near.empty() ? "`simtlab list stats` lists the metrics; errors print their name in brackets"
                             : fmt::format("did you mean '{}'?", near));
  }
  print(out);
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand(
      "explain", "Why a kernel takes so long (of a result file), or what a word of the report means");
  struct Options {
    std::string name;
    ExplainOptions result;
  };
  const auto o = std::make_shared<Options>();
  sub->add_option(
         "NAME|RESULT", o->name,
         "A result file (--json=FILE of run), or e.g. l1.read.miss_rate, long_scoreboard, file-missing")
      ->required();
  const auto group = "Result files";
  sub->add_option("--kernel", o->result.kernel,
                  "The kernel to explain (default: the one that takes most time)")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("NAME")
      ->group(group);
  sub->add_option("--try", o->result.limits,
                  "Lift this limit of --what-if instead of those that the evidence points at; may be "
                  "repeated; runs again as --rerun does")
      ->type_name("LIMIT")
      ->allow_extra_args(false)
      ->group(group);
  sub->add_flag("--rerun", o->result.rerun,
                "Run the command of the file again, once a limit lifted, to tell what lifting it would gain; "
                "without this nothing is run")
      ->group(group);
  sub->add_option("--json", o->result.json, "Write it as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->group(group);
  sub->callback([&chosen, o] {
    chosen = [o] {
      std::error_code ignored;
      const bool file =
          std::filesystem::exists(o->name, ignored) && !std::filesystem::is_directory(o->name, ignored);
      return file || o->name.ends_with(".json") ? explain_result(o->name, o->result) : explain(o->name);
    };
  });
}

}  // namespace simtlab::cli
