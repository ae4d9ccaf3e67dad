#include "result/hit_rate.h"

#include <algorithm>

namespace simtlab::result {

HitRate hit_rate(double hits, double pending, double accesses) {
  if (!(accesses > 0)) return {};
  return {accesses, hits / accesses, pending / accesses, std::max(accesses - hits - pending, 0.0) / accesses};
}

HitRate hit_rate(const Metrics& metrics, const std::string& level) {
  const std::string reads = level + ".read.";
  const double accesses = metrics.get(reads + "accesses").value_or(0);
  const double pending = metrics.get(reads + "hits_pending").value_or(0);
  const auto hits = metrics.get(reads + "hits");
  // Results of other tools may have the miss rate alone.
  const double misses = metrics.get(reads + "miss_rate").value_or(0) * accesses;
  return hit_rate(hits.value_or(std::max(accesses - misses - pending, 0.0)), pending, accesses);
}

void set_hit_rate(Metrics& metrics, const std::string& level, const HitRate& rate) {
  metrics.set(level + ".read.hit_rate", rate.hit);
  metrics.set(level + ".read.pending_rate", rate.pending);
  metrics.set(level + ".read.miss_rate", rate.miss);
}

}  // namespace simtlab::result
