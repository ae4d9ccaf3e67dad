#include "probe/analysis/changes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"

namespace simtlab::probe {
namespace {

// Bounds of the work of one Kolmogorov-Smirnov scan, which is classes times splits: D-PROBE-5.
constexpr std::size_t most_classes = 64, most_splits = 128;

struct Split {
  std::size_t at = 0;
  double statistic = 0;
};

std::vector<double> mid_ranks(const std::vector<std::uint32_t>& classes) {
  std::vector<double> first(classes.empty() ? 0 : *std::ranges::max_element(classes) + 1),
      count(first.size());
  for (const std::uint32_t c : classes) ++count[c];
  double below = 0;
  for (std::size_t c = 0; c < first.size(); ++c) first[c] = below + (count[c] + 1) / 2, below += count[c];
  std::vector<double> ranks;
  for (const std::uint32_t c : classes) ranks.push_back(first[c]);
  return ranks;
}

void shuffle(auto& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

// The split with the largest standardised difference of mean ranks.
class RankScan {
 public:
  RankScan(const std::vector<std::uint32_t>& classes, std::size_t least)
      : items_(mid_ranks(classes)), least_(least) {
    mean_ = static_cast<double>(items_.size() + 1) / 2;
    for (const double rank : items_) spread_ += (rank - mean_) * (rank - mean_);
    spread_ /= static_cast<double>(items_.size() - 1);
  }

  bool constant() const { return spread_ == 0; }
  void shuffle_items(Rng& rng) { shuffle(items_, rng); }

  Split best() const {
    const auto n = static_cast<double>(items_.size());
    Split best;
    double sum = 0;
    for (std::size_t k = 1; k + least_ <= items_.size(); ++k) {
      sum += items_[k - 1] - mean_;
      if (k < least_) continue;
      const double left = static_cast<double>(k), squared = sum * sum * n / (spread_ * left * (n - left));
      if (squared > best.statistic) best = {k, squared};
    }
    return best;
  }

 private:
  std::vector<double> items_;
  std::size_t least_;
  double mean_ = 0, spread_ = 0;
};

// The split with the largest sqrt(k (n-k) / n) times the distance of the two distribution functions.
class KsScan {
 public:
  KsScan(const std::vector<std::uint32_t>& classes, std::size_t least) : items_(classes), least_(least) {
    classes_ = *std::ranges::max_element(items_) + 1;
    if (classes_ > most_classes) coarsen();
    total_.resize(classes_);
    for (const std::uint32_t c : items_) ++total_[c];
    stride_ = (items_.size() + most_splits - 1) / most_splits;
  }

  bool constant() const { return classes_ == 1; }
  void shuffle_items(Rng& rng) { shuffle(items_, rng); }

  Split best() const {
    std::vector<double> left(classes_);
    Split best;
    for (std::size_t k = 1; k + least_ <= items_.size(); ++k) {
      ++left[items_[k - 1]];
      if (k < least_ || k % stride_ != 0) continue;
      const double statistic = distance(left, static_cast<double>(k));
      if (statistic > best.statistic) best = {k, statistic};
    }
    return best;
  }

 private:
  double distance(const std::vector<double>& left, double k) const {
    const double n = static_cast<double>(items_.size()), rest = n - k;
    double below = 0, all = 0, most = 0;
    for (std::size_t c = 0; c < classes_; ++c) {
      below += left[c], all += total_[c];
      most = std::max(most, std::abs(below / k - (all - below) / rest));
    }
    return most * std::sqrt(k * rest / n);
  }

  // Neighbouring classes become one, each of about as many values.
  void coarsen() {
    const std::vector<double> ranks = mid_ranks(items_);
    for (std::size_t i = 0; i < items_.size(); ++i)
      items_[i] = static_cast<std::uint32_t>((ranks[i] - 1) * static_cast<double>(most_classes) /
                                             static_cast<double>(items_.size()));
    std::vector<double> values(items_.begin(), items_.end());
    items_ = classes_of(values, 0);
    classes_ = *std::ranges::max_element(items_) + 1;
  }

  std::vector<std::uint32_t> items_;
  std::size_t least_, classes_ = 0, stride_ = 1;
  std::vector<double> total_;
};

// How often a shuffled sequence has as good a split. Stops as soon as the answer is "too often".
template <class Scan>
Change tested(Scan scan, const ChangeOptions& options, std::uint32_t permutations, std::uint64_t seed) {
  if (scan.constant()) return {};
  const Split here = scan.best();
  Rng rng(seed);
  std::uint32_t as_good = 0;
  const double rounding = 1 - 1e-9;  // equal statistics must not differ by the order of a sum
  for (std::uint32_t i = 0; i < permutations; ++i) {
    scan.shuffle_items(rng);
    as_good += scan.best().statistic >= here.statistic * rounding ? 1U : 0U;
    if (static_cast<double>(as_good + 1) > options.significance * (permutations + 1)) return {};
  }
  return {here.at, static_cast<double>(as_good + 1) / (permutations + 1)};
}

void search(std::span<const double> values, std::size_t first, const ChangeOptions& options,
            std::vector<Change>& out) {
  // An explicit list: the depth of a recursion could be the number of values.
  struct Part {
    std::size_t first, size;
  };
  std::vector<Part> parts{{first, values.size()}};
  const bool by_rank = options.method == ChangeMethod::rank;
  const std::uint32_t permutations = options.permutations != 0 ? options.permutations : by_rank ? 999 : 199;
  while (!parts.empty()) {
    const Part part = parts.back();
    parts.pop_back();
    if (part.size < 2 * options.least) continue;
    const std::vector<std::uint32_t> classes = classes_of(values.subspan(part.first, part.size), options.tie);
    std::uint64_t seed = options.seed ^ (part.first << 32) ^ part.size;
    seed = splitmix64(seed);
    Change found = by_rank ? tested(RankScan(classes, options.least), options, permutations, seed)
                           : tested(KsScan(classes, options.least), options, permutations, seed);
    if (found.at == 0) continue;
    parts.push_back({part.first, found.at});
    parts.push_back({part.first + found.at, part.size - found.at});
    found.at += part.first;
    out.push_back(found);
  }
}

}  // namespace

std::vector<std::uint32_t> classes_of(std::span<const double> values, double tie) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<std::uint32_t> out(values.size());
  std::uint32_t current = 0;
  for (std::size_t i = 0, first = 0; i < order.size(); ++i) {
    const double smallest = values[order[first]];
    if (values[order[i]] - smallest > tie * std::abs(smallest)) first = i, ++current;
    out[order[i]] = current;
  }
  return out;
}

std::vector<Change> change_points(std::span<const double> values, const ChangeOptions& options) {
  SIMTLAB_ASSERT(options.least > 0, "a part has values");
  std::vector<Change> out;
  search(values, 0, options, out);
  std::ranges::sort(out, {}, &Change::at);
  return out;
}

double rank_sum_p(std::span<const double> a, std::span<const double> b, std::uint32_t permutations,
                  std::uint64_t seed) {
  SIMTLAB_ASSERT(!a.empty() && !b.empty(), "both samples have values");
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::vector<double> ranks = mid_ranks(classes_of(all, 0));
  const double expected = static_cast<double>(a.size()) * static_cast<double>(all.size() + 1) / 2;
  const auto away = [&] {
    return std::abs(
        std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(a.size()), 0.0) -
        expected);
  };
  const double here = away();
  Rng rng(seed);
  std::uint32_t as_far = 0;
  for (std::uint32_t i = 0; i < permutations; ++i) {
    shuffle(ranks, rng);
    as_far += away() >= here ? 1U : 0U;
  }
  return static_cast<double>(as_far + 1) / (permutations + 1);
}

}  // namespace simtlab::probe
