// simtlab report FILE: prints a result file again, in any of the forms that a result has.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "base/files.h"
#include "cli/cli.h"
#include "cli/occupancy_curves.h"
#include "cli/output.h"
#include "report/export.h"
#include "report/html.h"
#include "result/json.h"

namespace simtlab::cli {
namespace {

struct ReportOptions {
  std::string file;
  std::string html, markdown, timeline, sqlite;   // where to; "-": stdout; empty: not asked for
  OutputOptions output;
};

int report(ReportOptions o) {
  o.output.more = {{"--html", &o.html}, {"--md", &o.markdown}, {"--timeline", &o.timeline}, {"--sqlite", &o.sqlite}};
  check_outputs(o.output);
  const std::string name = o.file == "-" ? "/dev/stdin" : o.file;
  check_inputs(o.output, {name});
  const result::Result result = result::result_from_json(read_file(name, result::max_json_bytes, "result file"), name);
  bool written = false;
  const auto write = [&](const std::string& to, std::string (*make)(const result::Result&)) {
    if (to.empty()) return;
    write_to(to, make(result));
    written = true;
  };
  write(o.html, [](const result::Result& r) { return report::html(r, {occupancy_curves(r)}); });
  write(o.markdown, report::markdown);
  write(o.timeline, report::timeline);
  write(o.sqlite, report::sqlite_database);
  // The text is for those who asked for nothing else.
  const bool text = !written || !o.output.output.empty() || !o.output.json.empty() || !o.output.csv.empty();
  if (text) write_outputs(result, o.output, STDOUT_FILENO);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  CLI::App* sub = app.add_subcommand("report", "Print a result file (--json=FILE of any command) again, in other forms");
  const auto o = std::make_shared<ReportOptions>();
  sub->add_option("RESULT", o->file, "Result file; - is stdin")->required();
  const auto form = [&](const char* name, std::string& to, const char* text) {
    sub->add_option(name, to, text)->check(CLI::Validator(refuse_empty, ""))->type_name("[=FILE]")->group("Forms");
  };
  form("--html", o->html, "One self-contained page with charts to stdout, or with --html=FILE to FILE");
  form("--md", o->markdown, "Markdown to stdout, or with --md=FILE to FILE");
  form("--timeline", o->timeline, "Kernels and series as a timeline for ui.perfetto.dev, to stdout or with --timeline=FILE to FILE");
  form("--sqlite", o->sqlite, "An SQLite database, to stdout or with --sqlite=FILE to FILE");
  add_output_options(*sub, o->output);
  sub->callback([&chosen, o] { chosen = [o] { return report(*o); }; });
}

}  // namespace simtlab::cli
