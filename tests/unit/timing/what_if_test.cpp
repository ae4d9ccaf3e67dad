// Each limit that is lifted changes what the model does.
#include "device/what_if.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "result/gains.h"
#include "simulator.h"

namespace simtlab::timing {
namespace {

// Every thread loads from a column of a matrix (one sector a lane), and passes through shared memory with
// 32-way conflicts.
const char* column_kernel = R"(
.visible .entry column(.param .u64 x, .param .u64 y) {
  .reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .f32 %f<40>;
  .shared .align 4 .b8 tile[4096];
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x;
  and.b32 %r4, %r3, 31; shl.b32 %r4, %r4, 10; shl.b32 %r5, %r1, 3; add.u32 %r4, %r4, %r5;
  shr.u32 %r6, %r3, 5; add.u32 %r4, %r4, %r6;
  mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  and.b32 %r7, %r3, 31; shl.b32 %r7, %r7, 7; mov.u32 %r8, tile; add.u32 %r8, %r8, %r7;
  st.shared.f32 [%r8], %f1;
  ld.shared.f32 %f2, [%r8];
  ld.shared.f32 %f3, [%r8];
  add.f32 %f4, %f2, %f3;
  mad.lo.u32 %r9, %r1, 256, %r3;
  mul.wide.u32 %rd5, %r9, 4; add.u64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f4;
  ret;
})";

result::KernelResult run_column(const char* what_if, const char* gpu = "v100", unsigned blocks = 128) {
  Options o;
  o.what_if = device::parse_what_if(what_if);
  Simulator s(device_of(gpu), column_kernel, o);
  const std::uint64_t x = s.allocate(1 << 18), y = s.allocate(1 << 22);
  return s.run("column", {blocks, 1, 1}, {256, 1, 1}, x, y);
}

TEST(WhatIf, PerfectL1HitsAlways) {
  const auto r = run_column("perfect-l1"), plain = run_column("none");
  EXPECT_EQ(metric(r, "l1.read.hits"), metric(r, "l1.read.accesses"));
  EXPECT_EQ(metric(r, "l1.read.accesses"), metric(plain, "l1.read.accesses"));
  EXPECT_EQ(metric(r, "dram.read.bytes"), 0);
  EXPECT_LT(cycles(r), cycles(plain));
}

TEST(WhatIf, PerfectL1HoldsWhereL1DoesNotCacheGlobalMemory) {
  for (const std::string& name : all_devices())
    EXPECT_EQ(metric(run_column("perfect-l1", name.c_str(), 16), "l2.read.accesses"), 0) << name;
}

TEST(WhatIf, NoBankConflicts) {
  const auto r = run_column("no-bank-conflicts"), plain = run_column("none");
  EXPECT_EQ(metric(r, "shared.bank_conflicts"), 0);
  EXPECT_GT(metric(plain, "shared.bank_conflicts"), 0);
  EXPECT_EQ(metric(r, "shared.bytes"), metric(plain, "shared.bytes"));
  EXPECT_LT(cycles(r), cycles(plain));
}

TEST(WhatIf, PerfectCoalescingTouchesWhatIsUsed) {
  const auto r = run_column("perfect-coalescing"), plain = run_column("none");
  EXPECT_EQ(metric(r, "global.load.efficiency"), 1);
  EXPECT_LT(metric(plain, "global.load.efficiency"), 0.2);
  EXPECT_EQ(metric(r, "global.load.bytes"), metric(plain, "global.load.bytes"));
  // Columns of one matrix: together they still touch all of it.
  EXPECT_EQ(metric(r, "dram.read.bytes"), metric(plain, "dram.read.bytes"));
  EXPECT_LT(cycles(r), cycles(plain));
}

TEST(WhatIf, InfiniteBandwidthLeavesTheLatency) {
  Options o;
  o.what_if.infinite_dram_bandwidth = true;
  o.observe.lines = true;
  device::Device slow = device_of("v100");
  slow.dram.bandwidth = slow.dram.bandwidth_measured = 10e9;
  Simulator s(slow, column_kernel, o);
  const auto r = s.run("column", {128, 1, 1}, {256, 1, 1}, s.allocate(1 << 18), s.allocate(1 << 20));
  EXPECT_EQ(metric(r, "load.latency.dram_queue"), 0);
  EXPECT_GE(metric(r, "load.latency"), slow.dram.latency * 0.5);
  EXPECT_FALSE(r.metrics.get("dram.utilisation")) << "the use of an infinite bandwidth has no meaning";
}

TEST(WhatIf, DoubleOccupancyHoldsTwiceTheBlocks) {
  const auto r = run_column("double-occupancy", "v100", 2048), plain = run_column("none", "v100", 2048);
  EXPECT_EQ(metric(r, "occupancy.blocks_per_sm"), 2 * metric(plain, "occupancy.blocks_per_sm"));
  EXPECT_EQ(metric(r, "gpu.instructions.warp"), metric(plain, "gpu.instructions.warp"));
}

TEST(WhatIf, DoubleMathHalvesAChainOfIndependentOperations) {
  std::string body =
      ".visible .entry k(.param .u64 y) { .reg .f64 %d<20>; .reg .b64 %r<2>; ld.param.u64 %r1, [y];\n";
  for (int i = 0; i < 400; ++i)
    body += "fma.rn.f64 %d" + std::to_string(i % 16) + ", %d" + std::to_string(i % 16) + ", %d17, %d18;\n";
  body += "st.global.f64 [%r1], %d3; ret; }";
  const auto run = [&](const char* what_if) {
    Options o;
    o.what_if = device::parse_what_if(what_if);
    Simulator s(device_of("v100"), body, o);
    return cycles(s.run("k", {80, 1, 1}, {1024, 1, 1}, s.allocate(8)));
  };
  const double ratio = static_cast<double>(run("double-math")) / static_cast<double>(run("none"));
  EXPECT_GT(ratio, 0.49);
  EXPECT_LT(ratio, 0.65) << "the stores at the end don't become faster";
}

TEST(WhatIf, BlocksLaunchAtOnce) {
  EXPECT_EQ(metric(run_column("zero-launch-cost"), "gpu.launch_overhead"), 0);
  const auto run = [](bool free) {
    device::Device d = device_of("v100");
    d.sm.count = 1;
    d.launch.block_interval = 1000;
    Options o;
    o.what_if.zero_launch_cost = free;
    Simulator s(d, ".visible .entry k() { .reg .b32 %r<3>; mov.u32 %r1, 1; add.u32 %r2, %r1, 1; ret; }", o);
    return cycles(s.run("k", {8, 1, 1}, {32, 1, 1}));
  };
  EXPECT_LT(run(true) + 5000, run(false));
}

constexpr const char* nothing_kernel = ".visible .entry k() { ret; }";

// Places are empty between two blocks; the GPU hands out so many a cycle; a kernel has a floor.
TEST(LaunchCost, IsThatOfTheFloorTheHandOutsAndTheTurnOverOfAPlace) {
  const auto run = [](const device::Device::Launch& launch, std::uint32_t blocks, std::uint32_t threads) {
    device::Device d = device_of("h100");
    d.launch = launch;
    Simulator s(d, nothing_kernel);
    return static_cast<double>(cycles(s.run("k", {blocks, 1, 1}, {threads, 1, 1})));
  };
  EXPECT_NEAR(run({.floor = 3000}, 1, 32) - run({}, 1, 32), 3000, 1);
  EXPECT_NEAR((run({.block_interval = 3}, 2000, 32) - run({.block_interval = 3}, 1000, 32)) / 1000, 3, 0.05);
  // Two blocks of 1024 threads an SM follow each other
  const std::uint32_t wave = 2 * 132;
  const device::Device::Launch slow{.block_latency = 500};
  const double turn = (run(slow, 9 * wave, 1024) - run(slow, wave, 1024)) / 8;
  EXPECT_GT(turn, 500);
  EXPECT_LT(turn, 530) << "and what the block itself takes, but no wait for the end of a quantum";
  const device::Device::Launch warps{.warp_interval = 10};
  EXPECT_NEAR(run(warps, 1, 1024) - run({}, 1, 1024), 300, 15) << "the last of 32 warps starts so much later";
}

// A place is free when the stores have left the SM; the answers come to nobody.
TEST(LaunchCost, NobodyWaitsForAnswersToTheLastStoresOfABlock) {
  const auto turn = [](const char* body) {
    device::Device d = device_of("h100");
    d.sm.max_blocks = 1;
    d.launch = {.block_latency = 500};
    Simulator s(
        d,
        std::string(".visible .entry k(.param .u64 y) { .reg .b64 %r<4>; .reg .b32 %t<4>; .reg .pred %p<2>;\n"
                    "ld.param.u64 %r1, [y]; mov.u32 %t1, %ctaid.x; mul.wide.u32 %r2, %t1, 4;\n"
                    "add.u64 %r1, %r1, %r2; mov.u32 %t2, %tid.x; setp.eq.u32 %p1, %t2, 0;\n") +
            body + "ret; }");
    const std::uint64_t y = s.allocate(16384);
    const auto run = [&](std::uint32_t waves) {
      return static_cast<double>(cycles(s.run("k", {waves * 132, 1, 1}, {32, 1, 1}, y)));
    };
    run(1);
    return (run(9) - run(1)) / 8;
  };
  const double store = turn("@%p1 st.global.u32 [%r1], %t1;\n") - turn("");
  EXPECT_GT(store, 60);
  EXPECT_LT(store, device_of("h100").l2.latency / 2);
}

// Code that is run once comes from memory, line by line.
TEST(WhatIf, PerfectFetchTakesColdCodeAway) {
  std::string body =
      ".visible .entry k(.param .u64 y) { .reg .f32 %f<20>; .reg .b64 %r<2>; ld.param.u64 %r1, [y];\n";
  for (int i = 0; i < 4000; ++i) body += "fma.rn.f32 %f" + std::to_string(i % 16) + ", %f17, %f18, %f19;\n";
  body += "st.global.f32 [%r1], %f3; ret; }";
  const auto run = [&](const char* what_if) {
    Options o;
    o.what_if = device::parse_what_if(what_if);
    device::Device d = device_of("v100");
    d.instruction.caches = true;
    Simulator s(d, body, o);
    const auto r = s.run("k", {1, 1, 1}, {32, 1, 1}, s.allocate(4));
    EXPECT_GE(metric(r, "gpu.cycles"), 4000);
    return static_cast<double>(cycles(r));
  };
  EXPECT_LT(run("perfect-fetch"), 0.8 * run("none"));
}

// Warps load words of 32 lines that lie in 32 banks: data come at once, tags four a cycle.
TEST(WhatIf, UnlimitedTagsLeaveTheData) {
  const char* strided = R"(
.visible .entry k(.param .u64 x, .param .u32 rounds) {
  .reg .b64 %rd<4>; .reg .b32 %r<12>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [rounds]; mov.u32 %r2, %tid.x; and.b32 %r2, %r2, 31; mul.lo.u32 %r3, %r2, 132;
  cvt.u64.u32 %rd2, %r3; add.u64 %rd3, %rd1, %rd2;
LOOP:
  ld.global.ca.u32 %r4, [%rd3]; ld.global.ca.u32 %r5, [%rd3]; ld.global.ca.u32 %r6, [%rd3]; ld.global.ca.u32 %r7, [%rd3];
  sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ret;
})";
  const auto cycles_a_load = [&](const char* what_if) {
    Options o;
    o.what_if = device::parse_what_if(what_if);
    Simulator s(device_of("a100"), strided, o);
    const std::uint64_t x = s.allocate(8192);
    const auto run = [&](std::uint32_t rounds) {
      return static_cast<double>(cycles(s.run("k", {1, 1, 1}, {1024, 1, 1}, x, rounds)));
    };
    return (run(60) - run(20)) / (40 * 4 * 32);
  };
  const double plain = cycles_a_load("none"), unlimited = cycles_a_load("unlimited-tags");
  EXPECT_NEAR(plain, 8.5, 1);
  EXPECT_NEAR(unlimited, 1, 0.2);
}

