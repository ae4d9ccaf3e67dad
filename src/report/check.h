// What `simtlab check` found, in the forms that people and CI systems read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/format.h"
#include "result/metrics.h"

namespace simtlab::report {

// What became of a finding: it counts, or a baseline knows it, or somebody suppressed it.
enum class Standing : std::uint8_t { open, known, suppressed };

struct Judgement {
  Standing standing = Standing::open;
  std::string reason;       // of a suppression, as its author gave it
  std::string fingerprint;  // result/fingerprint.h
};

struct CheckReport {
  result::Result result;                            // with `check`
  std::vector<Judgement> judgements;                // one a finding
  result::Level fails_from = result::Level::error;  // findings below are told, but fail nothing
  bool has_baseline = false;
  std::vector<std::string> warnings;  // of the check itself: a suppression that matches nothing
  double coverage_min = 0;            // share of lines that must have run; 0: none was asked for
  bool all = false;                   // the text tells of known and suppressed ones, too

  const result::CheckResult& check() const { return *result.check; }
};

// A result of which nothing is suppressed or known.
CheckReport check_report(const result::Result& result);

// Whether this one fails the check.
bool fails(const CheckReport& report, std::size_t finding);

struct CheckCounts {
  std::uint64_t errors = 0, warnings = 0, known = 0, suppressed = 0;
  std::uint64_t failing = 0;
};
CheckCounts counts_of(const CheckReport& report);

struct CoverageSum {
  std::uint64_t lines = 0, lines_run = 0, branches = 0, branches_run = 0;  // branches: outcomes
  double share() const {
    return lines == 0 ? 1 : static_cast<double>(lines_run) / static_cast<double>(lines);
  }
};
CoverageSum sum_of(const std::vector<result::CoveredFile>& files);
CoverageSum sum_of(const result::CoveredFile& file);
bool too_little_coverage(const CheckReport& report);

std::string check_text(const CheckReport& report, const Style& style);
std::string check_like_sanitizer(const CheckReport& report);  // as compute-sanitizer would say it
std::string check_sarif(const CheckReport& report);           // SARIF 2.1.0
std::string check_junit(const CheckReport& report);
std::string check_github(const CheckReport& report);  // workflow commands: annotations
std::string check_lcov(const CheckReport& report);    // a tracefile of lcov
std::string check_html(const CheckReport& report);

}  // namespace simtlab::report
