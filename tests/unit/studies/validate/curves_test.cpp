#include "studies/validate/curves.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "device/catalogue.h"
#include "studies/validate/kernels.h"

namespace simtlab::studies::validate {
namespace {

device::Device small_device() {
  device::Device d;
  d.l1.bytes = 128 << 10;
  d.l2.bytes = 6 << 20;
  return d;
}

// A machine that is `l1` up to `first`, `l2` up to `second`, else `dram`.
Comparison compared(double first, double second, double scale = 1) {
  Curve curve{"board", "", {}};
  const auto value = [](double bytes, double a, double b) {
    return bytes <= a ? 30.0 : bytes <= b ? 200.0 : 430.0;
  };
  for (double bytes = 2048; bytes < 1e9; bytes *= 1.04)
    curve.points.push_back({bytes, value(bytes, 128 << 10, 6 << 20)});
  Comparison c;
  c.device = "d";
  c.name = "chase";
  compare(c, small_device(), curve, false,
          [&](std::uint64_t bytes) { return scale * value(static_cast<double>(bytes), first, second); });
  return c;
}

TEST(Curves, EqualMachinesHaveNoErrorAndMissNoTarget) {
  const Comparison c = compared(128 << 10, 6 << 20);
  ASSERT_EQ(c.plateaus.size(), 4u);
  for (const Plateau& p : c.plateaus) EXPECT_EQ(p.worst_error, 0);
  ASSERT_EQ(c.knees.size(), 2u);
  EXPECT_NEAR(c.knees[0].measured, 128 << 10, 0.03 * (128 << 10));
  EXPECT_NEAR(c.knees[1].measured, 6 << 20, 0.06 * (6 << 20));
  for (const Knee& k : c.knees) EXPECT_EQ(k.error(), 0);
  EXPECT_TRUE(missed(c).empty());
}

TEST(Curves, AScaledMachineHasThatErrorOnEveryLevelAndItsKneesStay) {
  const Comparison c = compared(128 << 10, 6 << 20, 1.07);
  for (const Plateau& p : c.plateaus) {
    EXPECT_NEAR(p.median_error, 0.07, 0.01) << name_of(p.level);
    EXPECT_NEAR(p.worst_error, 0.07, 0.01);
  }
  for (const Knee& k : c.knees) EXPECT_NEAR(k.error(), 0, 0.01);
  EXPECT_EQ(missed(c).size(), 4u);
}

TEST(Curves, AnotherCapacityMovesItsKneeOnly) {
  const Comparison c = compared(128 << 10, 5 << 20);
  ASSERT_EQ(c.knees.size(), 2u);
  EXPECT_NEAR(c.knees[0].error(), 0, 1e-9);
  EXPECT_NEAR(c.knees[1].error(), -1.0 / 6, 0.08);
  EXPECT_FALSE(missed(c).empty());
}

TEST(Curves, QuickTakesFewerSizesAndEveryLevel) {
  Curve curve{"board", "", {}};
  for (double bytes = 2048; bytes < 1e9; bytes *= 1.04) curve.points.push_back({bytes, 100});
  Comparison all, quick;
  compare(all, small_device(), curve, false, [](std::uint64_t) { return 100.0; });
  compare(quick, small_device(), curve, true, [](std::uint64_t) { return 100.0; });
  EXPECT_LT(quick.points.size(), all.points.size() / 4);
  EXPECT_EQ(quick.plateaus.size(), 4u);
}

TEST(Curves, MedianOfEvenAndOddNumbers) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

result::KernelResult launch(const char* name, double cycles) {
  result::KernelResult k;
  k.name = name;
  k.demangled = std::string(name) + "(int)";
  k.metrics.set("gpu.cycles", cycles);
  k.metrics.set("gpu.instructions.warp", 2 * cycles);
  return k;
}

TEST(Kernels, CountWithTheMeanOfTheirLaunches) {
  const Table t("k.csv",
                "device,app,kernel,quantity,value\nd,a,f,cycles,100\nd,a,f,ipc,4\nd,a,absent,cycles,5\nd,b,f,"
                "cycles,7\n");
  result::Result run;
  run.kernels = {launch("f", 90), launch("g", 1000), launch("f", 130)};
  const std::vector<KernelRow> rows = compare_kernels(t, "d", "a", run);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows[0].simulated, 110);
  EXPECT_NEAR(rows[0].error(), 0.1, 1e-12);
  EXPECT_NEAR(rows[1].error(), -0.5, 1e-12);
}

// One long and one short launch: a profiler's ratio is that of the sums, not the mean of both ratios.
TEST(Kernels, RatiosAreThoseOfSumsAndBandwidthsAreBytesOverTime) {
  const Table t("k.csv",
                "device,app,kernel,quantity,value\nd,a,f,ipc,1\nd,a,f,l2_gbs,1\nd,a,f,dram_gbs,1\nd,a,f,time_"
                "us,1\nd,a,f,instructions,1\n");
  result::Result run;
  run.kernels = {launch("f", 100), launch("f", 900)};
  const double instructions[] = {100, 100}, time[] = {1000, 3000}, l2[] = {5000, 1000}, read[] = {300, 100},
               written[] = {0, 400};
  for (std::size_t i = 0; i < 2; ++i) {
    result::Metrics& m = run.kernels[i].metrics;
    m.set("gpu.instructions.machine", instructions[i]);
    m.set("gpu.time", time[i]);
    m.set("l2.bytes", l2[i]);
    m.set("dram.read.bytes", read[i]);
    m.set("dram.write.bytes", written[i]);
  }
  const std::vector<KernelRow> rows = compare_kernels(t, "d", "a", run);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_DOUBLE_EQ(rows[0].simulated, 0.2);
  EXPECT_DOUBLE_EQ(rows[1].simulated, 1.5);
  EXPECT_DOUBLE_EQ(rows[2].simulated, 0.2);
  EXPECT_DOUBLE_EQ(rows[3].simulated, 2);
  EXPECT_DOUBLE_EQ(rows[4].simulated, 100);
}

TEST(Kernels, LaunchesBeforeTheFirstThatCountsAreLeftOut) {
  const Table t("k.csv", "device,app,kernel,quantity,value,first\nd,a,f,cycles,100,2\nd,a,g,cycles,100,2\n");
  result::Result run;
  run.kernels = {launch("f", 1), launch("g", 5), launch("f", 90), launch("f", 130)};
  const std::vector<KernelRow> rows = compare_kernels(t, "d", "a", run);
  ASSERT_EQ(rows.size(), 1u);  // g ran once, and that launch does not count
  EXPECT_DOUBLE_EQ(rows[0].simulated, 110);
}

TEST(Kernels, AQuantityThatNoProfilerHasIsAnError) {
  const Table t("k.csv", "device,app,kernel,quantity,value\nd,a,f,furlongs,100\n");
  result::Result run;
  run.kernels = {launch("f", 1)};
  EXPECT_THROW(compare_kernels(t, "d", "a", run), Error);
}

TEST(Kernels, HalvesAreByNameAndBothAreReported) {
  std::size_t held = 0;
  for (int i = 0; i < 1000; ++i) held += held_out("app", "kernel" + std::to_string(i)) ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(held), 500, 80);
  std::vector<KernelRow> rows(2);
  for (KernelRow& r : rows) {
    r.device = "d";
    r.quantity = "cycles";
    r.measured = 10;
  }
  rows[0].simulated = 12;
  rows[1].simulated = 5;
  rows[1].held_out = true;
  const std::vector<KernelSummary> s = summarise(rows);
  ASSERT_EQ(s.size(), 1u);
  EXPECT_NEAR(s[0].mean, 0.35, 1e-12);
  EXPECT_NEAR(s[0].mean_tuned, 0.2, 1e-12);
  EXPECT_NEAR(s[0].mean_held_out, 0.5, 1e-12);
}

}  // namespace
}  // namespace simtlab::studies::validate
