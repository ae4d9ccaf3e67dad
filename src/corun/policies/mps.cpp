// mps: in the order of arrival, as the hardware's queues take what several processes send through NVIDIA's
// MPS.
#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

void decide(const View& view, Grants& grants) {
  for (std::size_t i = 0; i < view.waiting.size() && grants.free() > 0; ++i)
    if (!grants.take(i)) return;
}

}  // namespace

extern constinit const Policy policy_mps{
    "mps", "In the order of arrival, as the hardware's queue does.", decide, {}, all_that_fit};

}  // namespace simtlab::corun
