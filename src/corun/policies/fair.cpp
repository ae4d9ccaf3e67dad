// fair: the client that is slowed down most is next.
//
// Slowdown is what a user feels: (waiting, the present one included, + time on the GPU) / time alone, over
// all launches so far. A client of which nothing has ended yet goes first. For kernels whose time alone is
// unknown the time on the GPU stands in, so that only waiting counts.
#include <limits>

#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

void decide(const View& view, Grants& grants) {
  const auto least_slowdown = [&](const Launch& launch) {
    const Client& c = *launch.client;
    if (c.solo_time <= 0) return -std::numeric_limits<double>::infinity();
    return -static_cast<double>(c.waited + (view.now - launch.ready) + c.gpu_time) / c.solo_time;
  };
  grant_by(view, grants, least_slowdown, anybody);
}

}  // namespace

extern constinit const Policy policy_fair{
    "fair",
    "The client that is slowed down most is next.",
    decide,
    {},
    all_that_fit,
    knows_time,
    "counts with its time on the GPU in place of its time alone: only waiting makes it slow"};

}  // namespace simtlab::corun
