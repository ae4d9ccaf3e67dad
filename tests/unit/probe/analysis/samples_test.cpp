// Samples of a user's own: the reader over everything that a file may have, and the distribution behind them
// against what it was made of.
#include "probe/analysis/samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "base/rng.h"

namespace simtlab::probe {
namespace {

std::string id_of(const std::string& text) {
  try {
    static_cast<void>(parse_samples(text, "times.txt"));
  } catch (const Error& e) { return e.id(); }
  return {};
}

TEST(Samples, NumbersInWhateverForm) {
  const std::vector<double> three{1, 2.5, 3000};
  for (const char* text : {"1\n2.5\n3e3\n", "1 2.5 3000",
                           "\xef\xbb\xbf"
                           "1,2.5;3000\r\n",
                           "cycles\n1\n2.5\n\n3000\n", "# warp 0\n1 2.5 # and\n# more\n3000"})
    EXPECT_EQ(parse_samples(text, "f"), three) << text;
  EXPECT_EQ(parse_samples("0\n9007199254740992", "f"), (std::vector<double>{0, 0x1p53}));
}

TEST(Samples, WhatIsNoSampleIsSaid) {
  for (const char* text : {"", "\n\n", "# nothing\n", "cycles\n", " , ; \n"})
    EXPECT_EQ(id_of(text), "samples-count") << text;
  for (const char* text : {"1\ncycles\n", "cycles clocks\n1 2\n", "1\n2x\n", "cycles\ncycles\n1", "1 0x10"})
    EXPECT_EQ(id_of(text), "samples-syntax") << text;
  for (const char* text : {"-1", "5\n-0.5", "nan", "inf", "1e400", "1e300", "9007199254740994"})
    EXPECT_EQ(id_of(text), "samples-value") << text;
  EXPECT_EQ(id_of(std::string("1\n\0", 3)), "text-encoding");
  try {
    static_cast<void>(parse_samples("12\n14 -3\n", "times.txt"));
    FAIL();
  } catch (const Error& e) { EXPECT_NE(e.format().find("times.txt:2:4"), std::string::npos) << e.format(); }
}

TEST(Samples, ThirtyTwoOfAWarpAreOne) {
  std::vector<double> times, clock;
  for (int warp = 0; warp < 3; ++warp)
    for (int lane = 0; lane < 32; ++lane) times.push_back(lane == 0 ? 100 + warp : 1e6), clock.push_back(20);
  const Processed p = process(times, clock, 32, Correction::difference);
  EXPECT_EQ(p.measured.count(), 3u);
  EXPECT_DOUBLE_EQ(p.latency.mean(), 81);
  EXPECT_EQ(process(times, clock, 1, Correction::difference).measured.count(), 96u);
}

// Latencies and costs that are drawn: the mean comes back, the variance with that of the cost twice by
// difference and without it by deconvolution; parts as they were drawn.
TEST(Samples, WhatWasDrawnComesBack) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Rng rng(seed);
    std::vector<double> times, clock;
    for (int i = 0; i < 20000; ++i) {
      const double u = rng.unit();
      const double latency = u < 0.5 ? 50 : u < 0.8 ? 300 : 800;
      times.push_back(latency + std::floor(4 * rng.unit()) + 20);
      clock.push_back(20 + std::floor(4 * rng.unit()));
    }
    const Processed difference = process(times, clock, 1, Correction::difference);
    const std::vector<double> boundaries{150, 500};
    const std::vector<Piece> parts = split_at(difference.latency, boundaries);
    ASSERT_EQ(parts.size(), 3u);
    const double share[] = {0.5, 0.3, 0.2}, latency[] = {50, 300, 800};
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(parts[i].share, share[i], 0.02);
      EXPECT_NEAR(parts[i].mean, latency[i], 0.1);
      EXPECT_NEAR(parts[i].deviation, std::sqrt(2.5), 0.05);  // two uniform costs of 4 values
      EXPECT_EQ(parts[i].mode, static_cast<std::int64_t>(latency[i]));
    }
    const std::vector<Piece> sharp =
        split_at(process(times, clock, 1, Correction::deconvolve).latency, boundaries);
    ASSERT_EQ(sharp.size(), 3u);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(sharp[i].mean, latency[i], 0.5);
      EXPECT_LT(sharp[i].deviation, 1.2);
    }
    // By counters that say the same shares
    const std::vector<double> counts{5000 * share[0], 5000 * share[1], 5000 * share[2]};
    const std::vector<double> found = boundaries_by(difference.latency, counts);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_NEAR(split_at(difference.latency, found)[0].share, 0.5, 0.02);
    EXPECT_NEAR(split_at(difference.latency, found)[1].share, 0.3, 0.03);
  }
}

TEST(Samples, PartsAtTheirEdges) {
  const Distribution d({{10, 0.25}, {20, 0.5}, {30, 0.25}});
  EXPECT_EQ(split_at(d, std::vector<double>{20}).size(), 2u);
  EXPECT_DOUBLE_EQ(split_at(d, std::vector<double>{20})[0].share, 0.75);  // the boundary is the part's below
  EXPECT_EQ(split_at(d, std::vector<double>{5, 40}).size(), 1u);          // nothing on two of three
  EXPECT_DOUBLE_EQ(split_at(d, {})[0].share, 1);
  EXPECT_FALSE(between(d, 11, 19));
  // As wide on both sides: 20 and up to 25 takes 15 to 25
  const auto piece = around_mode(d, 25);
  ASSERT_TRUE(piece);
  EXPECT_DOUBLE_EQ(piece->mean, 20);
  EXPECT_DOUBLE_EQ(piece->share, 0.5);
  EXPECT_DOUBLE_EQ(around_mode(d, 30)->share, 1);
  EXPECT_FALSE(around_mode(d, 20));  // the mode is the bound
  EXPECT_FALSE(around_mode(d, 5));
  // Counters that give a level nothing
  EXPECT_EQ(boundaries_by(d, std::vector<double>{0, 1}), std::vector<double>{9});
  EXPECT_EQ(boundaries_by(d, std::vector<double>{1, 0}), std::vector<double>{30});
  EXPECT_EQ(boundaries_by(d, std::vector<double>{3, 1}), std::vector<double>{20});
}

TEST(Samples, MoreValuesThanCanBeGoneThroughAreRefused) {
  std::vector<double> wide;
  for (int i = 0; i < 5000; ++i) wide.push_back(i);
  EXPECT_THROW(static_cast<void>(process(wide, wide, 1, Correction::difference)), Error);
  EXPECT_NO_THROW(static_cast<void>(process(wide, std::vector<double>{20}, 1, Correction::difference)));
}

}  // namespace
}  // namespace simtlab::probe
