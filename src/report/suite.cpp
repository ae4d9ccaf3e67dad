#include "report/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/shell.h"
#include "report/csv_cell.h"
#include "report/html_shell.h"
#include "report/html_writer.h"
#include "result/json.h"

namespace simtlab::report {
namespace {

using result::Suite;
using result::SuiteProgram;
using result::SuiteStep;
using Json = nlohmann::ordered_json;

constexpr std::size_t widest_name = 44, widest_reason = 72, columns = 7;

const char* word(SuiteStep step) {
  switch (step) {
    case SuiteStep::yes: return "yes";
    case SuiteStep::no: return "no";
    case SuiteStep::none: return "none";
    case SuiteStep::waiting: break;
  }
  return "-";
}

std::string check_of(const SuiteProgram& p) {
  if (p.passed == SuiteStep::yes || p.passed == SuiteStep::no) return printable(p.check);
  return word(p.passed);
}
std::string program_time(double ns) { return std::isfinite(ns) ? format_time(ns) : ""; }
std::string host_of(const SuiteProgram& p) { return p.host_s > 0 ? format_time(p.host_s * 1e9) : ""; }

// Built, ran and passed are counted of all programs.
std::string suite_headline(const Suite& s) {
  const std::size_t all = s.programs.size();
  std::string out =
      fmt::format("suite {}: {} program{}; {} built", printable(s.folder), format_exact(all),
                  all == 1 ? "" : "s", format_exact(s.count(&SuiteProgram::built, SuiteStep::yes)));
  if (!s.build_only)
    out += fmt::format(", {} ran, {} passed their own check",
                       format_exact(s.count(&SuiteProgram::ran, SuiteStep::yes)),
                       format_exact(s.count(&SuiteProgram::passed, SuiteStep::yes)));
  if (s.unfinished() > 0) out += fmt::format("; {} not reached", format_exact(s.unfinished()));
  return out;
}

std::vector<std::string> row_of(const SuiteProgram& p) {
  return {printable(p.name), word(p.built),      word(p.ran), check_of(p), program_time(p.simulated_ns),
          host_of(p),        printable(p.reason)};
}
const std::vector<std::string> head = {"program", "built", "ran", "check", "simulated", "host", "why not"};

Json program_json(const SuiteProgram& p) {
  Json out = {{"name", path_text(p.name)}, {"kind", p.kind},           {"fine", p.fine()},
              {"built", word(p.built)},    {"ran", word(p.ran)},       {"passed", word(p.passed)},
              {"check", p.check},          {"kernels", p.kernels},     {"build_seconds", p.build_s},
              {"host_seconds", p.host_s},  {"exit_code", p.exit_code}, {"reason", p.reason},
              {"log", path_text(p.log)}};
  if (std::isfinite(p.simulated_ns)) out["simulated_ns"] = p.simulated_ns;
  return out;
}

}  // namespace

std::string suite_text(const Suite& s, const Style& style) {
  std::string out = painted(suite_headline(s), Paint::bold, style) + "\n\n";
  std::vector<std::vector<std::string>> rows = {head};
  for (const SuiteProgram& p : s.programs) rows.push_back(row_of(p));
  std::array<std::size_t, columns> widths{};
  for (auto& row : rows) {
    row.front() = shortened(row.front(), widest_name);
    row.back() = shortened(row.back(), widest_reason);
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string text = "  ";
    for (std::size_t c = 0; c < columns; ++c) text += padded(rows[r][c], widths[c]) + "  ";
    text.erase(text.find_last_not_of(' ') + 1);
    const bool bad = r > 0 && !s.programs[r - 1].fine();
    out += (r == 0 ? painted(text, Paint::bold, style)
            : bad  ? painted(text, Paint::bad, style)
                   : text) +
           "\n";
  }
  out += "\n";
  for (const Suite::Skipped& skipped : s.skipped)
    out += fmt::format("  not a program: {}: {}\n", printable(skipped.file), skipped.why);
  for (const std::string& note : s.notes) out += fmt::format("  {}\n", printable(note));
  return out + fmt::format("  logs and results: {}\n", printable(s.work));
}

std::string suite_csv(const Suite& s) {
  std::string out =
      "program,kind,built,ran,passed,check,kernels,simulated_ns,build_seconds,host_seconds,exit_code,reason,"
      "log\r\n";
  for (const SuiteProgram& p : s.programs)
    out += fmt::format("{},{},{},{},{},{},{},{},{:.3f},{:.3f},{},{},{}\r\n", csv_cell(p.name),
                       csv_cell(p.kind), word(p.built), word(p.ran), word(p.passed), csv_cell(p.check),
                       p.kernels, std::isfinite(p.simulated_ns) ? fmt::format("{}", p.simulated_ns) : "",
                       p.build_s, p.host_s, p.exit_code, csv_cell(p.reason), csv_cell(p.log));
  return out;
}

std::string suite_json(const Suite& s) {
  Json out = {{"schema", result::json_schema},
              {"suite",
               {{"folder", path_text(s.folder)},
                {"work", path_text(s.work)},
                {"programs", s.programs.size()},
                {"built", s.count(&SuiteProgram::built, SuiteStep::yes)},
                {"ran", s.count(&SuiteProgram::ran, SuiteStep::yes)},
                {"passed", s.count(&SuiteProgram::passed, SuiteStep::yes)},
                {"failed", s.failed()},
                {"unfinished", s.unfinished()},
                {"build_only", s.build_only},
                {"notes", s.notes}}},
              {"programs", Json::array()},
              {"skipped", Json::array()}};
  for (const SuiteProgram& p : s.programs) out["programs"].push_back(program_json(p));
  for (const Suite::Skipped& skipped : s.skipped)
    out["skipped"].push_back({{"file", path_text(skipped.file)}, {"why", skipped.why}});
  return out.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string suite_html(const Suite& s) {
  HtmlTable table{
      {"program", "built", "ran", "check", "simulated#", "host#", "why not", "log"}, {}, "program-row"};
  for (const SuiteProgram& p : s.programs) {
    std::vector<std::string> row;
    for (const std::string& cell : row_of(p)) row.push_back(html_escaped(cell));
    row.push_back(html_escaped(printable(p.log)));
    table.rows.push_back(std::move(row));
  }
  std::string body = fmt::format(
      "<header><h1>{}</h1></header>\n<main id=\"main\">\n<section id=\"programs\"><h2>Programs</h2>\n",
      html_escaped(suite_headline(s)));
  body +=
      "<p class=\"filter\"><label for=\"program-filter\">Show rows that contain: </label><input "
      "type=\"search\" id=\"program-filter\" data-filter=\"tr.program-row\" "
      "aria-describedby=\"program-filter-count\"> <span id=\"program-filter-count\" role=\"status\" "
      "class=\"muted\"></span></p>\n";
  body += html_table(table) + "</section>\n";
  if (!s.skipped.empty() || !s.notes.empty()) {
    body += "<section id=\"left-out\"><h2>Left out</h2>\n<ul>\n";
    for (const Suite::Skipped& skipped : s.skipped)
      body +=
          fmt::format("<li>{}: {}</li>\n", html_escaped(printable(skipped.file)), html_escaped(skipped.why));
    for (const std::string& note : s.notes)
      body += fmt::format("<li>{}</li>\n", html_escaped(printable(note)));
    body += "</ul></section>\n";
  }
  HtmlShell shell;
  shell.title = suite_headline(s);
  shell.footer = "<p>Written by simtlab.</p>";
  return html_document(shell, body + "</main>\n");
}

}  // namespace simtlab::report
