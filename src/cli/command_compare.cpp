// simtlab compare A B: what differs between two results, by how much and why.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/output_option.h"
#include "report/compare.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

struct CompareOptions {
  std::string before, after, metric;
  std::optional<double> fail_above;
  OutputOptions output;
};

result::Result read(const std::string& file) { return result::read_result_file(file); }

int compare(CompareOptions o) {
  if (o.fail_above && !(*o.fail_above >= 0 && *o.fail_above <= 1e6))
    throw Error(ExitCode::usage, "option-value",
                fmt::format("--fail-above {:g} is not from 0 to 1000000", *o.fail_above),
                "it is in per cent: 5 lets the metric grow by a twentieth");
  check_outputs(o.output);
  check_inputs(o.output, {o.before, o.after});
  const report::Comparison comparison = report::compare(read(o.before), read(o.after), o.metric);
  Writing writing;
  if (!o.output.json.empty()) writing([&] { write_to(o.output.json, report::compare_json(comparison)); });
  report::TextOptions text;
  text.all = o.output.all;
  if (o.output.output.empty()) text.style = style_for(STDOUT_FILENO, o.output.color);
  write_text(writing, o.output, report::compare_text(comparison, text));
  writing.end();
  const double grown = comparison.change() * 100;
  if (o.fail_above && grown > *o.fail_above)
    throw Error(ExitCode::check_failed, "compare-above",
                fmt::format("{} grew by {:.4g} %, more than the {:g} % of --fail-above", comparison.metric,
                            grown, *o.fail_above));
  return 0;
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("compare", "What differs between two result files, by how much and why");
  const auto o = std::make_shared<CompareOptions>();
  sub->add_option("BEFORE", o->before, "Result file")->required();
  sub->add_option("AFTER", o->after, "Result file that is compared with it")->required();
  sub->add_option("--metric", o->metric, "The metric of the total that is the headline (default: the time)")
      ->check(CLI::Validator(refuse_empty, ""))
      ->type_name("NAME");
  sub->add_option("--fail-above", o->fail_above, "End with 6 if it grew by more than P per cent")
      ->type_name("P");
  const auto group = "Output";
  sub->add_option("-o,--output,--report", o->output.output, "Write the text to FILE (- is stdout)")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  sub->add_option("--json", o->output.json,
                  "Write the comparison as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]")
      ->group(group);
  sub->add_option("--color", o->output.color, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->group(group);
  sub->add_flag("--all", o->output.all, "Every setting, kernel, part and metric that differs")->group(group);
  sub->callback([&chosen, o] { chosen = [o] { return compare(*o); }; });
}

}  // namespace simtlab::cli
