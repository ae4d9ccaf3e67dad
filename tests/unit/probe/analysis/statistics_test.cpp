// Histograms, bootstrap intervals, mixtures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "probe/analysis/bootstrap.h"
#include "probe/analysis/histogram.h"
#include "probe/analysis/mixture.h"

namespace simtlab::probe {
namespace {

double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::numbers::pi * rng.unit());
}

std::vector<double> cycles(Rng& rng, std::size_t n, double mean, double deviation) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::round(mean + deviation * normal(rng)));
  return out;
}

void mix(std::vector<double>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

TEST(Histogram, ItsStatisticsAreThoseOfTheSamples) {
  const std::vector<double> samples = {5, 1, 3, 3, 100};
  const Histogram h(samples);
  EXPECT_EQ(h.count(), 5u);
  EXPECT_EQ(h.bins(), (std::vector<Histogram::Bin>{{1, 1}, {3, 2}, {5, 1}, {100, 1}}));
  EXPECT_EQ(h.median(), 3);
  EXPECT_EQ(h.mode(), 3);
  EXPECT_EQ(h.mad(), 2);  // 0, 0, 2, 2, 97
  EXPECT_EQ(h.percentile(0), 1);
  EXPECT_EQ(h.percentile(1), 100);
  EXPECT_EQ(h.percentile(0.875), 52.5);
  EXPECT_DOUBLE_EQ(h.mean(), 22.4);
  EXPECT_EQ(Histogram(std::vector<double>{7, 7, 2, 2}).mode(), 2);
  EXPECT_EQ(Histogram(std::vector<double>{1, 2}).median(), 1.5);
}

TEST(Histogram, AddedInPiecesOrAtOnceInAnyOrderItIsTheSame) {
  Rng rng(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> samples = cycles(rng, 1 + rng.below(200), 500, 20);
    const Histogram once(samples);
    mix(samples, rng);
    Histogram pieces;
    for (const double s : samples) pieces.add(s);
    ASSERT_EQ(once, pieces);
    std::ranges::sort(samples);
    const std::size_t n = samples.size();
    EXPECT_EQ(once.median(), (samples[(n - 1) / 2] + samples[n / 2]) / 2);
    EXPECT_EQ(once.mad(), [&] {
      std::vector<double> away;
      for (const double s : samples) away.push_back(std::abs(s - once.median()));
      std::ranges::sort(away);
      return (away[(n - 1) / 2] + away[n / 2]) / 2;
    }());
  }
}

TEST(Histogram, OneSampleAWarpIsItsFirst) {
  std::vector<double> samples(70);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i);
  EXPECT_EQ(one_per_warp(samples, 32), (std::vector<double>{0, 32, 64}));
  EXPECT_EQ(one_per_warp(samples, 1), samples);
}

TEST(Histogram, AWeightedMedianIsThatOfRepeatedValues) {
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> values, weights, repeated;
    for (std::uint64_t i = 0, n = 1 + rng.below(20); i < n; ++i) {
      values.push_back(static_cast<double>(rng.below(10)));
      weights.push_back(static_cast<double>(1 + rng.below(4)));
      for (int k = 0; k < weights.back(); ++k) repeated.push_back(values.back());
    }
    EXPECT_EQ(weighted_median(values, weights), Histogram(repeated).median());
  }
}

TEST(Bootstrap, EqualSamplesAndSeedsGiveEqualIntervalsInAnyOrder) {
  Rng rng(1);
  std::vector<double> samples = cycles(rng, 100, 400, 10);
  const auto median = [](const Histogram& h) { return h.median(); };
  const Interval first = bootstrap(Histogram(samples), median);
  mix(samples, rng);
  EXPECT_EQ(bootstrap(Histogram(samples), median), first);
  EXPECT_LE(first.low, 400 + 3);
  EXPECT_GE(first.high, 400 - 3);
  const Interval wide =
      bootstrap(Histogram(samples), median, {.confidence = 0.999, .replicates = 1000, .seed = 1});
  EXPECT_LE(wide.low, first.low);
  EXPECT_GE(wide.high, first.high);
}

