#include "studies/validate/areas/validation.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/error.h"
#include "base/files.h"
#include "device/catalogue.h"
#include "report/html.h"
#include "studies/common/command.h"
#include "studies/common/outcome.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"

namespace simtlab::studies {
namespace {

using studies::validate::Row;

std::string shown_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string safe_cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

// Sentences, one for each row that is worse.
std::vector<std::string> held_against(const std::vector<AreaReport>& reports, const ValidationOptions& o,
                                      std::string& text) {
  std::vector<std::string> out;
  text += fmt::format(
      "\n## Gate: no error more than {:g} points above the kept one\n\n| area | rows kept | file | worse or "
      "gone |\n|---|---|---|---|\n",
      100 * o.tolerance);
  std::string sentences;
  for (const AreaReport& r : reports) {
    const std::filesystem::path file = rows_file(o, r.area);
    const std::vector<Row> kept = studies::validate::read_rows(file);
    std::vector<Row> now;
    for (const Row& row : r.rows) now.push_back(studies::validate::rounded(row));
    const std::vector<std::string> worse = studies::validate::worse(kept, now, o.tolerance);
    text +=
        fmt::format("| {} | {} | {} | {} |\n", r.area, kept.size(), file.filename().string(), worse.size());
    for (const std::string& w : worse) {
      out.push_back(fmt::format("{}: {}", r.area, w));
      sentences += fmt::format("- worse: {}\n", out.back());
    }
  }
  text += sentences.empty() ? "\nNo row is worse or gone.\n" : "\n" + sentences;
  return out;
}

// The kept rows of programs with those of this run in the place of what they were.
std::vector<Row> with_recorded(std::vector<Row> kept, const AreaReport& report, const ValidationOptions& o) {
  if (o.whole_groups)
    std::erase_if(kept, [&](const Row& row) {
      return std::ranges::find(report.rows, row.group, &Row::group) != report.rows.end();
    });
  for (const Row& row : report.rows) {
    if (std::ranges::find(o.computed, row.group) != o.computed.end()) continue;
    const auto same = std::ranges::find(kept, row.name(), &Row::name);
    if (same != kept.end())
      *same = row;
    else
      kept.push_back(row);
  }
  return kept;
}

std::string recorded_comment(const std::string& area, const ValidationOptions& o, const std::tm& utc) {
  if (!o.recorded_how.empty())
    return fmt::format(
        "{}\nThe last were written on {:%Y-%m-%d}, simtlab {}. Columns: src/studies/validate/rows.h.",
        o.recorded_how, utc, version());
  return fmt::format(
      "Rows of programs that were run before: `simtlab validate {} --results DIR --update` on {:%Y-%m-%d}, "
      "simtlab {}, replaced those of the programs in DIR.\n"
      "DIR/DEVICE/PROGRAM.json are results of `simtlab run`; bench/cross_check.py (with --lowering off) "
      "makes such a folder. Columns: src/studies/validate/rows.h.",
      area, utc, version());
}

void keep_rows(const std::vector<AreaReport>& reports, const ValidationOptions& o) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  for (const AreaReport& r : reports) {
    const std::filesystem::path file = rows_file(o, r.area);
    if (o.recorded) {
      const std::vector<Row> kept =
          std::filesystem::exists(file) ? studies::validate::read_rows(file) : std::vector<Row>{};
      write_file_atomically(
          file, studies::validate::to_csv(with_recorded(kept, r, o), recorded_comment(r.area, o, utc)));
      continue;
    }
    write_file_atomically(
        file, studies::validate::to_csv(
                  r.rows,
                  fmt::format(
                      "Rows of `simtlab validate`, area {}{}; written by --update on {:%Y-%m-%d}, "
                      "simtlab {}.\nColumns: src/studies/validate/rows.h; docs/lab/validation.md shows them.",
                      r.area, o.quick && has_quick(r.area) ? ", --quick" : "", utc, version())));
  }
}

result::Result joined(std::vector<AreaReport>& reports) {
  result::Result out = reports.size() == 1 ? std::move(reports.front().result) : result::Result{};
  if (reports.size() > 1) out.manifest.mode = "validate";
  std::vector<Row> all;
  for (const AreaReport& r : reports) {
    if (reports.size() > 1)
      out.kernels.insert(out.kernels.end(), r.result.kernels.begin(), r.result.kernels.end());
    add_rows(out, r.area, r.rows);
    all.insert(all.end(), r.rows.begin(), r.rows.end());
  }
  const studies::validate::Summary s = studies::validate::summarise(all);
  if (s.rows == 0) return out;
  out.total.set("validate.rows", std::uint64_t{s.rows});
  out.total.set("validate.error.median", s.median);
  out.total.set("validate.error.worst", s.worst);
  std::size_t misses = 0;
  for (const AreaReport& r : reports) misses += r.misses.size();
  out.total.set("validate.targets.missed", std::uint64_t{misses});
  return out;
}

// What the page shows: the rows, not the runs behind them.
result::Result only_rows(const result::Result& result) {
  result::Result page;
  page.manifest = result.manifest;
  page.manifest.mode = "validate";
  page.total = result.total;
  for (const result::KernelResult& k : result.kernels)
    if (result::find(k.tables, "validation") != nullptr) page.kernels.push_back(k);
  return page;
}

Outcome outcome_of(result::Result&& result, std::string text, const ValidationOptions& o) {
  Outcome out(std::move(result), o.output);
  out.text = [text = std::move(text)](const report::Style&) { return text; };
  out.more = {{o.html, [page = only_rows(*out.result)] { return report::html(page, {}); }}};
  return out;
}

// How it ends where something was missed or is worse.
std::optional<Error> verdict(const std::vector<std::string>& worse, const std::vector<std::string>& misses,
                             bool check) {
  if (!worse.empty())
    return Error(ExitCode::check_failed, "validate-gate",
                 fmt::format("{} rows are worse than the kept ones or gone, the first: {}", worse.size(),
                             worse.front()),
                 "the report lists them; where that is meant, --update keeps the new rows");
  if (check && !misses.empty())
    return Error(ExitCode::check_failed, "validate-target",
                 fmt::format("{} targets are missed, the first: {}", misses.size(), misses.front()),
                 "the report lists them");
  return std::nullopt;
}

// Of several areas, or of those that were done.
std::string text_of_all(const std::vector<AreaReport>& reports, bool all, bool stopped) {
  std::string text;
  if (stopped) text = fmt::format("INCOMPLETE: interrupted; {} areas were done\n\n", reports.size());
  text += summary_table(reports);
  for (const AreaReport& r : reports) {
    const std::string list = missed_list(r.rows);
    if (all) text += fmt::format("\n# {}\n\n{}", r.area, r.text);
    if (!list.empty()) text += fmt::format("\n{}, missed:\n{}", r.area, list);
  }
  return text;
}

}  // namespace

