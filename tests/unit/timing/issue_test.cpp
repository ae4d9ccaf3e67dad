// How many instructions a scheduler issues, and which: turns at half clock, two of one warp at once.
#include <gtest/gtest.h>

#include "simulator.h"

namespace simtlab::timing {
namespace {

// `round` is repeated in a loop of 16; registers %r2 to %r17, %d0 to %d15 and %f0 to %f15 are there.
std::string kernel_of(const std::string& round) {
  std::string text =
      ".visible .entry k(.param .u32 n, .param .u64 in) { .reg .b32 %r<19>; .reg .f64 %d<17>; .reg .f32 "
      "%f<17>; .reg .b64 %rd<3>; .reg .pred %p1;\n"
      ".shared .align 4 .b32 s[64];\nld.param.u32 %r1, [n];\nld.param.u64 %rd1, [in];\n";
  for (unsigned i = 0; i < 16; ++i) {
    const std::string n = std::to_string(i);
    text += "mov.u32 %r" + std::to_string(i + 2) + ", 1;\nmov.f64 %d" + n +
            ", 0d3FF0000000000000;\nmov.f32 %f" + n + ", 0f3F800000;\n";
  }
  text += "LOOP:\n";
  for (unsigned i = 0; i < 16; ++i) text += round;
  return text + "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\nret; }\n";
}

// 16 independent instructions of one kind.
std::string independent(const std::string& opcode, const std::string& reg, unsigned first,
                        unsigned operands) {
  std::string text;
  for (unsigned i = 0; i < 16; ++i) {
    const std::string r = reg + std::to_string(first + i);
    text += opcode + " " + r;
    for (unsigned k = 0; k < operands; ++k) text += ", " + r;
    text += ";\n";
  }
  return text;
}

// Cycles of a round, by kernels with one and with two of them in place of each.
double cycles_a_round(device::Device device, const std::string& round, std::uint32_t threads) {
  device.sm.count = 1;
  device.instruction.caches = false;
  const auto time = [&](const std::string& text) {
    Simulator simulator(device, kernel_of(text));
    const std::uint64_t in = simulator.allocate(4096);
    return metric(simulator.run("k", {1, 1, 1}, {threads, 1, 1}, 8u, in), "gpu.cycles");
  };
  return (time(round + round) - time(round)) / (8 * 16);
}

TEST(Issue, AFermiSchedulerIssuesInEverySecondShaderCycle) {
  const device::Device device = device_of("gtx480");
  const std::string adds = independent("xor.b32", "%r", 2, 2);
  EXPECT_NEAR(cycles_a_round(device, adds, 32), 32.0, 0.5) << "one warp: one instruction in two cycles";
  EXPECT_NEAR(cycles_a_round(device, adds, 64), 32.0, 0.5)
      << "two warps, one in each scheduler, side by side";
  EXPECT_NEAR(cycles_a_round(device, adds, 128), 64.0, 1.0) << "two warps in each";
  device::Device one = device;
  one.sm.schedulers = one.sm.issue_turns = 1;  // both as one
  EXPECT_NEAR(cycles_a_round(one, adds, 32), 16.0, 0.5);
}

TEST(Issue, SlotsAddUpAtHalfClock) {
  device::Device device = device_of("gtx480");
  device.sm.count = 2;
  for (const bool lines : {false, true}) {
    Options options;
    options.observe.lines = lines;
    Simulator simulator(device, kernel_of(independent("xor.b32", "%r", 2, 2)), options);
    const std::uint64_t in = simulator.allocate(4096);
    const auto result = simulator.run("k", {16, 1, 1}, {192, 1, 1}, 3u, in);
    double sum = 0;
    for (const auto& value : result.metrics.values())
      if (value.name.starts_with("stall.")) sum += value.real;
    EXPECT_NEAR(sum, 1.0, 1e-9);
    EXPECT_EQ(metric(result, "scheduler.slots"), metric(result, "gpu.cycles") * 4);
    EXPECT_GT(metric(result, "stall.selected"), 0.6) << "an issue takes both cycles of its turn";
    EXPECT_LE(metric(result, "sol.issue"), 1.0);
  }
}

TEST(Issue, TwoInstructionsOfOneWarpShareACycleOnGf104) {
  const device::Device device = device_of("gtx460");
  const std::string adds = independent("xor.b32", "%r", 2, 2);
  device::Device single = device;
  single.sm.issue_width = 1;
  EXPECT_NEAR(cycles_a_round(single, adds, 32), 32.0, 0.5);
  EXPECT_LT(cycles_a_round(device, adds, 32), 24.0)
      << "up to two in two cycles; 24 lanes a scheduler take one and a half";
}

TEST(Issue, DoublePrecisionIsPairedOnKeplerNotOnFermi) {
  std::string mixed;
  for (unsigned i = 0; i < 8; ++i) {
    mixed += "fma.rn.f64 %d" + std::to_string(i) + ", %d" + std::to_string(i) + ", %d" + std::to_string(i) +
             ", %d" + std::to_string(i) + ";\n";
    mixed += "xor.b32 %r" + std::to_string(2 + i) + ", %r" + std::to_string(2 + i) + ", %r" +
             std::to_string(2 + i) + ";\n";
  }
  for (const char* name : {"k40", "gtx460"}) {
    device::Device device = device_of(name);
    // So that nothing but issue limits
    device.throughput[static_cast<std::size_t>(ptx::OpClass::fp64)] = 32.0 * device.sm.schedulers;
    device.throughput[static_cast<std::size_t>(ptx::OpClass::int_alu)] = 32.0 * device.sm.schedulers;
    const double own = cycles_a_round(device, mixed, 32);
    device.sm.pairs_fp64 = !device.sm.pairs_fp64;
    const double other = cycles_a_round(device, mixed, 32);
    if (std::string(name) == "k40")
      EXPECT_LT(own, 0.7 * other);
    else
      EXPECT_GT(own, 1.4 * other);
  }
}

TEST(Issue, TwoAccessesToMemoryAreNeverPairedAnArithmeticOneAndAnAccessAre) {
  device::Device device = device_of("titanx-maxwell");
  ASSERT_EQ(device.sm.issue_width, 2u);
  std::string loads, mixed;
  for (unsigned i = 0; i < 8; ++i) {
    loads += "ld.shared.b32 %r" + std::to_string(2 + i) + ", [s];\nld.const.b32 %r" + std::to_string(10 + i) +
             ", [c];\n";
    mixed += "fma.rn.f32 %f" + std::to_string(i) + ", %f" + std::to_string(i) + ", %f" + std::to_string(i) +
             ", %f" + std::to_string(i) + ";\nld.shared.b32 %r" + std::to_string(2 + i) + ", [s];\n";
  }
  // Widths that leave issue as the only limit.
  device.throughput[static_cast<std::size_t>(ptx::OpClass::shared)] = 4096;
  device.throughput[static_cast<std::size_t>(ptx::OpClass::constant)] = 4096;
  device.throughput[static_cast<std::size_t>(ptx::OpClass::fp32)] = 4096;
  device::Device single = device;
  single.sm.issue_width = 1;
  const auto time = [](const device::Device& d, const std::string& round) {
    device::Device one = d;
    one.sm.count = 1;
    one.instruction.caches = false;
    Simulator simulator(one, ".const .align 4 .b32 c[4];\n" + kernel_of(round));
    const std::uint64_t in = simulator.allocate(4096);
    return metric(simulator.run("k", {1, 1, 1}, {512, 1, 1}, 9u, in), "gpu.cycles");
  };
  EXPECT_NEAR(time(device, loads), time(single, loads), 0.03 * time(single, loads));
  EXPECT_LT(time(device, mixed), 0.8 * time(single, mixed));
}

// Warps that do nothing but read what L1 holds: none is held back for the sake of another scheduler's, so
// that all end together.
class FairUse : public testing::TestWithParam<std::string> {};

TEST_P(FairUse, SchedulersTakeTurnsAtTheUnitsOfTheSm) {
  device::Device device = device_of(GetParam());
  device.sm.count = 1;
  device.instruction.caches = false;
  for (const char* load : {"ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [s];\n",
                           "ld.global.ca.v4.b32 {%r2, %r3, %r4, %r5}, [%rd1];\n"}) {
    Simulator simulator(device, kernel_of(load));
    const std::uint64_t in = simulator.allocate(4096);
    const auto result = simulator.run("k", {1, 1, 1}, {device.sm.max_threads_per_block, 1, 1}, 40u, in);
    EXPECT_LT(metric(result, "stall.no_warp"), 0.02) << load;
  }
}

INSTANTIATE_TEST_SUITE_P(SeveralSchedulers, FairUse,
                         testing::Values("gtx480", "k40", "titanx-maxwell", "v100", "h100"),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace simtlab::timing
