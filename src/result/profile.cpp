#include "result/profile.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace simtlab::result {
namespace {

void add(LineProfile& to, const LineProfile& from) {
  to.instructions += from.instructions;
  to.threads += from.threads;
  to.slots.resize(std::max(to.slots.size(), from.slots.size()));
  for (std::size_t i = 0; i < from.slots.size(); ++i) to.slots[i] += from.slots[i];
  to.requests += from.requests;
  to.sectors += from.sectors;
  to.shared_passes += from.shared_passes;
  to.shared_conflicts += from.shared_conflicts;
  to.loads += from.loads;
  to.load_cycles += from.load_cycles;
}

}  // namespace

std::uint64_t slots_of(const LineProfile& line) {
  return std::accumulate(line.slots.begin(), line.slots.end(), std::uint64_t{0});
}

void merge(Profile& into, const Profile& from) {
  if (from.empty()) return;
  if (into.empty()) {
    into = from;
    return;
  }
  into.launches += from.launches;
  for (std::size_t i = 0; i < std::min(into.slots.size(), from.slots.size()); ++i) into.slots[i] += from.slots[i];
  const auto key = [](const LineProfile& l) { return std::tie(l.function, l.ptx_line, l.ptx); };
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < into.lines.size(); ++i) places.emplace(key(into.lines[i]), i);
  for (const LineProfile& line : from.lines) {
    if (const auto found = places.find(key(line)); found != places.end())
      add(into.lines[found->second], line);
    else
      into.lines.push_back(line);
  }
}

std::vector<LineProfile> by_source(const Profile& profile) {
  std::map<std::tuple<std::string, std::uint32_t, std::string, std::uint32_t>, LineProfile> sums;
  for (const LineProfile& line : profile.lines) {
    const bool known = !line.file.empty();
    const auto key = known ? std::tuple(line.file, line.line, std::string(), 0u)
                           : std::tuple(std::string(), 0u, line.function, line.ptx_line);
    const auto [at, is_new] = sums.try_emplace(key, line);
    if (is_new) continue;
    add(at->second, line);
    at->second.ptx.clear();
    if (at->second.function != line.function) at->second.function.clear();
  }
  std::vector<LineProfile> out;
  for (auto& [key, line] : sums) out.push_back(std::move(line));
  std::ranges::sort(out, [](const LineProfile& a, const LineProfile& b) {
    const std::uint64_t more = slots_of(a), less = slots_of(b);
    return more != less ? more > less : std::tie(a.file, a.line, a.function, a.ptx_line) < std::tie(b.file, b.line, b.function, b.ptx_line);
  });
  return out;
}

}  // namespace simtlab::result
