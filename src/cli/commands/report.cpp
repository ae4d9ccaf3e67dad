// simtlab report FILE: prints a result file or the database of a sweep again, in any of the forms that it
// has.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "report/export.h"
#include "report/html.h"
#include "report/study.h"
#include "result/json.h"
#include "studies/common/command.h"
#include "studies/common/output.h"
#include "studies/predict/occupancy_curves.h"
#include "studies/sweep/command/options.h"

namespace simtlab::cli {
namespace {

struct ReportOptions {
  std::string file;
  std::string html, markdown, timeline, sqlite;  // where to; "-": stdout; empty: not asked for
  std::optional<std::uint64_t> point;
  std::vector<std::string> metrics, minimise, maximise, baseline;  // of a study
  OutputOptions output;
};

bool is_database(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::string head(16, '\0');
  std::ifstream(file, std::ios::binary).read(head.data(), 16);
  return head == std::string("SQLite format 3\0", 16);
}

// The result of one point, as its run wrote it.
std::string result_text(const ReportOptions& o, const std::string& name) {
  if (!o.point) return read_file(name, result::max_json_bytes, "result file");
  const studies::sweep::Store store(name, studies::sweep::Store::Mode::read);
  std::string json = store.result_json(*o.point);
  if (json.empty())
    throw Error(ExitCode::bad_input, "sweep-point",
                fmt::format("{} has no result of a point {}", shown(o.file), *o.point),
                "`simtlab report STUDY.db --csv` lists the points and what became of each");
  return json;
}

Outcome report_study(const ReportOptions& o) {
  if (!o.sqlite.empty())
    throw Error(ExitCode::usage, "option-conflict", "--sqlite of a study's database: it is one already",
                "copy the file");
  const studies::sweep::Store store(o.file, studies::sweep::Store::Mode::read);
  const bool text = (o.html.empty() && o.timeline.empty() && o.markdown.empty()) || !o.output.output.empty();
  return study_outcome(studies::sweep::summary(store, {o.metrics, o.minimise, o.maximise, o.baseline}),
                       {o.html, o.timeline, o.markdown, "", text}, o.output);
}

Outcome report(ReportOptions o) {
  o.output.more = {
      {"--html", &o.html}, {"--md", &o.markdown}, {"--timeline", &o.timeline}, {"--sqlite", &o.sqlite}};
  check_outputs(o.output);
  const std::string name = o.file == "-" ? "/dev/stdin" : o.file;
  check_inputs(o.output, {name});
  if (is_database(name)) {
    if (!o.point) return report_study(o);
  } else if (o.point || !o.metrics.empty() || !o.minimise.empty() || !o.maximise.empty() ||
             !o.baseline.empty()) {
    throw Error(ExitCode::usage, "option-conflict",
                "--point, --metric, --minimise, --maximise and --baseline are about the database of a sweep",
                "leave them out, or name STUDY.db");
  }
  Outcome out(result::result_from_json(result_text(o, name), name,
                                       o.point ? result::OpenBeside() : result::beside_of(name)),
              o.output);
  const auto write = [&](const std::string& to, std::string (*make)(const result::Result&)) {
    if (!to.empty()) out.more.push_back({to, [text = make(*out.result)] { return text; }});
  };
  write(o.html, [](const result::Result& r) { return report::html(r, {occupancy_curves(r)}); });
  write(o.markdown, report::markdown);
  write(o.timeline, report::timeline);
  write(o.sqlite, report::sqlite_database);
  // The text is for those who asked for nothing else.
  out.text_on_stdout = out.more.empty() || !o.output.json.empty() || !o.output.csv.empty();
  return out;
}

}  // namespace

void add_report(Command& app) {
  Command* sub = app.add_subcommand(
      "report",
      "Print a result file (--json=FILE of any command) or the database of a sweep again, in other forms");
  const auto o = std::make_shared<ReportOptions>();
  sub->add_option("RESULT", o->file, "Result file, or STUDY.db of a sweep; - is stdin")->required();
  const auto form = [&](const char* name, std::string& to, const char* text) {
    sub->add_option(name, to, text)->check(output_file())->type_name("[=FILE]")->group("Forms");
  };
  form("--html", o->html, "One self-contained page with charts to stdout, or with --html=FILE to FILE");
  form("--md", o->markdown, "Markdown to stdout, or with --md=FILE to FILE");
  form("--timeline", o->timeline,
       "Kernels and series as a timeline for ui.perfetto.dev, to stdout or with --timeline=FILE to FILE");
  form("--sqlite", o->sqlite, "An SQLite database, to stdout or with --sqlite=FILE to FILE");
  const auto study = "Of a sweep";
  sub->add_option("--point", o->point, "The result of one point, in the forms of a result")
      ->type_name("N")
      ->group(study);
  const auto names = [&](const char* option, std::vector<std::string>& to, const char* text) {
    sub->add_option(option, to, text)->check(not_empty())->type_name("NAME")->one_at_a_time()->group(study);
  };
  names("--metric", o->metrics, "A metric to report (default: what the study says, else the time)");
  names("--minimise", o->minimise, "A metric or axis of which less is better, for the Pareto front");
  names("--maximise", o->maximise, "A metric or axis of which more is better");
  names("--baseline", o->baseline, "AXIS=VALUE of a study that each kernel is compared with");
  add_output_options(*sub, o->output);
  sub->action([o](const Call&) { return report(*o); });
}

}  // namespace simtlab::cli