void add_validation_options(Command& command, ValidationOptions& o, const char* quick) {
  if (quick != nullptr) command.add_flag("--quick", o.quick, quick);
  command.add_flag("--check", o.check, "End with exit code 6 if a target is missed");
  const auto group = "Rows that are kept";
  only_shown(command
                 .add_flag("--gate", o.gate,
                           "End with exit code 6 if an error is greater than the kept one, or a row is gone")
                 ->group(group));
  only_shown(command
                 .add_flag("--update", o.update,
                           "Keep the rows of this run: what --gate compares with and docs/lab/validation.md "
                           "shows")
                 ->group(group));
  only_shown(
      command
          .add_option("--rows", o.rows, "Folder of the kept rows (default: validation/ in the data folder)")
          ->check(not_empty())
          ->type_name("DIR")
          ->group(group));
  command
      .add_option("--tolerance", o.tolerance,
                  "What an error may grow by under --gate, in points (default 0.5)")
      ->check({[](std::string& text) -> std::string {
        char* end = nullptr;
        const double points = std::strtod(text.c_str(), &end);
        if (text.empty() || *end != '\0' || !(points >= 0 && points <= 100))
          return "takes points from 0 to 100";
        text = fmt::format("{}", points / 100);
        return {};
      }})
      ->type_name("POINTS")
      ->group(group);
  command
      .add_option("--html", o.html,
                  "The rows as one self-contained page with charts to stdout, or with --html=FILE to FILE")
      ->check(output_file())
      ->type_name("[=FILE]");
  add_output_options(command, o.output);
  add_progress_option(command, o.output);
}

