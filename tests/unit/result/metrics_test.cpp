#include "result/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "result/totals.h"

namespace simtlab::result {
namespace {

TEST(Registry, NamesAreUniqueAndEveryRowIsComplete) {
  std::set<std::string_view> names;
  for (const MetricDeclaration& m : registry()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name << " is declared twice";
    EXPECT_FALSE(m.unit.empty()) << m.name;
    EXPECT_NE(m.unit, "%") << m.name;
    EXPECT_TRUE(m.doc.ends_with(".")) << m.name;
    EXPECT_TRUE(m.scope == "kernel" || m.scope == "total" || m.scope == "host") << m.name;
    EXPECT_EQ(m.combine == Combine::weighted, !m.weight.empty()) << m.name;
  }
}

TEST(Registry, DeclaresTheNamesThatScriptsRelyOn) {
  for (const char* name : {"gpu.cycles",
                           "gpu.time",
                           "gpu.instructions.warp",
                           "gpu.instructions.thread",
                           "gpu.ipc",
                           "occupancy.theoretical",
                           "occupancy.achieved",
                           "l1.read.accesses",
                           "l1.read.misses",
                           "l1.read.miss_rate",
                           "l2.read.accesses",
                           "l2.read.misses",
                           "l2.read.miss_rate",
                           "dram.read.bytes",
                           "dram.write.bytes",
                           "dram.utilisation",
                           "stall.long_scoreboard",
                           "host.wall_time",
                           "host.rate.warp_instructions",
                           "host.peak_memory"})
    EXPECT_NE(find_metric(name), nullptr) << name;
  EXPECT_EQ(find_metric("gpu.time")->unit, "ns");
  EXPECT_EQ(find_metric("host.wall_time")->unit, "s");
}

TEST(Registry, EveryWeightIsADeclaredSum) {
  for (const MetricDeclaration& m : registry()) {
    if (m.weight.empty()) continue;
    ASSERT_NE(find_metric(m.weight), nullptr) << m.name;
    EXPECT_EQ(find_metric(m.weight)->combine, Combine::sum) << m.name;
  }
}

TEST(Registry, AFamilyDeclaresItsMembersButNotItsPrefix) {
  EXPECT_EQ(find_metric("stall.barrier")->name, "stall.*");
  EXPECT_EQ(find_metric("stall."), nullptr);
  EXPECT_EQ(find_metric("stall"), nullptr);
  EXPECT_EQ(find_metric("gpu.cycle"), nullptr);
}

TEST(Metrics, AnUndeclaredNameIsABrokenInvariant) {
  Metrics m;
  EXPECT_THROW(m.set("gpu.cycels", std::uint64_t{1}), std::logic_error);
  EXPECT_TRUE(m.values().empty());
}

TEST(Metrics, AValueThatIsNotFiniteIsABrokenInvariant) {
  Metrics m;
  EXPECT_THROW(m.set("gpu.ipc", std::nan("")), std::logic_error);
  EXPECT_THROW(m.set("gpu.ipc", std::numeric_limits<double>::infinity()), std::logic_error);
}

TEST(Metrics, KeepsTheOrderOfFirstSettingAndTheLastValue) {
  Metrics m;
  m.set("gpu.time", 2.0);
  m.set("gpu.cycles", std::uint64_t{7});
  m.set("gpu.time", 3.5);
  ASSERT_EQ(m.values().size(), 2u);
  EXPECT_EQ(m.values()[0].name, "gpu.time");
  EXPECT_EQ(m.get("gpu.time"), 3.5);
  EXPECT_TRUE(m.values()[1].is_integer);
  EXPECT_EQ(m.get("gpu.ipc"), std::nullopt);
}

KernelResult kernel(const char* name, std::uint64_t cycles, std::uint64_t instructions) {
  KernelResult k;
  k.name = name;
  k.metrics.set("gpu.cycles", cycles);
  k.metrics.set("gpu.time", static_cast<double>(cycles));
  k.metrics.set("gpu.instructions.thread", instructions);
  k.metrics.set("gpu.ipc", static_cast<double>(instructions) / static_cast<double>(cycles));
  return k;
}

TEST(Totals, ARatioOverLaunchesEqualsTheRatioOfTheSums) {
  const std::vector<KernelResult> kernels = {kernel("a", 100, 1000), kernel("b", 300, 300)};
  const Metrics total = combine(kernels);
  EXPECT_EQ(total.get("gpu.cycles"), 400);
  EXPECT_TRUE(total.values()[0].is_integer);
  EXPECT_DOUBLE_EQ(*total.get("gpu.ipc"), 1300.0 / 400.0);
}

TEST(Totals, WhatOneLaunchDoesNotModelIsAbsentFromTheTotal) {
  std::vector<KernelResult> kernels = {kernel("a", 100, 1000), kernel("b", 300, 300)};
  kernels[0].metrics.set("dram.read.bytes", std::uint64_t{4});
  EXPECT_EQ(combine(kernels).get("dram.read.bytes"), std::nullopt);
}

TEST(Totals, ARatioWithoutDenominatorInOneLaunchUsesTheOthers) {
  std::vector<KernelResult> kernels = {kernel("a", 100, 1000), kernel("b", 300, 300)};
  kernels[0].metrics.set("l1.read.accesses", std::uint64_t{0});
  kernels[1].metrics.set("l1.read.accesses", std::uint64_t{8});
  kernels[1].metrics.set("l1.read.miss_rate", 0.25);
  EXPECT_EQ(combine(kernels).get("l1.read.miss_rate"), 0.25);
}

TEST(Totals, ASumThatOverflowsBecomesAReal) {
  std::vector<KernelResult> kernels = {kernel("a", 1, 1), kernel("b", 1, 1)};
  for (KernelResult& k : kernels) k.metrics.set("gpu.cycles", ~std::uint64_t{0});
  EXPECT_DOUBLE_EQ(*combine(kernels).get("gpu.cycles"), 2 * 0x1p64);
}

TEST(Totals, MergingByNameCountsLaunchesAndKeepsTheLongestShape) {
  std::vector<KernelResult> kernels = {kernel("a", 100, 10), kernel("b", 5, 5), kernel("a", 200, 10)};
  kernels[2].grid[0] = 77;
  kernels[0].not_modelled = {"D-1", "D-2"};
  kernels[2].not_modelled = {"D-2", "D-3"};
  const std::vector<KernelResult> merged = merge_by_name(kernels);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].name, "a");
  EXPECT_EQ(merged[0].launches, 2u);
  EXPECT_EQ(merged[0].grid[0], 77u);
  EXPECT_EQ(merged[0].metrics.get("gpu.cycles"), 300);
  EXPECT_EQ(merged[0].not_modelled, (std::vector<std::string>{"D-1", "D-2", "D-3"}));
}

}  // namespace
}  // namespace simtlab::result
