// bandwidth-budget: in the order of arrival, as long as the sum of what the kernels demand alone stays under
// the caps of L2 and DRAM.
//
// What does not fit under a cap is passed by, until it has been overtaken Settings::aging times: then nobody
// passes it any more, and when the GPU is empty it goes whatever it demands. Unknown kernels count as the
// median of the known active ones.
#include "corun/policies/choice.h"

namespace simtlab::corun {
namespace {

void decide(const View& view, Grants& grants) {
  OrMedian l2(view, l2_of);
  OrMedian dram(view, dram_of);
  double l2_sum = 0, dram_sum = 0;
  for (const Launch& launch : view.running) l2_sum += l2(launch), dram_sum += dram(launch);
  bool empty = view.running.empty();
  for (std::size_t i = 0; i < view.waiting.size() && grants.free() > 0; ++i) {
    const Launch& launch = view.waiting[i];
    const double l2_after = l2_sum + l2(launch), dram_after = dram_sum + dram(launch);
    const bool under = l2_after <= view.settings->l2_cap && dram_after <= view.settings->dram_cap;
    if (!under && !empty) {
      if (view.overtaken(launch) >= view.settings->aging) return;
      continue;
    }
    if (!grants.take(i)) return;
    l2_sum = l2_after;
    dram_sum = dram_after;
    empty = false;
  }
}

}  // namespace

extern constinit const Policy policy_bandwidth_budget{
    "bandwidth-budget",
    "In the order of arrival, while the sums of L2 and DRAM bandwidth stay under caps.",
    decide,
    "--aging --l2-cap --dram-cap",
    nullptr,
    knows_l2 | knows_dram,
    median_or_arrival};

}  // namespace simtlab::corun