void check_validation(ValidationOptions& o, const std::vector<std::string>& areas,
                      const std::optional<std::string>& chosen) {
  o.output.more = {{"--html", &o.html}};
  check_outputs(o.output);
  if (o.gate && o.update)
    throw Error(ExitCode::usage, "option-conflict",
                "--gate compares with the kept rows and --update replaces them", "leave one of them out");
  if (chosen && (o.gate || o.update))
    throw Error(ExitCode::usage, "option-conflict",
                fmt::format("{} changes what is compared; the kept rows are of the area without it", *chosen),
                fmt::format("leave {} or {} out", *chosen, o.gate ? "--gate" : "--update"));
  if (!o.gate && !o.update && !o.rows.empty())
    throw Error(ExitCode::usage, "option-conflict", "--rows is of no use without --gate or --update",
                "add one of them");
  for (const std::string& area : areas) {
    const std::filesystem::path file = rows_file(o, area);
    if (o.gate) studies::validate::read_rows(file);
    if (o.gate || o.update) check_inputs(o.output, {file});
  }
}

std::filesystem::path rows_folder(const ValidationOptions& o) {
  return o.rows.empty() ? device::data_directory() / "validation" : std::filesystem::path(o.rows);
}

bool has_quick(const std::string& area) { return area == "timing" || area == "cache" || area == "predict"; }

std::filesystem::path rows_file(const ValidationOptions& o, const std::string& area) {
  return rows_folder(o) / fmt::format("{}{}.csv", area,
                                      o.recorded                   ? ".recorded"
                                      : o.quick && has_quick(area) ? ".quick"
                                                                   : "");
}

void add_rows(result::Result& result, const std::string& area, const std::vector<Row>& rows) {
  result::KernelResult& k = result.kernels.emplace_back();
  k.name = k.demangled = "validation of " + area;
  const studies::validate::Summary s = studies::validate::summarise(rows);
  k.metrics.set("validate.rows", std::uint64_t{s.rows});
  k.metrics.set("validate.error.median", s.median);
  k.metrics.set("validate.error.worst", s.worst);
  k.tables.push_back(studies::validate::table_of(rows));
}

std::string summary_table(const std::vector<AreaReport>& reports) {
  std::string out =
      "| area | rows | tuned | held out | independent | by construction | median error | worst error | "
      "targets | missed |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const AreaReport& r : reports) {
    const studies::validate::Summary s = studies::validate::summarise(r.rows);
    out += fmt::format("| {} | {} |", r.area, s.rows);
    for (const studies::validate::Role role :
         {studies::validate::Role::tuned, studies::validate::Role::held_out,
          studies::validate::Role::independent, studies::validate::Role::by_construction})
      out += fmt::format(" {} |", std::ranges::count(r.rows, role, &Row::role));
    out += fmt::format(" {} | {} | {} | {} |\n", shown_percent(s.median), shown_percent(s.worst), s.targets,
                       s.missed);
  }
  return out;
}

