// least-served: the client that has had the least time on the GPU so far is next (least attained service).
// Who launches long kernels does not get more of the GPU than who launches short ones.
#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

void decide(const View& view, Grants& grants) {
  grant_by(
      view, grants, [](const Launch& launch) { return launch.client->gpu_time; }, anybody);
}

}  // namespace

extern constinit const Policy policy_least_served{
    "least-served", "The client that has had the least time on the GPU is next.", decide};

}  // namespace simtlab::corun
