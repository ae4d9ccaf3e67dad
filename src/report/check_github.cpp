// Workflow commands of GitHub Actions: each finding becomes a note at its line of the pull request.
#include <fmt/format.h>

#include <algorithm>

#include "report/check.h"
#include "report/check_words.h"

namespace simtlab::report {
namespace {

// In a message; in a property the characters that end one, too.
std::string command_escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : shown_lines(text, text.size() + 1)) switch (c) {
      case '%': out += "%25"; break;
      case '\n': out += "%0A"; break;
      case ':': out += property ? "%3A" : ":"; break;
      case ',': out += property ? "%2C" : ","; break;
      default: out += c;
    }
  return out;
}

std::string annotation(const result::Finding& f, const result::Result& result) {
  std::string out = fmt::format("::{} ", level_name(f.level));
  if (!f.accesses.empty() && !f.accesses.front().place.file.empty()) {
    const result::CodePlace& p = f.accesses.front().place;
    out += "file=" + command_escaped(file_words(p.file, result), true);
    if (p.line != 0) out += fmt::format(",line={}", p.line);
    if (p.line != 0 && p.column != 0) out += fmt::format(",col={}", p.column);
    out += ",";
  }
  const result::FindingRule* rule = result::find_finding_rule(f.rule);
  const std::string title =
      rule == nullptr ? f.rule : fmt::format("{} ({})", std::string(rule->title), f.rule);
  return out + "title=" + command_escaped(title, true) +
         "::" + command_escaped(finding_paragraph(f, result), false) + "\n";
}

}  // namespace

// Errors first: GitHub shows only the first ten of a step.
std::string check_github(const CheckReport& report) {
  std::string out;
  for (const result::Level level : {result::Level::error, result::Level::warning})
    for (std::size_t i = 0; i < report.check().findings.size(); ++i)
      if (report.judgements[i].standing == Standing::open && report.check().findings[i].level == level)
        out += annotation(report.check().findings[i], report.result);
  for (const std::string& gap : report.check().gaps)
    out += "::notice title=Not checked::" + command_escaped(gap, false) + "\n";
  if (too_little_coverage(report))
    out += fmt::format(
        "::error title=Coverage::{:.1f} %25 of the lines of device code ran, less than {:g} %25\n",
        100 * sum_of(report.check().coverage).share(), 100 * report.coverage_min);
  return out;
}

}  // namespace simtlab::report
