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

constexpr std::size_t not_a_column = static_cast<std::size_t>(-1);

std::size_t place(const Series& s, std::string_view column) {
  const auto found = std::ranges::find(s.columns, column);
  return found == s.columns.end() ? not_a_column : static_cast<std::size_t>(found - s.columns.begin());
}

// Which column weighs the values of column k when rows become one; not_a_column: they are added. `end` stands
// for the length of a row.
std::size_t weight_of(const Series& s, std::size_t k, std::size_t end) {
  const std::string& name = s.columns[k];
  if (name == "instructions.warp" || name.ends_with(".accesses")) return not_a_column;
  if (!name.ends_with(".hit_rate") && !name.ends_with(".pending_rate")) return end;
  const std::size_t accesses = place(s, name.substr(0, name.rfind('.')) + ".read.accesses");
  return accesses == not_a_column ? end : accesses;
}

}  // namespace

Series thinned(const Series& series, std::size_t most_rows) {
  const std::size_t end = place(series, "end");
  if (series.rows.size() <= most_rows || end == not_a_column) return series;
  const std::size_t together = (series.rows.size() + most_rows - 1) / most_rows;
  Series out{series.interval * together, series.columns, {}};
  double begin = 0;
  for (std::size_t first = 0; first < series.rows.size(); first += together) {
    const std::size_t last = std::min(first + together, series.rows.size());
    std::vector<double> row(series.columns.size(), 0.0);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k == end) continue;
      const std::size_t by = weight_of(series, k, end);
      double sum = 0, weights = 0, before = begin;
      for (std::size_t r = first; r < last; ++r) {
        const std::vector<double>& one = series.rows[r];
        const double weight = by == not_a_column ? 1 : by == end ? one[end] - before : one[by];
        before = one[end];
        sum += one[k] * weight, weights += weight;
      }
      row[k] = by == not_a_column ? sum : weights > 0 ? sum / weights : 0;
    }
    begin = row[end] = series.rows[last - 1][end];
    out.rows.push_back(std::move(row));
  }
  return out;
}

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
  for (std::size_t i = 0; i < std::min(into.slots.size(), from.slots.size()); ++i)
    into.slots[i] += from.slots[i];
  const auto key = [](const LineProfile& l) { return std::tie(l.function, l.ptx_line, l.ptx, l.code); };
  std::map<std::tuple<std::string, std::uint32_t, std::string, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < into.lines.size(); ++i) places.emplace(key(into.lines[i]), i);
  for (const LineProfile& line : from.lines) {
    if (const auto found = places.find(key(line)); found != places.end())
      add(into.lines[found->second], line);
    else
      into.lines.push_back(line);
  }
}

std::vector<LineProfile> by_source(const Profile& profile) {
  using Key = std::tuple<std::string, std::uint32_t, std::string, std::uint32_t, std::string>;
  std::map<Key, LineProfile> sums;
  for (const LineProfile& line : profile.lines) {
    const bool known = !line.file.empty();
    const Key key =
        known ? Key(line.file, line.line, {}, 0u, {}) : Key({}, 0u, line.function, line.ptx_line, line.code);
    const auto [at, is_new] = sums.try_emplace(key, line);
    if (is_new) continue;
    add(at->second, line);
    at->second.ptx.clear();
    at->second.code.clear();
    if (at->second.function != line.function) at->second.function.clear();
  }
  std::vector<LineProfile> out;
  for (auto& [key, line] : sums) out.push_back(std::move(line));
  std::ranges::sort(out, [](const LineProfile& a, const LineProfile& b) {
    const std::uint64_t more = slots_of(a), less = slots_of(b);
    return more != less ? more > less
                        : std::tie(a.file, a.line, a.function, a.ptx_line, a.code) <
                              std::tie(b.file, b.line, b.function, b.ptx_line, b.code);
  });
  return out;
}

}  // namespace simtlab::result
