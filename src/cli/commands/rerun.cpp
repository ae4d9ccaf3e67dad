// simtlab rerun RESULT: runs the recorded command again and checks that the result is the same, byte for byte
// but for host.* and times.
#include "studies/explain/rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "report/compare.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/output.h"
#include "studies/common/progress.h"
#include "studies/explain/rerun_guard.h"

namespace simtlab::cli {
namespace {

constexpr std::size_t changes_shown = 5;

struct RerunOptions {
  std::string file, json;
  bool quiet = false;
};

// Without what may differ between equal runs (docs/reference/json.md).
std::string canonical(result::Result r) {
  result::Manifest& m = r.manifest;
  m.start_time.clear();
  m.host.clear();
  m.command_line.clear();
  m.working_directory.clear();
  m.wall_seconds = 0;
  result::Metrics total;
  for (const result::Metrics::Value& v : r.total.values()) {
    if (v.name.starts_with("host.")) continue;
    v.is_integer ? total.set(v.name, v.integer) : total.set(v.name, v.real);
  }
  r.total = total;
  return result::to_json(r);
}

// The first lines at which the files differ, where no metric does.
std::string first_difference(const std::string& a, const std::string& b) {
  const std::size_t at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const auto line = [&](const std::string& text) {
    const std::size_t begin = text.rfind('\n', at == 0 ? 0 : at - 1), end = text.find('\n', at);
    const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
    return shown(text.substr(from, end == std::string::npos ? std::string::npos : end - from), 120);
  };
  return fmt::format("'{}' is '{}' now", line(a), line(b));
}

std::string differences(const result::Result& before, const result::Result& now) {
  std::string out;
  std::size_t count = 0;
  const auto take = [&](const std::string& where, const std::vector<report::ComparedValue>& values) {
    for (const report::ComparedValue& v : values)
      if (++count <= changes_shown)
        out += fmt::format("{}{}{} was {} and is {}", out.empty() ? "" : "; ", where, v.name,
                           v.before ? fmt::format("{}", *v.before) : "absent",
                           v.after ? fmt::format("{}", *v.after) : "absent");
  };
  try {
    const report::Comparison c = report::compare(before, now, {});
    take("", c.total);
    for (const report::ComparedKernel& k : c.kernels) take(shown(k.name, 60) + ": ", k.metrics);
  } catch (const Error&) {
    return {};  // nothing in common: the first line that differs says enough
  }
  return count > changes_shown ? fmt::format("{}; and {} more", out, count - changes_shown) : out;
}

int rerun(const Command& tool, const RerunOptions& o) {
  const result::Result before = result::read_result_file(o.file);
  if (before.manifest.interrupted)
    throw Error(ExitCode::bad_input, "rerun-interrupted",
                "the result is of a run that was interrupted: where it stops is chance",
                "make a new result of a complete run");
  OutputOptions output;
  output.json = o.json;
  check_outputs(output);
  check_inputs(output, {o.file});
  const Rerun again(tool, before.manifest, Rerun::What::everything);
  check_may_run_again(o.file, before.manifest, again.arguments());
  check_inputs_unchanged(before.manifest);
  if (!o.quiet) announce_run_again(before.manifest, again.arguments(), "once");
  const result::Result now = [&] {
    OutputOptions shown;
    shown.quiet = o.quiet;
    const Progress progress("running again", shown, Progress::Stopped::loses);
    return again.run({}, false);
  }();
  Writing writing;
  if (!o.json.empty()) writing([&] { write_result(o.json, now); });
  const std::string a = canonical(before), b = canonical(now);
  if (a != b) {
    const std::string what = differences(before, now);
    throw Error(
        ExitCode::check_failed, "rerun-result",
        fmt::format("the repeated run has another result: {}", what.empty() ? first_difference(a, b) : what),
        before.manifest.tool_version == now.manifest.tool_version
            ? "measured times differ from run to run; what is simulated must not"
            : "the result was made by version " + shown(before.manifest.tool_version, 40));
  }
  std::size_t metrics = now.total.values().size();
  for (const result::KernelResult& k : now.kernels) metrics += k.metrics.values().size();
  if (!o.quiet && o.json != "-")
    print(fmt::format("the same: {} bytes, {} metrics of {} launches (host.*, times and the machine aside)\n",
                      b.size(), metrics, now.kernels.size()));
  writing.end();
  return 0;
}

}  // namespace

void add_rerun(Command& app) {
  Command* sub = app.add_subcommand(
      "rerun", "Run the command of a result file again and check that the result is the same");
  const auto o = std::make_shared<RerunOptions>();
  sub->add_option("RESULT", o->file, "Result file")->required();
  sub->add_option("--json", o->json, "Write the new result as JSON to stdout, or with --json=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  sub->add_flag("-q,--quiet", o->quiet, "Say nothing but errors");
  sub->action([o](const Call& call) { return rerun(call.command.root(), *o); });
}

}  // namespace simtlab::cli
