// round-robin: the client that was granted something longest ago is next.
//
// Within one decision too: a client that has just been granted a launch goes behind the others.
#include <vector>

#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

void decide(const View& view, Grants& grants) {
  std::uint64_t now = view.grants;
  std::vector<std::pair<const Client*, std::uint64_t>> served;  // by this decision
  const auto last = [&](const Launch& launch) {
    for (auto at = served.rbegin(); at != served.rend(); ++at)
      if (at->first == launch.client) return at->second;
    return launch.client->last_grant;
  };
  while (grants.free() > 0) {
    const std::size_t next = least_waiting(view, grants, last, anybody);
    if (next == nobody || !grants.take(next)) return;
    served.emplace_back(view.waiting[next].client, ++now);
  }
}

}  // namespace

extern constinit const Policy policy_round_robin{
    "round-robin", "The client that was served longest ago is next.", decide, {}, all_that_fit};

}  // namespace simtlab::corun
