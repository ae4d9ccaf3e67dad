#include "timing/sharing.h"

#include <algorithm>
#include <array>

namespace simtlab::timing {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(SharePolicy::count_)> names = {
    "leftover", "spatial", "smk", "serial"};

}  // namespace

std::string_view name_of(SharePolicy policy) { return names[static_cast<std::size_t>(policy)]; }

std::optional<SharePolicy> share_policy(std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) return std::nullopt;
  return static_cast<SharePolicy>(at - names.begin());
}

void share(SharePolicy policy, std::uint32_t sms, std::span<LaunchContext* const> launches) {
  const auto count = static_cast<std::uint32_t>(launches.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    LaunchContext& launch = *launches[i];
    launch.first_sm = 0;
    launch.end_sm = sms;
    launch.blocks_per_sm = launch.occupancy.blocks_per_sm;
    if (policy == SharePolicy::smk)
      launch.blocks_per_sm = std::max(1u, launch.occupancy.blocks_per_sm / count);
    if (launch.own_sms > 0) {
      launch.first_sm = launch.own_first_sm;
      launch.end_sm = launch.own_first_sm + launch.own_sms;
    } else if (policy == SharePolicy::spatial) {
      // More launches than SMs: neighbours share one.
      launch.first_sm = static_cast<std::uint32_t>(std::uint64_t{i} * sms / count);
      launch.end_sm =
          std::max(launch.first_sm + 1, static_cast<std::uint32_t>((std::uint64_t{i} + 1) * sms / count));
    }
  }
}

}  // namespace simtlab::timing
