#include "probe/kinds.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace simtlab::probe {
namespace {

// The chosen ones and what they need.
std::set<std::string_view> wanted(std::span<const std::string> chosen) {
  std::set<std::string_view> out;
  const std::vector<const Kind*> all = kinds();
  for (const Kind* kind : all)
    if (chosen.empty() || std::ranges::find(chosen, kind->name) != chosen.end()) out.insert(kind->name);
  for (auto kind = all.rbegin(); kind != all.rend(); ++kind) {
    if (!out.contains((*kind)->name)) continue;
    std::string_view needs = (*kind)->needs;
    while (!needs.empty()) {
      const std::size_t end = std::min(needs.find(' '), needs.size());
      out.insert(needs.substr(0, end));
      needs.remove_prefix(std::min(end + 1, needs.size()));
    }
  }
  return out;
}

}  // namespace

std::vector<const Kind*> kinds() {
  const std::span<const Kind* const> registered = registered_kinds();
  std::vector<const Kind*> out(registered.begin(), registered.end());
  std::ranges::stable_sort(out, {}, &Kind::place);
  return out;
}

bool single_operations(std::span<const std::string> chosen) {
  const std::set<std::string_view> names = wanted(chosen);
  return std::ranges::any_of(kinds(),
                             [&](const Kind* kind) { return kind->single && names.contains(kind->name); });
}

Outcome run_probes(Bench& bench, std::span<const std::string> chosen, const Begun& begun) {
  Outcome outcome;
  const std::set<std::string_view> names = wanted(chosen);
  std::size_t before = 0;
  for (const Kind* kind : kinds()) {
    if (!names.contains(kind->name)) continue;
    if (begun) begun(kind->name, before++, names.size());
    try {
      bench.check_interrupt();
      kind->run(bench);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) {
        outcome.interrupted = true;
        return outcome;
      }
      outcome.failed.push_back(std::string(kind->name) + ": " + error.what());
      // A device that is gone answers nothing any more.
      if (error.code() == ExitCode::unavailable) {
        outcome.lost = true;
        return outcome;
      }
    }
  }
  return outcome;
}

}  // namespace simtlab::probe
