#include "gpu/kept_results.h"

#include <algorithm>
#include <utility>

#include "gpu/gpu.h"
#include "result/totals.h"

namespace simtlab::gpu {

void KeptResults::keep(std::uint64_t launch, result::KernelResult&& result) {
  ++ended_;
  add_profile_to_earlier(result);
  profile_lines_ += result.profile.lines.size();
  if (single_.size() < bounds_.launches)
    keep_alone(launch, std::move(result));
  else
    merge(launch, std::move(result));
}

void KeptResults::add_profile_to_earlier(result::KernelResult& result) {
  if (profile_lines_ + result.profile.lines.size() <= bounds_.profile_lines) return;
  const auto earlier = std::ranges::find_if(
      single_, [&](const result::KernelResult& k) { return k.name == result.name && !k.profile.empty(); });
  if (earlier == single_.end()) return;
  result::merge(earlier->profile, result.profile);
  result.profile = {};
}

void KeptResults::keep_alone(std::uint64_t launch, result::KernelResult&& result) {
  series_rows_ += result.series.rows.size();
  const auto at = std::ranges::upper_bound(numbers_, launch) - numbers_.begin();
  numbers_.insert(numbers_.begin() + at, launch);
  single_.insert(single_.begin() + at, std::move(result));
  if (on_kept_) on_kept_({launch, single_[static_cast<std::size_t>(at)], false});
  while (series_rows_ > bounds_.series_rows) halve_longest_series();
}

// Merged launches have no series.
void KeptResults::merge(std::uint64_t launch, result::KernelResult&& result) {
  result.series = {};
  const auto same = std::ranges::find(merged_, result.name, &result::KernelResult::name);
  const auto place = static_cast<std::size_t>(same - merged_.begin());
  if (same == merged_.end()) {
    merged_.push_back(std::move(result));
  } else {
    std::vector<result::KernelResult> both;
    both.push_back(std::move(*same));
    both.push_back(std::move(result));
    *same = std::move(result::merge_by_name(both).front());
  }
  if (on_kept_) on_kept_({launch, merged_[place], true});
}

void KeptResults::halve_longest_series() {
  const auto rows = [](const result::KernelResult& k) { return k.series.rows.size(); };
  const auto longest = std::ranges::max_element(single_, {}, rows);
  const std::size_t before = longest->series.rows.size();
  longest->series = result::thinned(longest->series, before / 2);
  series_rows_ -= before - longest->series.rows.size();
}

std::vector<result::KernelResult> KeptResults::all() const {
  std::vector<result::KernelResult> out = single_;
  out.insert(out.end(), merged_.begin(), merged_.end());
  return out;
}

}  // namespace simtlab::gpu
