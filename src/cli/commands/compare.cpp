// simtlab compare A B: what differs between two results, by how much and why.
#include "report/compare.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/commands/commands.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/output.h"

namespace simtlab::cli {
namespace {

struct CompareOptions {
  std::string before, after, metric;
  std::optional<double> fail_above;
  OutputOptions output;
};

result::Result read(const std::string& file) { return result::read_result_file(file); }

Outcome compare(CompareOptions o) {
  if (o.fail_above && !(*o.fail_above >= 0 && *o.fail_above <= 1e6))
    throw Error(ExitCode::usage, "option-value",
                fmt::format("--fail-above {:g} is not from 0 to 1000000", *o.fail_above),
                "it is in per cent: 5 lets the metric grow by a twentieth");
  check_outputs(o.output);
  check_inputs(o.output, {o.before, o.after});
  const auto comparison =
      std::make_shared<const report::Comparison>(report::compare(read(o.before), read(o.after), o.metric));
  Outcome out;
  out.json = [comparison] { return report::compare_json(*comparison); };
  out.text = [comparison, all = o.output.all](const report::Style& style) {
    report::TextOptions text;
    text.all = all;
    text.style = style;
    return report::compare_text(*comparison, text);
  };
  const double grown = comparison->change() * 100;
  if (o.fail_above && grown > *o.fail_above)
    out.failure.emplace(ExitCode::check_failed, "compare-above",
                        fmt::format("{} grew by {:.4g} %, more than the {:g} % of --fail-above",
                                    comparison->metric, grown, *o.fail_above));
  out.output = std::move(o.output);
  return out;
}

}  // namespace

void add_compare(Command& app) {
  Command* sub = app.add_subcommand("compare", "What differs between two result files, by how much and why");
  const auto o = std::make_shared<CompareOptions>();
  sub->add_option("BEFORE", o->before, "Result file")->required();
  sub->add_option("AFTER", o->after, "Result file that is compared with it")->required();
  sub->add_option("--metric", o->metric, "The metric of the total that is the headline (default: the time)")
      ->check(not_empty())
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
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->group(group);
  sub->add_flag("--all", o->output.all, "Every setting, kernel, part and metric that differs")->group(group);
  sub->embeds();
  sub->action([o](const Call&) { return compare(*o); });
}

}  // namespace simtlab::cli
