#include "studies/common/outcome.h"

#include <fmt/format.h>

#include "base/files.h"
#include "report/report.h"
#include "result/json.h"

namespace simtlab::studies {
namespace {

// The reason with the largest share, for the line that says what to type next.
std::string next_command(const result::Result& result) {
  const result::KernelResult* longest = nullptr;
  for (const result::KernelResult& k : result.kernels)
    if (longest == nullptr ||
        k.metrics.get("gpu.time").value_or(0) > longest->metrics.get("gpu.time").value_or(0))
      longest = &k;
  std::string reason;
  double most = 0;
  if (longest != nullptr)
    for (const result::Metrics::Value& v : longest->metrics.values())
      if (v.name.starts_with("stall.") && v.name != "stall.selected" && v.real > most) {
        most = v.real;
        reason = v.name;
      }
  return reason.empty() ? "--all prints every metric, --json=FILE keeps them"
                        : fmt::format("simtlab explain {}; --all prints every metric", reason);
}

bool is_file(const std::string& name) { return !name.empty() && name != "-"; }

}  // namespace

std::string json_of(const Outcome& outcome) {
  return outcome.json ? outcome.json() : result::to_json(*outcome.result);
}

std::string csv_of(const Outcome& outcome) {
  return outcome.csv ? outcome.csv() : report::csv(*outcome.result);
}

bool has_text(const Outcome& outcome) { return outcome.text || outcome.result; }

std::string text_of(const Outcome& outcome, const report::Style& style) {
  if (outcome.text) return outcome.text(style);
  report::TextOptions text;
  text.style = style;
  text.all = outcome.output.all || outcome.output.verbose;
  text.next_command = next_command(*outcome.result);
  return report::text(*outcome.result, text);
}

bool write_files(const Outcome& outcome, Writing& writing) {
  const OutputOptions& output = outcome.output;
  for (const Error& error : outcome.unwritten) writing([&] { throw Error(error); });
  for (const Outcome::More& more : outcome.more)
    if (is_file(more.file)) writing([&] { write_file_atomically(more.file, more.content()); });
  if (is_file(output.json) && outcome.json)
    writing([&] { write_file_atomically(output.json, outcome.json()); });
  else if (is_file(output.json) && outcome.result)
    writing([&] { result::save_result_file(output.json, *outcome.result); });
  if (is_file(output.csv) && (outcome.csv || outcome.result))
    writing([&] { write_file_atomically(output.csv, csv_of(outcome)); });
  return !is_file(output.output) || !has_text(outcome) ||
         writing([&] { write_file_atomically(output.output, text_of(outcome, {})); });
}

}  // namespace simtlab::studies
