// The published method on simulated boards: what it says is what one interval holds, and slopes beside it are
// the truth.
#include "probe/thesis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "device/catalogue.h"

namespace simtlab::probe {
namespace {

TEST(Thesis, OneIntervalIsAboveTheLatencyAndSlopesAreTheLatency) {
  // A quarter of it, which takes a quarter of the time.
  const auto board = gpu::simulated_board(
      device::load_device("k40", {{"sm.count", "4", {}}, {"l2.bytes", "384 KiB", {}}}).device, {});
  Findings found;
  Bench bench(*board, {.quick = true}, found);
  const Outcome outcome = run_thesis(bench);
  EXPECT_TRUE(outcome.failed.empty() && !outcome.interrupted && !outcome.lost);
  const auto value = [&](const std::string& key) { return found.value(key).value_or(-1); };
  for (const ThesisOperation& op : thesis_operations) {
    const double latency = op.name == "div" ? 149 : 9;  // data/devices/k40.toml
    // The longest chains of divisions are longer than the first instruction cache.
    EXPECT_NEAR(value(fmt::format("slope.{}", op.name)), latency, op.name == "div" ? 0.5 : 1e-9) << op.name;
    EXPECT_GT(value(fmt::format("thesis.{}.1", op.name)), 1.05 * latency) << op.name;
    for (unsigned n = 2; n <= thesis_most; ++n)
      EXPECT_GT(value(fmt::format("thesis.{}.{}", op.name, n)), 0) << op.name << n;
  }
  // What independent divisions add each is the interval of their pipeline, and no latency.
  EXPECT_NEAR((value("thesis.div.8") - value("thesis.div.1")) / 7, 129, 10);
  EXPECT_DOUBLE_EQ(value("l1.latency"), 32);
  EXPECT_DOUBLE_EQ(value("l2.latency"), 188);
  EXPECT_GT(value("thesis.l1"), 1.05 * 32);
  EXPECT_GT(value("thesis.l1.loaded"), value("thesis.l1"));
  EXPECT_GT(value("thesis.l2"), 1.05 * 188);
  // 384 KiB hold the lines of 3072 threads at most, and what they store.
  EXPECT_GT(value("thesis.l2.threads"), 1500);
  EXPECT_LE(value("thesis.l2.threads"), 3072);
  EXPECT_GT(value("thesis.memory.slope"), 0);
  // What the line has at no threads is no latency; on all of the K40 it is negative, as published
  // (tests/e2e/test_probe.py).
  EXPECT_GT(std::abs(value("thesis.memory.intercept") - 331), 0.1 * 331);
  EXPECT_GT(value("thesis.memory.r2"), 0.3);
  EXPECT_LT(value("thesis.memory.r2"), 1);
  EXPECT_NEAR(value("dram.latency"), 331, 4);
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
