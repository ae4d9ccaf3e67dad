// shark: the kernel with the most L2 traffic together with the M that have the least (the thesis's SHARK).
//
// Active launches are those that wait or run, at most one a client. Allowed are the heaviest of them by the
// L2 bandwidth that they have alone, and the M lightest of the rest. What the thesis leaves open is defined
// so:
//   - M is limit - 1 unless Settings::light says otherwise; with limit 1 only the heaviest is allowed.
//   - Ties: who came first is the heavier among candidates for the heaviest and the lighter among candidates
//   for the lightest. (By client
//     number, as a stable order would, one of several equal applications would wait for all others to end.)
//   - An unknown kernel counts as the (lower) median of the known active ones, as 0 if none is known.
//   - With no more active launches than M + 1 all are allowed and only their order differs from mps: the
//   heaviest, then from the lightest up.
//   - What runs stays when it is no longer among the allowed: nothing is taken from the GPU.
//   - A client with several streams competes with the one of its waiting launches that came first, and only
//   while none of its own runs.
//   - It starves the middle of the order: see shark-aging.
#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

using L2 = OrMedian<std::optional<double> (*)(const Launch&)>;

// Two orders, both with who came first in front.
struct Rank {
  double l2 = 0;
  Sequence sequence = 0;
  bool heavier(const Rank& than) const { return l2 != than.l2 ? l2 > than.l2 : sequence < than.sequence; }
  bool lighter(const Rank& than) const { return l2 != than.l2 ? l2 < than.l2 : sequence < than.sequence; }
};

// Of a client that competes; with several streams only the one that came first does.
bool competes(const View& view, const Grants& grants, std::size_t i) {
  const Client* client = view.waiting[i].client;
  if (grants.taken(i) || client->running > 0) return false;
  for (const std::uint32_t chosen : grants.chosen())
    if (view.waiting[chosen].client == client) return false;
  if (client->waiting > 1)
    for (std::size_t before = 0; before < i; ++before)
      if (view.waiting[before].client == client) return false;
  return true;
}

// The heaviest of all that are active; nobody: it runs, as `rank` says.
std::size_t heaviest(const View& view, const Grants& grants, L2& l2, Rank& rank) {
  bool any = false;
  std::size_t found = nobody;
  const auto look = [&](const Launch& launch, std::size_t place) {
    const Rank r{l2(launch), launch.sequence};
    if (any && !r.heavier(rank)) return;
    any = true;
    rank = r;
    found = place;
  };
  for (const Launch& launch : view.running) look(launch, nobody);
  // By aging: as good as running
  for (const std::uint32_t i : grants.chosen()) look(view.waiting[i], nobody);
  // Most are not heavier, and that is sooner known than whether they compete.
  for (std::size_t i = 0; i < view.waiting.size(); ++i)
    if ((!any || Rank{l2(view.waiting[i]), view.waiting[i].sequence}.heavier(rank)) &&
        competes(view, grants, i))
      look(view.waiting[i], i);
  return found;
}

std::size_t lightest_waiting(const View& view, const Grants& grants, L2& l2, Rank& rank) {
  std::size_t found = nobody;
  for (std::size_t i = 0; i < view.waiting.size(); ++i) {
    const Rank r{l2(view.waiting[i]), view.waiting[i].sequence};
    if ((found != nobody && !r.lighter(rank)) || !competes(view, grants, i)) continue;
    found = i;
    rank = r;
  }
  return found;
}

}  // namespace

void grant_shark(const View& view, Grants& grants) {
  if (grants.free() == 0) return;
  L2 l2(view, l2_of);
  Rank first;
  const std::size_t heavy = heaviest(view, grants, l2, first);
  if (heavy != nobody && !grants.take(heavy)) return;
  const std::size_t light = view.settings->light.value_or(view.settings->limit - 1);
  // The lightest that waits is among the M lightest if fewer than M lighter ones run: all that is lighter and
  // waits has been granted by then.
  while (grants.free() > 0) {
    Rank next;
    const std::size_t place = lightest_waiting(view, grants, l2, next);
    if (place == nobody) return;
    std::size_t lighter = 0;
    const auto count = [&](const Launch& launch) {
      const Rank r{l2(launch), launch.sequence};
      lighter += r.sequence != first.sequence && r.lighter(next) ? 1 : 0;
    };
    for (const Launch& launch : view.running) count(launch);
    for (const std::uint32_t i : grants.chosen()) count(view.waiting[i]);
    if (lighter >= light || !grants.take(place)) return;
  }
}

namespace {

void decide(const View& view, Grants& grants) { grant_shark(view, grants); }

}  // namespace

extern constinit const Policy policy_shark{"shark",
                                           "The kernel with the most L2 traffic beside the M with the least.",
                                           decide,
                                           "--light",
                                           heaviest_and_lightest,
                                           knows_l2,
                                           median_or_arrival};

}  // namespace simtlab::corun
