#include "report/hits.h"

#include <fmt/format.h>

#include "report/format.h"

namespace simtlab::report {

std::string format_hits(const result::HitRate& rate) {
  if (rate.accesses == 0) return "no reads";
  const std::string hits = format_share(rate.hit) + " hits";
  return rate.pending > 0 ? fmt::format("{} + {} pending", hits, format_share(rate.pending)) : hits;
}

std::string format_hits(const result::Metrics& metrics, const std::string& level) {
  return format_hits(result::hit_rate(metrics, level));
}

}  // namespace simtlab::report
