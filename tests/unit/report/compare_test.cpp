#include "report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "report/compare_why.h"

namespace simtlab::report {
namespace {

using testing::HasSubstr;

result::Result compared_result(double time, double waits) {
  result::Result r;
  r.manifest.device = "v100";
  r.manifest.mode = "timing";
  r.manifest.configuration = {{"l2.latency", "200 cycles", "device", ""}};
  result::KernelResult k;
  k.name = k.demangled = "k";
  k.metrics.set("gpu.time", time);
  k.metrics.set("gpu.cycles", std::uint64_t{1000});
  k.metrics.set("stall.selected", 1 - waits);
  k.metrics.set("stall.long_scoreboard", waits);
  k.metrics.set("load.latency", time);
  r.kernels.push_back(k);
  r.total.set("gpu.time", time);
  r.total.set("host.wall_time", time * 7);
  return r;
}

TEST(Compare, PartsAddUpToTheDifferenceOfTheTimes) {
  const Comparison c = compare(compared_result(1000, 0.5), compared_result(1700, 0.8), {});
  EXPECT_EQ(c.metric, "gpu.time");
  EXPECT_DOUBLE_EQ(c.change(), 0.7);
  ASSERT_EQ(c.kernels.size(), 1u);
  const ComparedKernel& k = c.kernels.front();
  const double sum = std::accumulate(
      k.parts.begin(), k.parts.end(), 0.0,
      [](double s, const ComparedValue& v) { return s + v.after.value_or(0) - v.before.value_or(0); });
  EXPECT_DOUBLE_EQ(sum, 700);
  EXPECT_EQ(k.parts.front().name, "long_scoreboard");
  EXPECT_THAT(compare_text(c, {}), HasSubstr("long_scoreboard +860 ns (+123 % of the difference)"));
}

TEST(Compare, WhatTheHostTookIsNoDifference) {
  result::Result other = compared_result(1000, 0.5);
  other.total.set("host.wall_time", 1.0);
  const Comparison c = compare(compared_result(1000, 0.5), other, {});
  EXPECT_TRUE(c.total.empty());
  EXPECT_TRUE(c.configuration.empty());
  EXPECT_THAT(compare_text(c, {}), HasSubstr("every metric is the same"));
}

TEST(Compare, SettingsThatOneSideLacksAreNamed) {
  result::Result a = compared_result(1000, 0.5), b = a;
  b.manifest.configuration = {{"l2.latency", "300 cycles", "command line", ""},
                              {"l2.new", "1", "device", ""}};
  a.manifest.configuration.push_back({"l2.old", "2", "device", ""});
  const Comparison c = compare(a, b, {});
  ASSERT_EQ(c.configuration.size(), 3u);
  EXPECT_EQ(c.configuration[0].after, "300 cycles");
  EXPECT_EQ(c.configuration[1].before, "");
  EXPECT_EQ(c.configuration[2].after, "");
}

TEST(Compare, AMetricThatOneLacksIsAnError) {
  EXPECT_THROW(compare(compared_result(1, 0.5), compared_result(1, 0.5), "dram.time"), Error);
  result::Result nothing;
  EXPECT_THROW(compare(nothing, nothing, {}), Error);
}

TEST(Compare, ZeroBeforeIsNoDivision) {
  EXPECT_EQ(change_text(0, 5), "from 0");
  EXPECT_EQ(change_text(2, 1), "-50.0 %");
  EXPECT_EQ(change_text(1, 400), "400 times");
}

}  // namespace
}  // namespace simtlab::report
