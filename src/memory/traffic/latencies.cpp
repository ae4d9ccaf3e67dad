#include "memory/traffic/latencies.h"

#include <cmath>

namespace simtlab::memory::traffic {

std::uint64_t Latencies::edge(std::size_t bucket) {
  if (bucket < exact) return bucket;
  const std::size_t above = bucket - exact;
  const unsigned power = exact_bits + static_cast<unsigned>(above / parts);
  if (power >= 64) return ~std::uint64_t{0};
  return (std::uint64_t{1} << power) + (std::uint64_t{above % parts} << (power - part_bits));
}

std::uint64_t Latencies::percentile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = std::ceil(share * static_cast<double>(count_));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen > 0 && static_cast<double>(seen) >= wanted) return std::min(std::max(edge(i), least_), most_);
  }
  return most_;
}

void Latencies::merge(const Latencies& other) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
}

}  // namespace simtlab::memory::traffic
