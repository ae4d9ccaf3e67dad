// The clock's cost taken out: exact cases (data/measured/timer-cases.csv) and samples of them.
#include "probe/analysis/timer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/rng.h"

namespace simtlab::probe {
namespace {

using Masses = std::vector<Distribution::Mass>;

// case -> distribution -> masses
std::map<std::string, std::map<std::string, Distribution>> exact_cases() {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/data/measured/timer-cases.csv");
  std::map<std::string, std::map<std::string, Masses>> read;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#") || line.starts_with("case,")) continue;
    std::istringstream cells(line);
    std::string cell[5];
    for (std::string& c : cell) std::getline(cells, c, ',');
    read[cell[0]][cell[1]].emplace_back(std::stoll(cell[2]), std::stod(cell[3]) / std::stod(cell[4]));
  }
  std::map<std::string, std::map<std::string, Distribution>> out;
  for (auto& [name, distributions] : read)
    for (auto& [which, masses] : distributions) out[name].emplace(which, Distribution(masses));
  return out;
}

Distribution sampled(const Distribution& d, int n, Rng& rng) {
  Masses masses;
  for (int i = 0; i < n; ++i) {
    double u = rng.unit();
    std::size_t k = 0;
    while (k + 1 < d.masses().size() && u >= d.masses()[k].second) u -= d.masses()[k++].second;
    masses.emplace_back(d.masses()[k].first, 1.0);
  }
  return Distribution(std::move(masses));
}

TEST(Timer, TheMeasuredDistributionIsTheSumOfBoth) {
  const auto cases = exact_cases();
  ASSERT_EQ(cases.size(), 4u);
  for (const auto& [name, c] : cases)
    EXPECT_LT(sum_of(c.at("latency"), c.at("overhead")).distance(c.at("measured")), 1e-12) << name;
}

TEST(Timer, ThePublishedDifferenceIsReproducedWithItsVariance) {
  for (const auto& [name, c] : exact_cases()) {
    const Distribution d = corrected(Correction::difference, c.at("measured"), c.at("overhead"));
    ASSERT_EQ(d.masses().size(), c.at("difference").masses().size()) << name;
    for (const auto& [cycles, mass] : c.at("difference").masses())
      EXPECT_NEAR(d.at(cycles), mass, 1e-14) << name << ' ' << cycles;
    EXPECT_NEAR(d.mean(), c.at("latency").mean(), 1e-9);
    EXPECT_NEAR(d.variance(), c.at("measured").variance() + c.at("overhead").variance(), 1e-8);
  }
}

TEST(Timer, DeconvolutionRecoversTheTruthFromExactDistributions) {
  for (const auto& [name, c] : exact_cases()) {
    const Deconvolved d = deconvolve(c.at("measured"), c.at("overhead"));
    EXPECT_LT(d.latency.distance(c.at("latency")), 1e-9) << name;
    EXPECT_LT(d.residual, 1e-9) << name;
  }
}

// Fifty steps come as near as the samples allow: L1 errors of 0.090, 0.019 and 0.0045 were found for these
// numbers of samples.
TEST(Timer, DeconvolutionOfSamplesIsAsGoodAsTheSamples) {
  const auto c = exact_cases().at("three-levels-overlap");
  const std::pair<int, double> sizes[] = {{100, 0.090}, {3200, 0.019}, {100000, 0.0045}};
  for (const auto& [n, expected] : sizes) {
    double sum = 0;
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
      Rng rng(static_cast<std::uint64_t>(1000 * n + round));
      const Distribution measured = sampled(c.at("measured"), n, rng),
                         overhead = sampled(c.at("overhead"), n, rng);
      sum +=
          deconvolve(measured, overhead, {.most_steps = 50, .enough = 0}).latency.distance(c.at("latency"));
    }
    EXPECT_LT(sum / rounds, 3 * expected) << n;
    EXPECT_GT(sum / rounds, expected / 3) << n;
  }
}

