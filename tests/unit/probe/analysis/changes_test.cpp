// Change points and levels on curves whose truth is known.
#include "probe/analysis/changes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/rng.h"
#include "probe/analysis/levels.h"

namespace simtlab::probe {
namespace {

double gauss(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::numbers::pi * rng.unit());
}

TEST(Changes, OneStepIsFoundAtItsPlaceByBothMethods) {
  std::vector<double> values(20, 30.0);
  values.resize(50, 200.0);
  for (const ChangeMethod m : {ChangeMethod::rank, ChangeMethod::ks}) {
    const auto found = change_points(values, {.method = m});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at, 20u);
    EXPECT_LE(found[0].p, 0.01);
  }
}

TEST(Changes, AConstantSequenceHasNone) {
  const std::vector<double> values(100, 28.0);
  EXPECT_TRUE(change_points(values).empty());
  EXPECT_TRUE(change_points(std::vector<double>{1, 2, 3}).empty());
  EXPECT_TRUE(change_points(std::vector<double>{}).empty());
}

// What is promised of noise alone: a change in at most `significance` of the cases. 200 sequences, 5 %: more
// than 22 have a probability of 1 in 10^4.
TEST(Changes, OfPureNoiseNoMoreAreFoundThanPromised) {
  for (const ChangeMethod m : {ChangeMethod::rank, ChangeMethod::ks}) {
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Rng rng(seed);
      std::vector<double> values(60);
      // Heavy tails are no excuse
      for (double& v : values) v = seed % 2 == 0 ? gauss(rng) : std::exp(3 * gauss(rng));
      wrong += !change_points(values, {.method = m, .permutations = 199}).empty();
    }
    EXPECT_LE(wrong, 22);
  }
}

TEST(Changes, AStepOfTwoDeviationsIsFoundNearlyAlways) {
  for (const ChangeMethod m : {ChangeMethod::rank, ChangeMethod::ks}) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Rng rng(seed + 500);
      const std::size_t at = 15 + rng.below(30);
      std::vector<double> values(60);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = gauss(rng) + (i >= at ? 2 : 0);
      for (const Change& c : change_points(values, {.method = m, .permutations = 199}))
        if (c.at + 4 >= at && c.at <= at + 4) {
          ++found;
          break;
        }
    }
    EXPECT_GE(found, 90);
  }
}

TEST(Changes, RanksDoNotCareForTheScale) {
  Rng rng(9);
  std::vector<double> values(80), other;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = gauss(rng) + (i >= 33 ? 4 : 0);
  for (const double v : values) other.push_back(std::exp(v));
  EXPECT_EQ(change_points(values), change_points(other));
}

TEST(Changes, TheRankSumTestHasTheProbabilityOfChance) {
  EXPECT_GT(rank_sum_p(std::vector<double>{1, 2, 3, 4}, std::vector<double>{1, 2, 3, 4}), 0.9);
  // 3 and 3 apart: 2 of 20 arrangements.
  EXPECT_NEAR(rank_sum_p(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}), 0.1, 0.03);
}

struct Truth {
  Curve curve;
  std::vector<double> sizes, cycles;
};

// Two to four levels, sharp or with transitions of up to a quarter, noise up to 2 %, a size every 3 to 8 %.
Truth random_curve(std::uint64_t seed) {
  Rng rng(seed);
  Truth t;
  t.cycles.push_back(20 + 80 * rng.unit());
  double size = 16384.0 * std::exp2(4 * rng.unit());
  for (std::uint64_t i = 0, n = 1 + rng.below(3); i < n; ++i) {
    t.sizes.push_back(size);
    size *= std::exp2(3 + 4 * rng.unit());
    t.cycles.push_back(t.cycles.back() * (1.5 + 2 * rng.unit()));
  }
  const double step = 1.03 + 0.05 * rng.unit(), noise = 0.02 * rng.unit(), wide = 0.25 * rng.unit();
  for (double bytes = 2048; bytes < size; bytes *= step) {
    double cycles = t.cycles[0];
    for (std::size_t i = 0; i < t.sizes.size(); ++i)
      cycles += (t.cycles[i + 1] - t.cycles[i]) * std::clamp(wide > 0.05 ? (bytes / t.sizes[i] - 1) / wide
                                                             : bytes > t.sizes[i] ? 1.0
                                                                                  : 0.0,
                                                             0.0, 1.0);
    t.curve.push_back({std::round(bytes), cycles * std::exp(noise * gauss(rng)), 1});
  }
  return t;
}