// Warps store a word in each sector of eight lines, or whole lines. Networks of v100 and h100 send a mask
// with the former: a flit beside the four of a line. result/gains.h finds it in flits and bytes.
TEST(WhatIf, WideWritesTakeMasksAway) {
  const auto run = [](const char* gpu, bool parts, const char* what_if) {
    Options o;
    o.what_if = device::parse_what_if(what_if);
    const std::string step = parts ? "32" : "4";  // bytes from lane to lane
    std::string body =
        ".visible .entry k(.param .u64 y) { .reg .b64 %r<4>; .reg .b32 %t<4>; ld.param.u64 %r1, [y];\n"
        "mov.u32 %t1, %ctaid.x; mov.u32 %t2, %tid.x; mad.lo.u32 %t3, %t1, 1024, %t2;\n"
        "mul.wide.u32 %r2, %t3, " +
        step + "; add.u64 %r3, %r1, %r2;\n";
    for (int i = 0; i < 4; ++i)
      body += "st.global.u32 [%r3+" + std::to_string(i * (parts ? 4 : 1 << 20)) + "], %t1;\n";
    Simulator s(device_of(gpu), body + "ret; }", o);
    return s.run("k", {132, 1, 1}, {1024, 1, 1}, s.allocate(8 << 20));
  };
  for (const char* gpu : {"v100", "h100"}) {
    const auto parts = run(gpu, true, "none");
    EXPECT_DOUBLE_EQ(result::masks_of(parts.metrics).of_sectors, 1) << gpu;
    EXPECT_NEAR(result::masks_of(parts.metrics).of_flits, 0.2, 0.001) << gpu;
    EXPECT_LT(cycles(run(gpu, true, "wide-writes")), cycles(parts)) << gpu;
    EXPECT_DOUBLE_EQ(result::masks_of(run(gpu, false, "none").metrics).of_sectors, 0) << gpu;
  }
  EXPECT_DOUBLE_EQ(result::masks_of(run("a100", true, "none").metrics).of_sectors, 0) << "no flit for masks";
}

TEST(WhatIf, NamesAreCheckedAndCombined) {
  EXPECT_TRUE(device::parse_what_if("none") == device::WhatIf{});
  const device::WhatIf two = device::parse_what_if("perfect-l1,double-math");
  EXPECT_TRUE(two.perfect_l1 && two.double_math && !two.double_occupancy);
  try {
    device::parse_what_if("perfect-l2");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "what-if");
    EXPECT_NE(e.format().find("perfect-l1"), std::string::npos);
  }
}

}  // namespace
}  // namespace simtlab::timing
