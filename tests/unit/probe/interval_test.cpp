// Corrections of the clock's cost other than the slope: single intervals, and what is made of them.
#include "probe/interval.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "device/catalogue.h"
#include "gpu/board/board.h"
#include "probe/kinds.h"

namespace simtlab::probe {
namespace {

constexpr Correction all_but_slope[] = {Correction::difference, Correction::deconvolve, Correction::subtract,
                                        Correction::none};

Singles of(std::initializer_list<Histogram::Bin> timed, std::initializer_list<Histogram::Bin> empty) {
  Singles s;
  for (const Histogram::Bin& b : timed) s.timed.add(b.value, b.count);
  for (const Histogram::Bin& b : empty) s.empty.add(b.value, b.count);
  return s;
}

TEST(Corrected, WithoutNoiseEveryMethodButNoneGivesTheTruth) {
  const Singles s = of({{48, 32}}, {{28, 32}});
  for (const Correction c : all_but_slope) {
    const Estimate e = corrected_estimate(c, s);
    EXPECT_DOUBLE_EQ(e.value, c == Correction::none ? 48 : 20) << name_of(c);
    EXPECT_EQ(e.interval, (Interval{e.value, e.value})) << name_of(c);
    EXPECT_EQ(e.samples, 32u);
  }
}

TEST(Corrected, IntervalsOfSeveralOperationsAndWhatBelongsToOthersAreTakenApart) {
  Singles s = of({{48, 8}}, {{28, 8}});
  s.operations = 2, s.less = 3;
  EXPECT_DOUBLE_EQ(corrected_estimate(Correction::subtract, s).value, 7);
  EXPECT_DOUBLE_EQ(corrected_estimate(Correction::none, s).value, 21);
}

// T = L + C, both of chance. Subtract takes the median of a lopsided cost and is off by what that is beside
// its mean; the others are not.
TEST(Corrected, IntervalsHoldTheTruthOfNoisySamples) {
  Rng rng(7);
  unsigned held[4] = {}, trials = 60;
  for (unsigned t = 0; t < trials; ++t) {
    Singles s;
    const auto cost = [&rng] { return 20.0 + (rng.unit() < 0.2 ? 10 : 0); };
    // L: 102 in the mean, C: 22, its median 20
    for (int i = 0; i < 400; ++i)
      s.empty.add(cost()), s.timed.add(100.0 + static_cast<double>(rng.below(5)) + cost());
    for (unsigned c = 0; c < 4; ++c)
      held[c] += corrected_estimate(all_but_slope[c], s).interval.contains(102) ? 1 : 0;
  }
  EXPECT_GE(held[0], trials * 9 / 10);
  EXPECT_GE(held[1], trials * 9 / 10);
  EXPECT_LE(held[2], trials / 10);
  EXPECT_EQ(held[3], 0u);
}

Findings measured(const device::Device& device, Correction correction,
                  const std::vector<std::string>& kinds) {
  Findings found;
  const auto board = gpu::simulated_board(device);
  ProbeOptions options;
  options.quick = true, options.correction = correction;
  Bench bench(*board, options, found);
  const Outcome outcome = run_probes(bench, kinds);
  for (const std::string& failed : outcome.failed) ADD_FAILURE() << failed;
  return found;
}

// Every latency of a device file that one operation shows. `none` is off by the clock's cost, and by nothing
// else; the clock's cost does not depend on the latency.
TEST(Corrected, LatenciesOfASimulatedDeviceAreItsOwn) {
  const device::Device device =
      device::load_device("k40", {{"shared.latency", "37 cycles", {}}, {"latency.atomic", "301 cycles", {}}})
          .device;
  const std::pair<const char*, double> truths[] = {{"shared.latency", 37},
                                                   {"l1.latency", device.l1.latency},
                                                   {"l2.latency", device.l2.latency},
                                                   {"constant.latency", device.constant.latency},
                                                   {"texture.latency", device.l1.latency},
                                                   {"latency.atomic", 301},
                                                   {"sm.barrier_latency", device.sm.barrier_latency}};
  unsigned compared = 0;
  for (const Correction c : all_but_slope) {
    const bool all = c == Correction::none;  // where the others see the truth already, the cheap ones do
    const Findings found =
        measured(device, c,
                 all ? std::vector<std::string>{"shared", "constant", "texture", "atomic", "control"}
                     : std::vector<std::string>{"shared", "cache"});
    for (const auto& [key, truth] : truths) {
      if (!all && found.find(key) == nullptr) continue;
      ++compared;
      const Finding* f = found.find(key);
      const auto cost = found.value(fmt::format("cost.{}", key)),
                 slope = found.value(fmt::format("slope.{}", key));
      ASSERT_TRUE(f != nullptr && f->known() && cost && slope) << key;
      EXPECT_NEAR(f->value, truth + (c == Correction::none ? *cost : 0), 1e-9) << name_of(c) << " " << key;
      EXPECT_NEAR(*slope, truth, 0.01 * truth) << key;
      EXPECT_GT(*cost, 1) << key;
      EXPECT_EQ(f->correction, name_of(c)) << key;
      EXPECT_EQ(found.find(fmt::format("slope.{}", key))->correction, "slope");
    }
  }
  EXPECT_EQ(compared, 7u + 3 * 3);
}

TEST(Corrected, BySlopeThereIsOneValueAKey) {
  const Findings found = measured(device::load_device("k40").device, Correction::slope, {"shared"});
  EXPECT_EQ(found.find("shared.latency")->correction, "slope");
  EXPECT_EQ(found.find("slope.shared.latency"), nullptr);
  EXPECT_EQ(found.find("cost.shared.latency"), nullptr);
  EXPECT_EQ(found.by_slope("shared.latency"), found.value("shared.latency"));
}

// Probes that size themselves by a latency take its slope: what they find does not depend on the correction.
TEST(Corrected, OtherFindingsDoNotDependOnIt) {
  const device::Device device = device::load_device("rtx2060").device;
  const Findings slope = measured(device, Correction::slope, {"misses", "shared"}),
                 none = measured(device, Correction::none, {"misses", "shared"});
  for (const Finding& f : slope.all()) {
    if (none.find("slope." + f.key) != nullptr) continue;
    const Finding* other = none.find(f.key);
    ASSERT_NE(other, nullptr) << f.key;
    EXPECT_EQ(other->value, f.value) << f.key;
    EXPECT_EQ(other->word, f.word) << f.key;
  }
}

TEST(Corrected, ProbesThatTimeSingleOperationsAreKnown) {
  const std::vector<std::string> none = {"device", "launch", "copy", "occupancy"}, some = {"launch", "tlb"},
                                 all;
  EXPECT_FALSE(single_operations(none));
  EXPECT_TRUE(single_operations(some));  // tlb needs memory
  EXPECT_TRUE(single_operations(all));
}

}  // namespace
}  // namespace simtlab::probe
