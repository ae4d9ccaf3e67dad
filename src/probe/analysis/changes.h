// Where a sequence of measurements changes its level, with the probability that chance alone looks like it.
// No assumption about how the measurements are distributed: ranks, or whole distributions
// (Kolmogorov-Smirnov).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace simtlab::probe {

enum class ChangeMethod : std::uint8_t { rank, ks };

struct ChangeOptions {
  ChangeMethod method = ChangeMethod::rank;
  double significance = 0.05;      // a change that chance makes more often than this is none
  std::size_t least = 3;           // values between two changes
  std::uint32_t permutations = 0;  // 0: 999 by rank, 199 by ks
  double tie = 0;                  // values that differ by less than this share are equal
  std::uint64_t seed = 1;
};

struct Change {
  std::size_t at = 0;  // the first value behind it
  double p = 1;        // permutation p-value of the split in the part that it splits
  bool operator==(const Change&) const = default;
};

// Binary segmentation: the best split of a part is kept if it is significant, then both sides are searched by
// themselves. In rising order. Values are finite.
std::vector<Change> change_points(std::span<const double> values, const ChangeOptions& options = {});

// Are `a` and `b` of one distribution? Permutation p-value of the difference of their mean ranks.
double rank_sum_p(std::span<const double> a, std::span<const double> b, std::uint32_t permutations = 999,
                  std::uint64_t seed = 1);

// Class of each value, from 0 up in the order of values; equal: within `tie` of the smallest of the class.
std::vector<std::uint32_t> classes_of(std::span<const double> values, double tie);

}  // namespace simtlab::probe