TEST(Levels, OfRandomCurvesAllLevelsAreFoundAndNoneThatIsNotThere) {
  int exact = 0, intervals = 0, edges = 0;
  constexpr int curves = 150;
  for (std::uint64_t seed = 1; seed <= curves; ++seed) {
    const Truth t = random_curve(seed);
    const Levels found = find_levels(t.curve, {.replicates = 300});
    if (found.plateaus.size() != t.cycles.size()) continue;
    ++exact;
    for (std::size_t i = 0; i < t.cycles.size(); ++i)
      EXPECT_NEAR(found.plateaus[i].cycles / t.cycles[i], 1, 0.03) << seed;
    for (std::size_t i = 0; i < t.sizes.size(); ++i) {
      const Boundary& b = found.boundaries[i];
      EXPECT_TRUE(b.rises);
      EXPECT_LE(b.p, 0.05);
      // An edge of 25 % lies by half of that behind its beginning
      EXPECT_GT(b.bytes / t.sizes[i], 0.90) << seed;
      EXPECT_LT(b.bytes / t.sizes[i], 1.22) << seed;
      EXPECT_LE(b.before, b.bytes);
      EXPECT_GE(b.behind, b.bytes);
      ++edges;
      intervals += b.before <= t.sizes[i] * 1.25 && b.behind >= t.sizes[i];
    }
  }
  EXPECT_GE(exact, 0.95 * curves);
  EXPECT_GE(intervals, 0.95 * edges);
}

TEST(Levels, OfSharpEdgesTheIntervalHoldsTheTruth) {
  int held = 0, edges = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Rng rng(seed);
    const double size = 16384 * std::exp2(6 * rng.unit());
    Curve curve;
    for (double bytes = 2048; bytes < 64 * size; bytes *= 1.05)
      curve.push_back({bytes, (bytes > size ? 220 : 30) * std::exp(0.01 * gauss(rng)), 1});
    const Levels found = find_levels(curve, {.replicates = 300});
    if (found.boundaries.size() != 1) continue;
    ++edges;
    held += found.boundaries[0].interval.contains(size);
  }
  EXPECT_GE(edges, 145);
  EXPECT_GE(held, 0.90 * edges);
  EXPECT_LE(held, 0.995 * edges);
}

TEST(Levels, OfNoiseThereIsOne) {
  int several = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    Curve curve;
    const double noise = 0.1 * rng.unit();
    for (double bytes = 1024; bytes < 1e8; bytes *= 1.1)
      curve.push_back({bytes, 300 * std::exp(noise * gauss(rng)), 1});
    several += find_levels(curve, {.replicates = 50}).plateaus.size() > 1;
  }
  EXPECT_LE(several, 2);
}

TEST(Levels, ACurveThatNeverStaysLevelHasNone) {
  Curve curve;
  for (double bytes = 1024; bytes < 1e5; bytes *= 1.5) curve.push_back({bytes, bytes, 1});
  EXPECT_TRUE(find_levels(curve).plateaus.empty());
}

TEST(Levels, TheyAreTheSameInOtherUnitsAndTwice) {
  const Truth t = random_curve(77);
  Curve faster = t.curve;
  for (CurvePoint& p : faster) p.cycles *= 4;
  const Levels a = find_levels(t.curve), b = find_levels(faster), c = find_levels(t.curve);
  ASSERT_EQ(a.boundaries.size(), b.boundaries.size());
  for (std::size_t i = 0; i < a.boundaries.size(); ++i) {
    EXPECT_NEAR(a.boundaries[i].bytes, b.boundaries[i].bytes, 1e-6 * a.boundaries[i].bytes);
    EXPECT_EQ(a.boundaries[i].interval, c.boundaries[i].interval);
  }
}

TEST(Levels, AnOutlierOfLittleWeightMovesNothing) {
  Curve curve;
  for (int i = 0; i < 40; ++i) curve.push_back({1024.0 * (i + 1), i < 20 ? 30.0 : 200.0, 100});
  const Levels clean = find_levels(curve);
  curve[5].cycles = 900, curve[5].weight = 1;
  const Levels found = find_levels(curve);
  ASSERT_EQ(found.boundaries.size(), 1u);
  EXPECT_EQ(found.boundaries[0].bytes, clean.boundaries[0].bytes);
  EXPECT_EQ(found.plateaus[0].cycles, 30);
  EXPECT_EQ(boundary_at(found, 20 * 1024 + 10, 0.1), &found.boundaries[0]);
  EXPECT_EQ(boundary_at(found, 80 * 1024, 0.1), nullptr);
}

TEST(Levels, WeightsThatPutTheMedianBetweenTwoValuesStillGiveALevel) {
  Curve curve;
  for (int i = 0; i < 22; ++i) curve.push_back({1024.0 * (i + 1), 100, 1});
  curve[0] = {curve[0].bytes, 200, 10};  // without it half of the weight is exactly that of the next
  curve[7] = {curve[7].bytes, 50, 1e6 + 19};
  curve[13] = {curve[13].bytes, 200, 1e6};
  const Levels found = find_levels(curve);
  ASSERT_EQ(found.plateaus.size(), 1u);
  EXPECT_GE(found.plateaus[0].points, 1u);
}

}  // namespace
}  // namespace simtlab::probe
