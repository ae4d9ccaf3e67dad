// A distribution of latencies: exact up to 4095 clocks, to 1.6 % beyond.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simtlab::memory::traffic {

class Latencies {
 public:
  Latencies() : buckets_(exact + (64 - exact_bits) * parts) {}

  void add(std::uint64_t latency) {
    ++buckets_[bucket(latency)];
    ++count_;
    sum_ += latency;
    least_ = std::min(least_, latency);
    most_ = std::max(most_, latency);
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t least() const { return count_ == 0 ? 0 : least_; }
  std::uint64_t most() const { return most_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

  // The smallest latency that at least `share` (0 to 1) of all have; beyond 4095 the lower edge of its
  // bucket.
  std::uint64_t percentile(double share) const;

  // Both together.
  void merge(const Latencies& other);

  // Calls f(from, to, count) for every latency range [from, to] that occurred, in their order.
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < buckets_.size(); ++i)
      if (buckets_[i] != 0) f(edge(i), edge(i + 1) - 1, buckets_[i]);
  }

 private:
  static constexpr unsigned exact_bits = 12, part_bits = 6;
  static constexpr std::size_t exact = std::size_t{1} << exact_bits, parts = std::size_t{1} << part_bits;

  // Above the exact ones each power of two has `parts` buckets.
  static std::size_t bucket(std::uint64_t latency) {
    if (latency < exact) return static_cast<std::size_t>(latency);
    const auto power = static_cast<unsigned>(std::bit_width(latency)) - 1;
    const std::uint64_t part = (latency >> (power - part_bits)) & (parts - 1);
    return exact + (power - exact_bits) * parts + static_cast<std::size_t>(part);
  }
  static std::uint64_t edge(std::size_t bucket);

  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0, sum_ = 0, least_ = ~std::uint64_t{0}, most_ = 0;
};

}  // namespace simtlab::memory::traffic
