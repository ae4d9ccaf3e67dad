#include "result/metrics.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "result/table.h"
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

// Words of which a text has at least one: what the metrics of a group are about. A text without them leans on
// the row above it.
const std::map<std::string_view, std::vector<std::string_view>>& subjects() {
  static const std::map<std::string_view, std::vector<std::string_view>> words = {
      {"gpu", {"kernel", "SM", "GPU", "program", "launch", "slice", "executed"}},
      {"sampling", {"Blocks"}},
      {"instructions", {"Warp instructions"}},
      {"branch", {"Branch"}},
      {"barrier", {"Barrier"}},
      {"cluster", {"cluster"}},
      {"sol", {"pipeline", "memory system", "issue slots"}},
      {"pipe", {"pipeline"}},
      {"occupancy", {"SM"}},
      {"global", {"global"}},
      {"local", {"local memory"}},
      {"atomic", {"tomic"}},
      {"shared", {"hared memory"}},
      {"constant", {"onstant cache"}},
      {"register", {"registers"}},
      {"instruction", {"nstruction cache"}},
      {"texture", {"texture"}},
      {"l1", {"L1"}},
      {"interconnect", {"network"}},
      {"l2", {"L2"}},
      {"dram", {"DRAM", "emory"}},
      {"scheduler", {"cheduler"}},
      {"stall", {"scheduler"}},
      {"program", {"device", "launches"}},
      {"copy", {"copies", "copied", "fills"}},
      {"code", {"machine code", "code that ran"}},
      {"memory", {"device memory"}},
      {"validate",
       {"validation", "Published", "published", "simulator", "simtlab", "simulated", "latency curve"}},
      {"probe", {"probe", "curve", "device files", "confidence intervals", "cache", "samples"}},
      {"core", {"core"}},
      {"load", {"load", "Load"}},
      {"peak", {"device", "main memory"}},
      {"host", {"host", "processor time"}},
      {"timeline", {"sm_timeline"}},
      {"access", {"cache study", "access"}},
      {"predict", {"kernel", "counts", "nest", "gain"}},
      {"counts", {"executed"}},
      {"corun",
       {"pplication", "mix", "launch", "Launch", "live co-runs", "fast host",
        "fast and the cycle-level host"}},
      {"board", {"real board"}},
  };
  return words;
}

TEST(Registry, EveryTextStandsAlone) {
  const std::regex leaning(
      "^(Of|As|And|In it|It|Its|They|Their|Them|These|Those|This|That|Part of it|Until then|From "
      "then|What) ");
  for (const MetricDeclaration& m : registry()) {
    const std::string text(m.doc);
    EXPECT_FALSE(std::regex_search(text, leaning)) << m.name << ": " << text;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(text.front())) ||
                std::isdigit(static_cast<unsigned char>(text.front())) || text.starts_with("probe."))
        << m.name << ": " << text;
    for (const char* phrase : {"the same", "The same", " as ever", "of them,", "Of them", "from then"})
      EXPECT_EQ(text.find(phrase), std::string::npos) << m.name << ": " << text;
    const auto found = subjects().find(m.name.substr(0, m.name.find('.')));
    ASSERT_NE(found, subjects().end()) << m.name << " is of a group without words";
    bool named = false;
    for (const std::string_view word : found->second) named = named || text.find(word) != std::string::npos;
    EXPECT_TRUE(named) << m.name << " does not say what it is about: " << text;
  }
}

// The page of a result and its schema show a column beside its table's name, but not beside the column before
// it.
TEST(Registry, ColumnsOfTablesStandAlone) {
  const std::regex leaning(
      "^(Of|As|And|In "
      "it|It|Its|They|Their|Them|These|Those|This|That|Where|What|When|Whose|Between|From|Since) "
      "|^(Upper|Lower) end$|[Tt]he same");
  for (const TableDeclaration& table : table_registry())
    for (const ColumnDeclaration& c : table.columns)
      EXPECT_FALSE(std::regex_search(std::string(c.doc), leaning))
          << table.name << ": " << c.name << ": " << c.doc;
}

TEST(Registry, NoTwoMetricsHaveOneText) {
  std::map<std::string_view, std::string_view> texts;
  for (const MetricDeclaration& m : registry()) {
    const auto [at, fresh] = texts.emplace(m.doc, m.name);
    EXPECT_TRUE(fresh) << m.name << " and " << at->second;
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
