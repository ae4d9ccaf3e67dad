// The published method on simulated boards: what it says is what one interval holds, and slopes beside it are
// the truth.
#include "probe/thesis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/catalogue.h"
#include "probe/thesis_copies.h"

namespace simtlab::probe {
namespace {

TEST(Thesis, OneIntervalIsAboveTheLatencyAndSlopesAreTheLatency) {
  // A quarter of it, which takes a quarter of the time.
  const auto board = gpu::simulated_board(
      device::load_device("k40", {{"sm.count", "4", {}}, {"l2.bytes", "384 KiB", {}}}).device, {});
  Findings found;
  Bench bench(*board, {.quick = true}, found);
  const std::vector<ThesisShape> asked{{2, 64}};
  const Outcome outcome = run_thesis(bench, {}, asked);
  EXPECT_TRUE(outcome.failed.empty() && !outcome.interrupted && !outcome.lost);
  const auto value = [&](const std::string& key) { return found.value(key).value_or(-1); };
  for (const ThesisOperation& op : thesis_operations) {
    const double latency = op.name == "div" ? 418 : 9;  // data/devices/k40.toml
    // The longest chains of divisions are longer than the first instruction cache.
    EXPECT_NEAR(value(fmt::format("slope.{}", op.name)), latency, op.name == "div" ? 0.5 : 1e-9) << op.name;
    EXPECT_GT(value(fmt::format("thesis.{}.1", op.name)), 1.01 * latency) << op.name;
    for (unsigned n = 2; n <= thesis_most; ++n) {
      const double more =
          value(fmt::format("thesis.{}.{}", op.name, n)) - value(fmt::format("thesis.{}.{}", op.name, n - 1));
      // A division ends before the next is called; of the others only the last is waited for
      const bool right =
          op.name == "div" ? std::abs(more - latency) < 0.05 * latency : more > 0 && more < latency;
      EXPECT_TRUE(right) << op.name << n << " " << more;
    }
  }
  // Two readings: the first one's latency, and the copy that waits for it
  EXPECT_GT(value("thesis.clock"), 9);
  EXPECT_DOUBLE_EQ(value("l1.latency"), 32);
  EXPECT_DOUBLE_EQ(value("l2.latency"), 188);
  EXPECT_GT(value("thesis.l1"), 1.05 * 32);
  EXPECT_GT(value("thesis.l1.loaded"), value("thesis.l1"));
  EXPECT_GT(value("thesis.l2"), 1.05 * 188);
  EXPECT_LT(value("thesis.l2"), value("thesis.lines.l2"));
  // 384 KiB hold the lines of 3072 threads at most, and what they store; one word they hold always.
  EXPECT_GT(value("thesis.lines.l2.threads"), 1500);
  EXPECT_LE(value("thesis.lines.l2.threads"), 3072);
  EXPECT_GT(value("thesis.l2.threads"), 3072);
  EXPECT_GT(value("thesis.lines.l2.boundary"), value("thesis.lines.l2"));
  // Histograms of the thesis' launches and of the one asked for add up to 1 and have the mean that is told.
  unsigned histograms = 0;
  for (const Series& s : found.curves()) {
    if (!s.name.starts_with("histogram.")) continue;
    ++histograms;
    double share = 0, mean = 0;
    for (const Series::Point& p : s.points) share += p.y, mean += p.x * p.y;
    EXPECT_NEAR(share, 1, 1e-9) << s.name;
    if (s.name.ends_with(".clock")) { EXPECT_GE(mean, 9) << s.name; }
  }
  // Of 8 kernels, of 4 global shapes twice, of one local and one subtraction: measured, clock, latency
  EXPECT_EQ(histograms, 3 * (8 + 1 + 8 + 1));
  // Counts of a launch less those of the clock alone, which has no loads: three of local memory a warp,
  // twice, each of a line of four sectors
  const double lines = 2 * 3.0 * 4 * 15 * 1024 / 32;
  EXPECT_EQ(value("counter.local.load.sectors.local.15x1024"), lines);
  EXPECT_EQ(value("counter.l1.read.hits.local.15x1024") + value("counter.l1.read.misses.local.15x1024"),
            lines / 4);
  EXPECT_EQ(found.find("counter.local.load.sectors.global.20x1024"), nullptr);
  EXPECT_GT(value("counter.l2.read.misses.lines.20x1024"), value("counter.l2.read.misses.global.20x1024"));
  for (const char* part : {"measured", "clock", "estimate"}) {
    const auto curve = std::ranges::find(
        found.curves(), fmt::format("counter.l1.read.misses.local.15x1024.{}", part), &Series::name);
    ASSERT_NE(curve, found.curves().end()) << part;
    double share = 0;
    for (const Series::Point& p : curve->points) share += p.y;
    EXPECT_NEAR(share, 1, 1e-9) << part;
  }
  EXPECT_EQ(found.find("thesis.counters"), nullptr);
  EXPECT_GT(value("thesis.memory.slope"), 0);
  // What the line has at no threads is no latency; on all of the K40 it is negative, as published
  // (tests/e2e/test_probe.py).
  EXPECT_GT(std::abs(value("thesis.memory.intercept") - 331), 0.1 * 331);
  EXPECT_GT(value("thesis.memory.r2"), 0.3);
  EXPECT_LT(value("thesis.memory.r2"), 1);
  EXPECT_NEAR(value("dram.latency"), 331, 4);
  // A copy within the device takes what it reads and writes, and what it costs to start one
  const double rate = device::load_device("k40").device.dram.bandwidth_measured;
  EXPECT_GT(value("thesis.copy"), 0.9 * rate);
  EXPECT_LE(value("thesis.copy"), rate);
  for (const auto& [name, points] :
       {std::pair{"thesis.copy", 7u}, {"thesis.copy.samples", 14u}, {"thesis.copy.runs", 2u}}) {
    const auto curve = std::ranges::find(found.curves(), name, &Series::name);
    ASSERT_NE(curve, found.curves().end()) << name;
    EXPECT_EQ(curve->points.size(), points) << name;  // two runs of each size: the board has no noise
  }
  const auto by_size = std::ranges::find(found.curves(), "thesis.copy", &Series::name);
  EXPECT_TRUE(std::ranges::is_sorted(by_size->points, {}, &Series::Point::y));
}

TEST(Thesis, TooLittleMemoryForTheCopyIsUnknown) {
  const auto board =
      gpu::simulated_board(device::load_device("k40", {{"dram.bytes", "64 MiB", {}}}).device, {});
  Findings found;
  Bench bench(*board, {.quick = true}, found);
  thesis_copies(bench);
  ASSERT_NE(found.find("thesis.copy"), nullptr);
  EXPECT_FALSE(found.find("thesis.copy")->known());
  EXPECT_TRUE(found.curves().empty());
}

// What fits L2 never reaches memory: there is nothing to put a line through.
TEST(Thesis, ALineThroughNothingIsUnknown) {
  device::Device large =
      device::load_device("k40", {{"l2.bytes", "12 MiB", {}}, {"sm.count", "2", {}}}).device;
  const auto board = gpu::simulated_board(large, {});
  Findings found;
  Bench bench(*board, {.quick = true}, found);
  const Outcome outcome = run_thesis(bench);
  ASSERT_TRUE(outcome.failed.empty()) << outcome.failed.front();
  ASSERT_NE(found.find("thesis.memory.slope"), nullptr);
  EXPECT_FALSE(found.find("thesis.memory.slope")->known());
  EXPECT_EQ(found.find("thesis.memory.intercept"), nullptr);
}

TEST(Thesis, AnInterruptKeepsWhatWasFound) {
  const auto board = gpu::simulated_board(device::load_device("k40").device, {});
  Findings found;
  volatile bool stop = true;
  Bench bench(*board, {.quick = true, .interrupt = &stop}, found);
  EXPECT_TRUE(run_thesis(bench).interrupted);
  EXPECT_EQ(found.find("thesis.add.1"), nullptr);
}

}  // namespace
}  // namespace simtlab::probe
