// shortest-first: the kernel that takes the least time alone. An unknown one counts as the median of the
// known active ones. Starves long kernels while short ones keep coming.
#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

void decide(const View& view, Grants& grants) {
  OrMedian time(view, time_of);
  grant_by(
      view, grants, [&](const Launch& launch) { return time(launch); }, anybody);
}

}  // namespace

extern constinit const Policy policy_shortest_first{
    "shortest-first", "The kernel that takes the least time alone.", decide, {}, all_that_fit, knows_time,
    median_or_arrival};

}  // namespace simtlab::corun