// 400 experiments: the true value is in 95 % of the intervals. Percentile intervals of 60 samples fall a
// little short; below 90 % something would be wrong (by chance once in 10^5), above 99 % the interval would
// say nothing.
TEST(Bootstrap, IntervalsCoverTheTruthAsOftenAsTheyPromise) {
  for (const bool skewed : {false, true}) {
    Rng rng(skewed ? 11 : 12);
    int means = 0, medians = 0;
    constexpr int experiments = 400;
    for (int e = 0; e < experiments; ++e) {
      Histogram h;
      for (int i = 0; i < 60; ++i) h.add(skewed ? -std::log(1 - rng.unit()) : normal(rng));
      const BootstrapOptions options{
          .confidence = 0.95, .replicates = 300, .seed = static_cast<std::uint64_t>(e)};
      means += bootstrap(
                   h, [](const Histogram& s) { return s.mean(); }, options)
                   .contains(skewed ? 1 : 0);
      medians += bootstrap(
                     h, [](const Histogram& s) { return s.median(); }, options)
                     .contains(skewed ? std::numbers::ln2 : 0);
    }
    EXPECT_GT(means, 0.90 * experiments);
    EXPECT_LT(means, 0.99 * experiments);
    EXPECT_GT(medians, 0.90 * experiments);
    EXPECT_LT(medians, 0.99 * experiments);
  }
}

TEST(Bootstrap, OfManySamplesTheIntervalIsThatOfAllAndNotOfTheDrawn) {
  Rng rng(5);
  Histogram h;
  for (int i = 0; i < 100000; ++i) h.add(std::round(1000 * normal(rng)));
  const Interval i = bootstrap(h, [](const Histogram& s) { return s.mean(); },
                               {.confidence = 0.95, .replicates = 200, .seed = 1});
  EXPECT_NEAR(i.high - i.low, 2 * 1.96 * 1000 / std::sqrt(100000), 2.5);
  EXPECT_TRUE(i.contains(h.mean()));
}

TEST(Mixture, LevelsOfHitsAndMissesAreTakenApart) {
  Rng rng(21);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> samples = cycles(rng, 300 + rng.below(500), 60, 4);
    const double near = static_cast<double>(samples.size());
    const double far_at = 200 + static_cast<double>(rng.below(300));
    for (const double s : cycles(rng, 200 + rng.below(500), far_at, 25)) samples.push_back(s);
    const Mixture m = split_levels(Histogram(samples), 2);
    ASSERT_EQ(m.levels.size(), 2u);
    EXPECT_NEAR(m.levels[0].centre, 60, 1);
    EXPECT_NEAR(m.levels[0].deviation, 4, 0.6);
    EXPECT_NEAR(m.levels[1].centre, far_at, 5);
    EXPECT_NEAR(m.levels[0].share, near / static_cast<double>(samples.size()), 0.01);
    EXPECT_LT(m.doubtful, 0.01);
    mix(samples, rng);
    EXPECT_EQ(split_levels(Histogram(samples), 2).levels[0].upper, m.levels[0].upper);
  }
}

TEST(Mixture, LevelsThatOverlapAreSaidToBeDoubtful) {
  Rng rng(22);
  std::vector<double> samples = cycles(rng, 1000, 100, 20);
  for (const double s : cycles(rng, 1000, 160, 20)) samples.push_back(s);
  const Mixture m = split_levels(Histogram(samples), 2);
  EXPECT_NEAR(m.levels[0].upper, 130, 8);
  // Of a normal distribution, 6.7 % lie more than 1.5 deviations on one side
  EXPECT_NEAR(m.doubtful, 0.067, 0.03);
}

TEST(Mixture, ThreeLevelsAndFewerValuesThanLevels) {
  Histogram h;
  h.add(30, 500), h.add(31, 20), h.add(200, 300), h.add(210, 30), h.add(700, 10), h.add(650, 10);
  const Mixture m = split_levels(h, 3);
  ASSERT_EQ(m.levels.size(), 3u);
  EXPECT_EQ(m.levels[0].upper, 31);
  EXPECT_EQ(m.levels[1].upper, 210);
  EXPECT_EQ(m.levels[2].upper, 700);
  Histogram one;
  one.add(17, 5);
  ASSERT_EQ(split_levels(one, 3).levels.size(), 1u);
  EXPECT_EQ(split_levels(one, 3).levels[0].centre, 17);
}

TEST(Mixture, CountersPlaceTheBoundaryWhereTheLevelsOverlap) {
  Rng rng(23);
  std::vector<double> samples = cycles(rng, 700, 300, 60);
  for (const double s : cycles(rng, 300, 420, 60)) samples.push_back(s);
  const Mixture m = split_levels(Histogram(samples), std::vector<double>{700, 300});
  ASSERT_EQ(m.levels.size(), 2u);
  EXPECT_NEAR(m.levels[0].share, 0.7, 0.01);
  EXPECT_LT(m.levels[0].upper, m.levels[1].centre);
  EXPECT_EQ(split_levels(Histogram(samples), std::vector<double>{0, 5}).levels.size(), 1u);
}

}  // namespace
}  // namespace simtlab::probe
