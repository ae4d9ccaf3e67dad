// priority: clients with a priority above 0 first, the highest foremost; the others are best effort.
//
// While a client with priority has something that waits or runs, best-effort launches hold at most
// Settings::best_effort slots; otherwise they go in the order of arrival. Nothing is taken from the GPU:
// best-effort work that runs already stays.
#include <limits>

#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

bool prior(const Launch& launch) { return launch.client->priority > 0; }

void decide(const View& view, Grants& grants) {
  const auto by_priority = [](const Launch& launch) {
    return -static_cast<std::int64_t>(launch.client->priority);
  };
  const bool throttled = std::ranges::any_of(view.waiting, prior) || std::ranges::any_of(view.running, prior);
  while (grants.free() > 0) {
    const std::size_t next = least_waiting(view, grants, by_priority, prior);
    if (next == nobody) break;
    if (!grants.take(next)) return;
  }
  std::uint32_t left = throttled ? view.settings->best_effort : std::numeric_limits<std::uint32_t>::max();
  for (const Launch& launch : view.running)
    if (!prior(launch)) left -= std::min(left, grants.slots_of(launch));
  for (std::size_t i = 0; i < view.waiting.size() && grants.free() > 0; ++i) {
    const Launch& launch = view.waiting[i];
    if (prior(launch)) continue;
    // A unit larger than what best effort may hold goes alone among its kind.
    const std::uint32_t cost = throttled ? std::min(grants.slots_of(launch), view.settings->best_effort) : 0;
    if (throttled && (left == 0 || cost > left)) return;
    if (!grants.take(i)) return;
    left -= cost;
  }
}

}  // namespace

extern constinit const Policy policy_priority{
    "priority", "Clients with priority first; the others are throttled while those are active.", decide,
    "--best-effort --priority"};

}  // namespace simtlab::corun