TEST(Timer, DeconvolutionStopsAtTheErrorOfTheSamples) {
  const auto c = exact_cases().at("two-levels");
  Rng rng(4);
  const Distribution measured = sampled(c.at("measured"), 1000, rng),
                     overhead = sampled(c.at("overhead"), 1000, rng);
  const Deconvolved d = deconvolve(
      measured, overhead,
      {.most_steps = 2000, .enough = sampling_error(measured, 1000) + sampling_error(overhead, 1000)});
  EXPECT_LT(d.steps, 2000u);
  EXPECT_LT(d.latency.distance(c.at("latency")), 0.15);
}

TEST(Timer, TheSlopeOverChainsIsTheMeanLatencyWhateverTheClockCosts) {
  for (const auto& [name, c] : exact_cases()) {
    const Distribution two = sum_of(c.at("latency"), c.at("latency")), four = sum_of(two, two);
    const Slope s = slope_of(std::vector<Chain>{{1, c.at("measured").mean()},
                                                {2, sum_of(two, c.at("overhead")).mean()},
                                                {4, sum_of(four, c.at("overhead")).mean()}});
    EXPECT_NEAR(s.latency, c.at("latency").mean(), 1e-9) << name;
    EXPECT_NEAR(s.overhead, c.at("overhead").mean(), 1e-9) << name;
    EXPECT_LT(s.residual, 1e-9);
  }
}

TEST(Timer, AChainThatDoesNotFitTheLineIsSeenInTheResidual) {
  const Slope s = slope_of(std::vector<Chain>{{1, 30}, {2, 50}, {4, 110}});
  EXPECT_GT(s.residual, 4);
  EXPECT_LT(s.r2, 1);
}

TEST(Timer, WithAConstantCostAllMethodsAgree) {
  const auto c = exact_cases().at("constant-overhead");
  for (const Correction m : {Correction::difference, Correction::deconvolve, Correction::subtract})
    EXPECT_LT(corrected(m, c.at("measured"), c.at("overhead")).distance(c.at("latency")), 1e-9) << name_of(m);
}

TEST(Timer, WithoutCorrectionTheCostStays) {
  for (const auto& [name, c] : exact_cases())
    EXPECT_NEAR(corrected(Correction::none, c.at("measured"), c.at("overhead")).mean(),
                c.at("latency").mean() + c.at("overhead").mean(), 1e-9)
        << name;
}

TEST(Timer, DistributionsOfRandomCasesComeBack) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    const auto random = [&](std::int64_t from, std::uint64_t spread) {
      Masses m;
      for (std::uint64_t i = 0, n = 1 + rng.below(4); i < n; ++i)
        m.emplace_back(from + static_cast<std::int64_t>(rng.below(spread)), 0.05 + rng.unit());
      return Distribution(std::move(m));
    };
    const Distribution latency = random(20, 300), overhead = random(5, 12);
    const Deconvolved d =
        deconvolve(sum_of(latency, overhead), overhead, {.most_steps = 5000, .enough = 1e-12});
    EXPECT_LT(d.residual, 0.02) << seed;
    EXPECT_NEAR(d.latency.mean(), latency.mean(), 0.3) << seed;
  }
}

TEST(Timer, NamesAreThoseOfTheDocumentation) {
  for (const char* name : {"slope", "difference", "deconvolve", "subtract", "none"})
    EXPECT_EQ(name_of(correction_of(name).value()), name);
  EXPECT_FALSE(correction_of("mean"));
}

TEST(Timer, MeasurementsThatCannotContainTheCostGiveAnAnswerAndItsResidual) {
  const Deconvolved d =
      deconvolve(Distribution(Masses{{20, 1.0}}), Distribution(Masses{{5, 0.5}, {500, 0.5}}));
  EXPECT_GT(d.residual, 0.5);
  EXPECT_THROW(deconvolve(Distribution(Masses{{0, 1.0}, {1 << 30, 1.0}}), Distribution(Masses{{5, 1.0}})),
               Error);
}

}  // namespace
}  // namespace simtlab::probe
