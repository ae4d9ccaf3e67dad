// Findings as tables of a result and as text.
#include <fmt/format.h>

#include <algorithm>

#include "probe/device_file.h"
#include "studies/probe/probe.h"

namespace simtlab::studies {
namespace {

result::Cell text(const std::string& value) { return value.empty() ? result::Cell{} : result::Cell{value}; }
result::Cell number(bool known, double value) { return known ? result::Cell{value} : result::Cell{}; }

// What stands before the first dot: findings that belong together.
std::string group_of(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? "board" : key.substr(0, dot);
}

}  // namespace

void add_tables(result::KernelResult& to, const probe::Findings& findings) {
  result::Table found{"findings", {}}, curves{"curves", {}}, knees{"knees", {}}, levels{"levels", {}},
      samples{"samples", {}};
  for (const probe::Finding& f : findings.all()) {
    const bool numeric = f.known() && f.word.empty();
    found.rows.push_back({f.key, number(numeric, f.value), text(f.word), text(f.unit),
                          number(f.has_interval(), f.interval.low), number(f.has_interval(), f.interval.high),
                          number(f.known() && f.confidence > 0, f.confidence), f.samples, text(f.method),
                          text(f.curve), text(f.unknown), text(f.correction)});
    for (const probe::Histogram::Bin& bin : f.raw) samples.rows.push_back({f.key, bin.value, bin.count});
  }
  for (const probe::Series& s : findings.curves()) {
    for (const probe::Series::Point& p : s.points) curves.rows.push_back({s.name, s.x, s.y, p.x, p.y});
    for (const probe::Series::Knee& k : s.knees) knees.rows.push_back({s.name, k.x, k.low, k.high, k.what});
    for (const probe::Series::Level& l : s.levels)
      levels.rows.push_back({s.name, l.first, l.last, l.y, l.low, l.high, l.confidence,
                             static_cast<std::uint64_t>(l.points),
                             l.p ? result::Cell{*l.p} : result::Cell{}});
  }
  for (result::Table* t : {&found, &curves, &knees, &levels, &samples})
    if (!t->rows.empty()) to.tables.push_back(std::move(*t));
}

std::string text_of(const probe::Findings& findings, const probe::Outcome& outcome,
                    const std::string& board) {
  std::string out = board + "\n";
  std::vector<std::string> groups;
  for (const probe::Finding& f : findings.all())
    if (std::ranges::find(groups, group_of(f.key)) == groups.end()) groups.push_back(group_of(f.key));
  for (const std::string& group : groups) {
    out += fmt::format("\n{}\n", group);
    for (const probe::Finding& f : findings.all()) {
      if (group_of(f.key) != group || !f.known()) continue;
      const std::string interval = f.has_interval() && f.confidence < 1 && f.interval.low != f.interval.high
                                       ? fmt::format("  ({:.5g} to {:.5g})", f.interval.low, f.interval.high)
                                       : "";
      out += fmt::format("  {:<34} {}{}\n", f.key, probe::value_text(f), interval);
    }
  }
  bool any = false;
  for (const probe::Finding& f : findings.all()) {
    if (f.known()) continue;
    if (!any) out += "\nNot found:\n";
    any = true;
    out += fmt::format("  {:<34} {}\n", f.key, f.unknown);
  }
  for (const std::string& failed : outcome.failed) out += fmt::format("\nFailed: {}\n", failed);
  if (outcome.interrupted) out += "\nInterrupted: the rest was not measured.\n";
  if (outcome.lost) out += "\nThe device was lost: the rest could not be measured.\n";
  return out;
}

}  // namespace simtlab::studies
