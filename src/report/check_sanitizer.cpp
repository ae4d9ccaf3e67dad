// The findings in lines like those of NVIDIA's compute-sanitizer, for scripts that read them.
#include <fmt/format.h>

#include <algorithm>

#include "report/check.h"
#include "report/check_words.h"

namespace simtlab::report {
namespace {

using result::Access;
using result::Finding;

constexpr std::string_view mark = "========= ";

std::string sanitizer_line(std::string_view text) { return std::string(mark) + printable(text) + "\n"; }

std::string at_words(const Access& a, const result::Result& result) {
  const std::string function = a.place.function.empty() ? a.place.kernel : a.place.function;
  const std::string place = place_words(a.place, result);
  return fmt::format("{}{}{}", function.empty() ? "host" : function, place.empty() ? "" : " in ", place);
}

// "Race reported between write of 4 bytes at k in a.cu:3 and read of 4 bytes at k in a.cu:5 [31 hazards]".
std::string race_words(const Finding& f, const result::Result& result) {
  std::string out =
      fmt::format("{}: {}", f.level == result::Level::error ? "Error" : "Warning", "Race reported between ");
  for (std::size_t i = 0; i < f.accesses.size(); ++i)
    out +=
        fmt::format("{}{} at {}", i == 0 ? "" : " and ", f.accesses[i].what, at_words(f.accesses[i], result));
  return out + fmt::format(" [{} hazards]", f.count);
}

std::string block_of(const Finding& f, const result::Result& result) {
  const bool race = f.rule.starts_with("race.") && f.accesses.size() > 1;
  std::string out = sanitizer_line(race ? race_words(f, result) : f.message);
  for (const Access& a : f.accesses) {
    if (!race) out += sanitizer_line("    at " + at_words(a, result));
    if (a.launch != 0)
      out += sanitizer_line(fmt::format("    by thread {} in block {}", triple(a.thread), triple(a.block)));
    if (!a.value.empty()) out += sanitizer_line("    value " + a.value);
  }
  if (!f.memory.empty()) out += sanitizer_line("    " + f.memory);
  if (!f.missing.empty()) out += sanitizer_line("    " + f.missing);
  return out + std::string(mark) + "\n";
}

}  // namespace

std::string check_like_sanitizer(const CheckReport& report) {
  std::string out = sanitizer_line("SIMTLAB CHECK");
  std::uint64_t errors = 0, races = 0, race_errors = 0;
  for (std::size_t i = 0; i < report.check().findings.size(); ++i) {
    if (report.judgements[i].standing != Standing::open) continue;
    const Finding& f = report.check().findings[i];
    out += block_of(f, report.result);
    errors += fails(report, i);
    if (check_of(f) != "races") continue;
    ++races;
    race_errors += f.level == result::Level::error;
  }
  for (const std::string& gap : report.check().gaps) out += sanitizer_line("Not checked: " + gap);
  const auto& checks = report.check().checks;
  if (std::ranges::find(checks, "races") != checks.end())
    out += sanitizer_line(fmt::format("RACECHECK SUMMARY: {} hazard{} displayed ({} error{}, {} warning{})",
                                      races, races == 1 ? "" : "s", race_errors, race_errors == 1 ? "" : "s",
                                      races - race_errors, races - race_errors == 1 ? "" : "s"));
  return out + sanitizer_line(fmt::format("ERROR SUMMARY: {} error{}", errors, errors == 1 ? "" : "s"));
}

}  // namespace simtlab::report
