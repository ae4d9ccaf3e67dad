// The one definition of a hit rate. A read either finds its sector (hit), joins a miss that is under way
// (pending) or misses; the three shares add up to 1. A pending read brings no new traffic, but it waits like
// a miss: every printer of a hit rate tells hits and pending reads apart.
#pragma once

#include <string>

#include "result/metrics.h"

namespace simtlab::result {

struct HitRate {
  double accesses = 0;                    // sectors read; 0: there is no rate
  double hit = 0, pending = 0, miss = 0;  // shares of the accesses
};

HitRate hit_rate(double hits, double pending, double accesses);
// Of the reads of "l1" or "l2" as these metrics have them.
HitRate hit_rate(const Metrics& metrics, const std::string& level);
// Sets LEVEL.read.hit_rate, LEVEL.read.pending_rate and LEVEL.read.miss_rate.
void set_hit_rate(Metrics& metrics, const std::string& level, const HitRate& rate);

}  // namespace simtlab::result