std::string rows_table(const std::vector<Row>& rows) {
  struct Column {
    const char* name;
    std::string (*text)(const Row&);
  };
  const Column columns[] = {
      {"device", [](const Row& r) { return r.device; }},
      {"what", [](const Row& r) { return r.quantity; }},
      {"reference", studies::validate::reference_text},
      {"ours", studies::validate::ours_text},
      {"error", studies::validate::error_text},
      {"of", [](const Row& r) { return r.over; }},
      {"worst", [](const Row& r) { return r.worst ? shown_percent(*r.worst) : std::string(); }},
      {"target", [](const Row& r) { return studies::validate::target_text(r); }},
      {"",
       [](const Row& r) {
         return std::string(!r.target && !r.worst_target ? "" : r.met() ? "met" : "missed");
       }},
      {"role", [](const Row& r) { return std::string(studies::validate::name_of(r.role)); }},
      {"reference from", [](const Row& r) { return r.source; }},
      {"note", [](const Row& r) { return r.note; }}};
  // Columns that say nothing of any row are left out.
  std::vector<const Column*> used;
  for (const Column& c : columns)
    if (std::ranges::any_of(rows, [&](const Row& r) { return !c.text(r).empty() && c.text(r) != "-"; }))
      used.push_back(&c);
  std::string out = "|", line = "|";
  for (const Column* c : used) out += fmt::format(" {} |", c->name), line += "---|";
  out += "\n" + line + "\n";
  for (const Row& r : rows) {
    out += "|";
    for (const Column* c : used) out += fmt::format(" {} |", safe_cell(c->text(r)));
    out += "\n";
  }
  return out;
}

std::string missed_list(const std::vector<Row>& rows) {
  std::string out;
  for (const Row& r : rows)
    if (!r.met())
      out += fmt::format("- {}{}: {}{}, target {}\n", r.device.empty() ? "" : r.device + ", ", r.quantity,
                         studies::validate::error_text(r),
                         r.worst ? fmt::format(", worst {}", shown_percent(*r.worst)) : "",
                         studies::validate::target_text(r));
  return out;
}

std::string misses_text(const std::vector<std::string>& misses) {
  std::string out;
  for (const std::string& miss : misses)
    out += fmt::format("{}- missed: {}\n", &miss == &misses.front() ? "\n" : "", miss);
  return out;
}

Error interrupted_validation(const Error& error) {
  if (error.code() != ExitCode::interrupted) return error;
  return {ExitCode::interrupted, "interrupted",
          "interrupted before an area was done" + at_place(error.diagnostics().front().message),
          "--quick leaves out what takes long"};
}

Outcome end_page(std::vector<AreaReport> areas, const std::string& page, const RunClock& clock,
                 const ValidationOptions& o) {
  result::Result result = joined(areas);
  clock.finish(result);
  return outcome_of(std::move(result), page, o);
}

Outcome validated(const ValidationOptions& o, const RunClock& clock,
                  const std::function<AreaReport(const volatile bool* stop)>& area) {
  std::vector<AreaReport> reports;
  {
    const Signals signals(0);
    const Progress progress("validating", o.output, Progress::Stopped::loses);
    try {
      reports.push_back(area(signals.flag()));
    } catch (const Error& e) { throw interrupted_validation(e); }
  }
  return end_validation(std::move(reports), clock, o);
}

Outcome end_validation(std::vector<AreaReport> reports, const RunClock& clock, const ValidationOptions& o,
                       const std::optional<Error>& stopped) {
  for (const AreaReport& r : reports)
    for (std::size_t i = 0; i < r.rows.size(); ++i)
      SIMTLAB_ASSERT(std::ranges::none_of(r.rows.begin(), r.rows.begin() + static_cast<std::ptrdiff_t>(i),
                                          [&](const Row& other) { return other.name() == r.rows[i].name(); }),
                     "rows are found by their names");
  std::string text = reports.size() > 1 || stopped ? text_of_all(reports, o.output.all, stopped.has_value())
                                                   : reports.front().text;
  std::vector<std::string> misses;
  for (const AreaReport& r : reports)
    for (const std::string& miss : r.misses)
      misses.push_back(reports.size() > 1 ? fmt::format("{}: {}", r.area, miss) : miss);
  std::vector<std::string> worse;
  if (o.gate && !stopped) worse = held_against(reports, o, text);
  if (o.update && !stopped) keep_rows(reports, o);
  result::Result result = joined(reports);
  if (stopped) note_stop(result.manifest, *stopped);
  clock.finish(result);
  Outcome out = outcome_of(std::move(result), std::move(text), o);
  out.failure = stopped ? stopped : verdict(worse, misses, o.check);
  return out;
}

}  // namespace simtlab::studies
