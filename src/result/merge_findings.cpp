#include "result/merge_findings.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace simtlab::result {
namespace {

// Where a finding is: what makes two of them one.
using PlaceKey = std::tuple<std::string, std::string, std::string, std::uint32_t, std::uint32_t, std::string,
                            std::uint32_t>;
using FindingKey = std::tuple<std::string, Level, std::string, std::vector<PlaceKey>>;

FindingKey key_of(const Finding& f) {
  FindingKey key{f.rule, f.level, f.accesses.empty() ? f.message : std::string(), {}};
  for (const Access& a : f.accesses)
    std::get<3>(key).emplace_back(a.place.kernel, a.place.function, a.place.file, a.place.line,
                                  a.place.column, a.place.ptx_file, a.place.ptx_line);
  return key;
}

void add_missing(std::vector<std::string>& into, std::vector<std::string>&& from) {
  for (std::string& one : from)
    if (std::ranges::find(into, one) == into.end()) into.push_back(std::move(one));
}

void add(CoveredLine& into, const CoveredLine& from) {
  into.warps += from.warps;
  into.lanes = std::max(into.lanes, from.lanes);
}
void add(CoveredBranch& into, const CoveredBranch& from) {
  into.taken += from.taken;
  into.not_taken += from.not_taken;
  into.parted += from.parted;
}
void add(CoveredFunction& into, const CoveredFunction& from) { into.warps += from.warps; }

template <class T, class Key>
void add_by(std::vector<T>& into, std::vector<T>&& from, Key key) {
  std::map<decltype(key(into.front())), std::size_t> places;
  for (std::size_t i = 0; i < into.size(); ++i) places.emplace(key(into[i]), i);
  for (T& one : from) {
    const auto [at, is_new] = places.emplace(key(one), into.size());
    if (is_new)
      into.push_back(std::move(one));
    else
      add(into[at->second], one);
  }
  std::ranges::sort(into, {}, key);
}

void add(CoveredFile& into, CoveredFile&& from) {
  add_by(into.functions, std::move(from.functions),
         [](const CoveredFunction& f) { return std::pair(f.line, f.name); });
  add_by(into.lines, std::move(from.lines), [](const CoveredLine& l) { return l.line; });
  add_by(into.branches, std::move(from.branches),
         [](const CoveredBranch& b) { return std::pair(b.line, b.number); });
}

}  // namespace

void merge(CheckResult& into, CheckResult&& from) {
  add_missing(into.checks, std::move(from.checks));
  add_missing(into.gaps, std::move(from.gaps));
  into.launches += from.launches;
  std::map<FindingKey, std::size_t> known;
  for (std::size_t i = 0; i < into.findings.size(); ++i) known.emplace(key_of(into.findings[i]), i);
  for (Finding& f : from.findings) {
    const auto [at, is_new] = known.emplace(key_of(f), into.findings.size());
    if (is_new)
      into.findings.push_back(std::move(f));
    else
      into.findings[at->second].count += f.count;
  }
  for (CoveredFile& f : from.coverage) {
    const auto at = std::ranges::find(into.coverage, f.file, &CoveredFile::file);
    if (at == into.coverage.end())
      into.coverage.push_back(std::move(f));
    else
      add(*at, std::move(f));
  }
  sort(into);
}

void sort(CheckResult& check) {
  std::ranges::stable_sort(check.findings, {}, [](const Finding& f) {
    static const CodePlace nowhere;
    const CodePlace& p = f.accesses.empty() ? nowhere : f.accesses.front().place;
    return std::tuple(std::string_view(f.rule), std::string_view(p.file), p.line);
  });
  std::ranges::sort(check.coverage, {}, &CoveredFile::file);
}

}  // namespace simtlab::result
