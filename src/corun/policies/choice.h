// What several policies share: choosing the best of the waiting launches again and again, and the kernels
// whose profile is unknown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "corun/policy.h"

namespace simtlab::corun {

inline constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// The first of the waiting launches, in order of their sequence, that is not taken and satisfies `may`, with
// the least `key`.
template <typename Key, typename May>
std::size_t least_waiting(const View& view, const Grants& grants, Key key, May may) {
  std::size_t best = nobody;
  decltype(key(view.waiting[0])) best_key{};
  for (std::size_t i = 0; i < view.waiting.size(); ++i) {
    if (grants.taken(i) || !may(view.waiting[i])) continue;
    const auto k = key(view.waiting[i]);
    if (best == nobody || k < best_key) best = i, best_key = k;
  }
  return best;
}

// The first of them that came.
template <typename May>
std::size_t first_waiting(const View& view, const Grants& grants, May may) {
  for (std::size_t i = 0; i < view.waiting.size(); ++i)
    if (!grants.taken(i) && may(view.waiting[i])) return i;
  return nobody;
}

inline bool anybody(const Launch&) { return true; }

// Grants by ascending key until the slots or the launches end.
template <typename Key, typename May>
void grant_by(const View& view, Grants& grants, Key key, May may) {
  while (grants.free() > 0) {
    const std::size_t next = least_waiting(view, grants, key, may);
    if (next == nobody || !grants.take(next)) return;
  }
}

// Launches that have been overtaken `aging` times go first, who could go first foremost. (Not by sequence:
// what has queued long behind others of its stream would pass those that could go before it.) False: one of
// them is next and does not fit.
inline bool grant_aged(const View& view, Grants& grants) {
  const auto aged = [&](const Launch& launch) { return view.overtaken(launch) >= view.settings->aging; };
  const auto since = [](const Launch& launch) { return launch.grants_before; };
  while (grants.free() > 0) {
    const std::size_t next = least_waiting(view, grants, since, aged);
    if (next == nobody) return true;
    if (!grants.take(next)) return false;
  }
  return true;
}

// The (lower) median over the launches that wait or run and whose value is known: what a kernel that nobody
// knows is taken for. 0 if none is known.
template <typename Value>
double median_known(const View& view, Value value) {
  std::vector<double> known;
  for (const auto list : {view.waiting, view.running})
    for (const Launch& launch : list)
      if (const std::optional<double> v = value(launch)) known.push_back(*v);
  if (known.empty()) return 0;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::nth_element(known.begin(), middle, known.end());
  return *middle;
}

// The value, or the median of those that are known. The median is computed only if it is needed.
template <typename Value>
class OrMedian {
 public:
  OrMedian(const View& view, Value value) : view_(view), value_(value) {}
  double operator()(const Launch& launch) {
    if (const std::optional<double> v = value_(launch)) return *v;
    if (!computed_) median_ = median_known(view_, value_), computed_ = true;
    return median_;
  }

 private:
  const View& view_;
  Value value_;
  double median_ = 0;
  bool computed_ = false;
};

inline std::optional<double> l2_of(const Launch& launch) {
  return launch.profile == nullptr ? std::nullopt : launch.profile->l2_bandwidth;
}
inline std::optional<double> dram_of(const Launch& launch) {
  return launch.profile == nullptr ? std::nullopt : launch.profile->dram_bandwidth;
}
inline std::optional<double> time_of(const Launch& launch) {
  return launch.profile == nullptr ? std::nullopt : launch.profile->time_ns;
}
inline std::optional<double> stall_of(const Launch& launch) {
  return launch.profile == nullptr ? std::nullopt : launch.profile->memory_stall;
}

// Policy::all_go of those that leave no slot empty.
inline std::uint32_t all_that_fit(const Settings& settings) { return settings.limit; }
// Of SHARK: as many as are among the allowed.
inline std::uint32_t heaviest_and_lightest(const Settings& settings) {
  return settings.light && *settings.light < settings.limit ? *settings.light + 1 : settings.limit;
}

// Policy::unknown of those that use OrMedian.
inline constexpr std::string_view median_or_arrival =
    "counts as the median of the known ones that are active; with none known all go in the order of arrival";

// SHARK's rule on the launches that `aged` left: see shark.cpp.
void grant_shark(const View& view, Grants& grants);

}  // namespace simtlab::corun
