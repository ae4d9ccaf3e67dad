#include "studies/check/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "result/fingerprint.h"
#include "studies/check/glob.h"

namespace simtlab::studies {
namespace {

// The whole demangled name, or what stands before its parameters.
bool names(const std::string& pattern, const std::string& kernel) {
  return glob_matches(pattern, kernel) || glob_matches(pattern, kernel.substr(0, kernel.find('(')));
}

bool names_any(const std::vector<std::string>& patterns, const std::string& kernel) {
  return std::ranges::any_of(patterns, [&](const std::string& p) { return names(p, kernel); });
}

bool takes_kernel(const Judging& j, const std::string& kernel) {
  return (j.kernels.empty() || names_any(j.kernels, kernel)) && !names_any(j.without_kernels, kernel);
}

// What belongs to no kernel, as a leak, stays.
bool takes_finding(const Judging& j, const result::Finding& f) {
  bool of_a_kernel = false;
  for (const result::Access& a : f.accesses) {
    if (a.place.kernel.empty()) continue;
    of_a_kernel = true;
    if (takes_kernel(j, a.place.kernel)) return true;
  }
  return !of_a_kernel;
}

// Kernels that are left out are none that were found to be in order.
void leave_out_kernels(report::CheckReport& out, result::CheckResult& check, const Judging& j) {
  std::vector<std::string> left_out;
  const auto name_of = [](const result::KernelResult& k) {
    return k.demangled.empty() ? k.name : k.demangled;
  };
  std::erase_if(out.result.kernels, [&](const result::KernelResult& k) {
    const std::string name = name_of(k);
    if (takes_kernel(j, name)) return false;
    if (std::ranges::find(left_out, name) == left_out.end()) left_out.push_back(name);
    return true;
  });
  if (left_out.empty()) return;
  constexpr std::size_t most = 5;
  const std::size_t all = left_out.size();
  left_out.resize(std::min(all, most));
  check.gaps.push_back(fmt::format(
      "{}{}: --kernel-name and --kernel-name-exclude leave {} out", fmt::join(left_out, ", "),
      all > most ? fmt::format(" and {} more kernels", all - most) : "", all == 1 ? "it" : "them"));
}

void warn_of_idle_patterns(report::CheckReport& out, const std::vector<std::string>& patterns,
                           const std::vector<result::KernelResult>& kernels, const char* option) {
  for (const std::string& pattern : patterns)
    if (std::ranges::none_of(kernels, [&](const result::KernelResult& k) {
          return names(pattern, k.demangled.empty() ? k.name : k.demangled);
        }))
      out.warnings.push_back(fmt::format("{} {} names no kernel that ran", option, pattern));
}

}  // namespace

report::CheckReport judge(result::Result& result, const Judging& j) {
  result::CheckResult& check = *result.check;
  std::erase_if(check.findings, [&](const result::Finding& f) { return !takes_finding(j, f); });
  report::CheckReport out;
  out.result = result;
  leave_out_kernels(out, check, j);
  out.result.check = check;
  out.fails_from = j.fails_from;
  out.coverage_min = j.coverage_min;
  out.has_baseline = j.baseline.has_value();
  warn_of_idle_patterns(out, j.kernels, result.kernels, "--kernel-name");
  warn_of_idle_patterns(out, j.without_kernels, result.kernels, "--kernel-name-exclude");

  const std::vector<std::string> prints = result::fingerprints(check.findings);
  std::vector<bool> used(j.suppressions.size(), false);
  for (std::size_t i = 0; i < check.findings.size(); ++i) {
    report::Judgement& one = out.judgements.emplace_back();
    one.fingerprint = prints[i];
    for (std::size_t s = 0; s < j.suppressions.size(); ++s) {
      if (!suppresses(j.suppressions[s], check.findings[i], result.manifest.working_directory)) continue;
      used[s] = true;
      if (one.standing == report::Standing::suppressed) continue;
      one.standing = report::Standing::suppressed;
      one.reason = j.suppressions[s].reason;
    }
    if (one.standing == report::Standing::open && j.baseline && j.baseline->contains(prints[i]))
      one.standing = report::Standing::known;
  }
  for (std::size_t s = 0; s < used.size(); ++s)
    if (!used[s])
      out.warnings.push_back(
          fmt::format("{}: the suppression matches nothing that was found", j.suppressions[s].from));
  if (j.baseline) {
    std::size_t gone = 0;
    for (const std::string& print : *j.baseline) gone += std::ranges::find(prints, print) == prints.end();
    if (gone != 0)
      out.warnings.push_back(
          fmt::format("{} finding{} of the baseline did not show: --write-baseline makes it anew", gone,
                      gone == 1 ? "" : "s"));
  }
  return out;
}

}  // namespace simtlab::studies
