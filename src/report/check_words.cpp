#include "report/check_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace simtlab::report {

using result::Access;
using result::CodePlace;
using result::Finding;
using result::Level;

namespace {

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", format_exact(count), count == 1 ? one : many);
}

std::string without_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

CheckReport check_report(const result::Result& result) {
  CheckReport out;
  out.result = result;
  if (!out.result.check) out.result.check.emplace();
  out.judgements.resize(out.check().findings.size());
  return out;
}

bool fails(const CheckReport& report, std::size_t finding) {
  return report.judgements[finding].standing == Standing::open &&
         report.check().findings[finding].level >= report.fails_from;
}

CheckCounts counts_of(const CheckReport& report) {
  CheckCounts out;
  for (std::size_t i = 0; i < report.judgements.size(); ++i) {
    switch (report.judgements[i].standing) {
      case Standing::known: ++out.known; break;
      case Standing::suppressed: ++out.suppressed; break;
      case Standing::open:
        ++(report.check().findings[i].level == Level::error ? out.errors : out.warnings);
        break;
    }
    if (fails(report, i)) ++out.failing;
  }
  return out;
}

CoverageSum sum_of(const result::CoveredFile& file) {
  CoverageSum out;
  out.lines = file.lines.size();
  for (const result::CoveredLine& l : file.lines) out.lines_run += l.warps != 0;
  out.branches = 2 * file.branches.size();
  for (const result::CoveredBranch& b : file.branches)
    out.branches_run += (b.taken + b.parted != 0) + (b.not_taken + b.parted != 0);
  return out;
}

CoverageSum sum_of(const std::vector<result::CoveredFile>& files) {
  CoverageSum out;
  for (const result::CoveredFile& file : files) {
    const CoverageSum one = sum_of(file);
    out.lines += one.lines, out.lines_run += one.lines_run;
    out.branches += one.branches, out.branches_run += one.branches_run;
  }
  return out;
}

bool too_little_coverage(const CheckReport& report) {
  return report.coverage_min > 0 && sum_of(report.check().coverage).share() < report.coverage_min;
}

const char* level_name(Level level) { return level == Level::error ? "error" : "warning"; }

std::string check_of(const Finding& finding) {
  const result::FindingRule* rule = result::find_finding_rule(finding.rule);
  return rule == nullptr ? "" : std::string(rule->check);
}

std::string file_words(const std::string& file, const result::Result& result) {
  const std::string folder = result.manifest.working_directory + "/";
  if (folder.size() > 1 && file.starts_with(folder) && file.size() > folder.size())
    return file.substr(folder.size());
  return file;
}

std::string place_words(const CodePlace& place, const result::Result& result) {
  if (!place.file.empty()) {
    std::string out = file_words(place.file, result);
    if (place.line != 0) out += fmt::format(":{}", place.line);
    if (place.line != 0 && place.column != 0) out += fmt::format(":{}", place.column);
    return out;
  }
  if (place.ptx_line != 0)
    return fmt::format("PTX line {} of {}", place.ptx_line,
                       place.ptx_file.empty() ? "the module" : file_words(place.ptx_file, result));
  return {};
}

std::string triple(const std::uint32_t (&values)[3]) {
  return fmt::format("({},{},{})", values[0], values[1], values[2]);
}

std::string access_words(const Access& access) {
  std::string out = access.launch == 0
                        ? std::string("the host")
                        : fmt::format("block {}, thread {}", triple(access.block), triple(access.thread));
  if (!access.what.empty()) out += ": " + access.what;
  if (!access.value.empty()) out += ", value " + access.value;
  return out;
}

std::vector<std::pair<std::string, std::string>> remarks(const Finding& f) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) out.emplace_back(name, text);
  };
  add("where", f.memory);
  add("missing", f.missing);
  add("tried", f.mend);
  add("seen", f.count > 1 ? fmt::format("{} times", format_exact(f.count)) : std::string());
  add("again", f.order.empty() ? std::string()
                               : fmt::format("--order {} runs it in the order that showed this", f.order));
  const result::FindingRule* rule = result::find_finding_rule(f.rule);
  add("hint", !f.hint.empty() ? f.hint : rule == nullptr ? std::string() : std::string(rule->help));
  return out;
}

std::string finding_paragraph(const Finding& f, const result::Result& result) {
  std::string out = without_stop(f.message) + ".";
  for (const Access& a : f.accesses) {
    const std::string place = place_words(a.place, result);
    out += fmt::format(" {}{}{}.", without_stop(access_words(a)), place.empty() ? "" : " at ", place);
  }
  for (const auto& [name, text] : remarks(f)) out += fmt::format(" {}: {}.", name, without_stop(text));
  return out;
}

std::vector<std::string> checked_kernels(const result::Result& result) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && seen.insert(name).second) out.push_back(name);
  };
  for (const result::KernelResult& k : result.kernels) add(k.demangled.empty() ? k.name : k.demangled);
  for (const Finding& f : result.check->findings)
    for (const Access& a : f.accesses)
      if (a.launch != 0) add(a.place.kernel);  // not copies of the host's
  return out;
}

std::string summary_words(const CheckReport& report) {
  const CheckCounts counts = counts_of(report);
  std::string out = counted(counts.errors, "error", "errors") + ", " +
                    counted(counts.warnings, "warning", "warnings") + " in " +
                    counted(checked_kernels(report.result).size(), "kernel", "kernels") + " (" +
                    counted(report.check().launches, "launch", "launches") + ")";
  std::string more;
  if (counts.suppressed != 0) more += fmt::format("suppressed {}", format_exact(counts.suppressed));
  if (counts.known != 0)
    more += fmt::format("{}known {}", more.empty() ? "" : ", ", format_exact(counts.known));
  return more.empty() ? out : out + "; " + more;
}

std::string nothing_found_words(const CheckReport& report) {
  if (!report.check().findings.empty() || report.check().launches == 0) return {};
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"memory", "bad access"},      {"races", "race"}, {"init", "use of what nobody set"},
      {"barriers", "wrong barrier"}, {"leaks", "leak"}, {"api", "failed call"},
      {"numbers", "NaN or infinity"}};
  std::string out;
  for (const auto& [check, what] : words)
    if (std::ranges::find(report.check().checks, check) != report.check().checks.end())
      out += fmt::format("{}no {}", out.empty() ? "" : ", ", what);
  return out.empty() ? out : out + " in this run";
}

std::string xml_escaped(std::string_view text) {
  // Line ends stay; command characters, which XML has no place for, are '?'. It has none for these two,
  // either.
  std::string clean = shown_lines(text, text.size() + 1);
  for (const std::string_view none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = 0; (at = clean.find(none, at)) != std::string::npos; ++at)
      clean.replace(at, 3, "?");
  std::string out;
  for (const char c : clean) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&apos;"; break;
      case '\n': out += "&#10;"; break;
      case '\t': out += "&#9;"; break;
      default: out += c;
    }
  return out;
}

}  // namespace simtlab::report
