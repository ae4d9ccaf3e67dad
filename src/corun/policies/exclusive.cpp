// exclusive: one client has the GPU at a time.
//
// The holder is whoever was granted last. It keeps the GPU while it has something that waits or runs and its
// turn is shorter than the quantum; then, once nothing of it runs, the client that was served longest ago
// takes over (its first launch decides among those that never were). A holder with nothing to do loses its
// turn.
#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

const Client* holder_of(const View& view) {
  const Client* holder = nullptr;
  for (const auto list : {view.running, view.waiting})
    for (const Launch& launch : list)
      if (launch.client->last_grant > 0 &&
          (holder == nullptr || launch.client->last_grant > holder->last_grant))
        holder = launch.client;
  // A client that left may have been the latest: then nobody is.
  return holder != nullptr && holder->last_grant == view.grants ? holder : nullptr;
}

void decide(const View& view, Grants& grants) {
  if (view.waiting.empty()) return;
  const Client* holder = view.running.empty() ? holder_of(view) : view.running.front().client;
  const auto of = [&](const Client* who) {
    return [who](const Launch& launch) { return launch.client == who; };
  };
  const auto sequence = [](const Launch& launch) { return launch.sequence; };
  const bool others =
      std::ranges::any_of(view.waiting, [&](const Launch& launch) { return launch.client != holder; });
  const bool in_turn =
      holder != nullptr && (!others || view.now - holder->turn_began < view.settings->quantum);
  if (in_turn && (!view.running.empty() || std::ranges::any_of(view.waiting, of(holder))))
    return grant_by(view, grants, sequence, of(holder));
  if (!view.running.empty()) return;
  const std::size_t next = least_waiting(
      view, grants, [](const Launch& launch) { return launch.client->last_grant; },
      [&](const Launch& launch) { return launch.client != holder || !others; });
  if (next != nobody) grant_by(view, grants, sequence, of(view.waiting[next].client));
}

}  // namespace

extern constinit const Policy policy_exclusive{"exclusive", "One client at a time, for a quantum, in turn.",
                                               decide, "--quantum"};

}  // namespace simtlab::corun
