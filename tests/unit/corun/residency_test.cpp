// Blocks on SMs, on cases whose answer can be worked out: a GPU of 24 SMs (Titan X) of which each takes 8
// blocks of 256 threads.
#include "corun/residency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "corun/fast_host.h"
#include "device/catalogue.h"
#include "one_kernel_app.h"

namespace simtlab::corun {
namespace {

constexpr std::uint32_t places = 24 * 8;  // of blocks of 256 threads

const device::Device& titan() {
  static const device::Device device = [] {
    ::setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
    return device::load_device("titanx-maxwell").device;
  }();
  return device;
}

// A kernel that waits for nothing that others use.
Profile blocks_of(std::uint32_t blocks, double time_ns) {
  Profile p;
  p.grid = {blocks, 1, 1};
  p.block = {256, 1, 1};
  p.registers = 16;
  p.shared_bytes = 0;
  p.time_ns = time_ns;
  p.ipc = 0;
  p.l2_bandwidth = p.dram_bandwidth = 0;
  p.memory_stall = 0;
  return p;
}

MixResult run(std::vector<Workload> mix, std::uint32_t limit = 8, SmSharing sharing = {}) {
  FastOptions o;
  o.settings.limit = limit;
  o.device = &titan();
  o.sharing = std::move(sharing);
  return run_fast(mix, policy("mps"), o);
}

TEST(Residency, AloneALaunchTakesItsTime) {
  for (const std::uint32_t blocks : {1u, 24u, places, places + 1, 5 * places + 7, 100'000u})
    for (const double load : {0.0, 0.4, 0.97}) {
      Profile p = blocks_of(blocks, 50'000);
      p.memory_stall = load;
      p.dram_bandwidth = load * titan().dram.bandwidth;
      p.l2_bandwidth = p.dram_bandwidth;
      p.ipc = 10;
      EXPECT_NEAR(run({app("a", p)}).applications[0].gpu_ns, 50'000, 50)
          << blocks << " blocks, " << load << " of DRAM";
    }
}

TEST(Residency, WhatFitsBesideIsNotSlower) {
  const MixResult r = run({app("a", blocks_of(places / 2, 10'000)), app("b", blocks_of(places / 2, 7'000))});
  EXPECT_NEAR(r.applications[0].gpu_ns, 10'000, 2);
  EXPECT_NEAR(r.applications[1].gpu_ns, 7'000, 2);
}

// Two waves of 1000 ns fill the GPU; the single block of the other waits for them. With half a wave at the
// end it waits for the first wave only.
TEST(Residency, AGridThatFillsTheGpuKeepsTheNextOneOff) {
  const MixResult full = run({app("a", blocks_of(2 * places, 2'000)), app("b", blocks_of(1, 500))});
  EXPECT_NEAR(full.applications[0].gpu_ns, 2'000, 2);
  EXPECT_NEAR(full.applications[1].gpu_ns, 2'500, 2);
  const MixResult part = run({app("a", blocks_of(places + places / 2, 2'000)), app("b", blocks_of(1, 500))});
  EXPECT_NEAR(part.applications[0].gpu_ns, 2'000, 2);
  EXPECT_NEAR(part.applications[1].gpu_ns, 1'500, 2);
}

// The other way round the large grid has all places but one for 500 ns: its 2 x 192 blocks need three waves,
// of which the last has one block.
TEST(Residency, AWaveThatIsOnePlaceShortCostsAnother) {
  const MixResult r = run({app("b", blocks_of(1, 500)), app("a", blocks_of(2 * places, 2'000))});
  EXPECT_NEAR(r.applications[0].gpu_ns, 500, 2);
  EXPECT_NEAR(r.applications[1].gpu_ns, 2'500, 2);  // that block began at 500 and again at 1500
}

TEST(Residency, RegistersAndSharedMemoryAreShared) {
  Profile shared = blocks_of(48, 1'000);
  shared.shared_bytes = 48 * 1024;  // two blocks an SM, of which nothing is left
  EXPECT_NEAR(run({app("a", shared), app("b", shared)}).applications[1].gpu_ns, 2'000, 2);
  EXPECT_NEAR(run({app("a", shared), app("b", blocks_of(48, 1'000))}).applications[1].gpu_ns, 1'000, 2);
  Profile registers = blocks_of(4 * 24, 1'000);
  registers.registers = 64;  // four blocks an SM
  EXPECT_NEAR(run({app("a", registers), app("b", registers)}).applications[1].gpu_ns, 2'000, 2);
}

// Nobody gets more than there is: two kernels that use 80 % of DRAM each together take at least 1.6 times as
// long, and one that doesn't use it is not slower.
TEST(Residency, BandwidthIsConserved) {
  Profile p = blocks_of(48, 100'000);
  p.memory_stall = 0.9;
  p.dram_bandwidth = p.l2_bandwidth = 0.8 * titan().dram.bandwidth;
  const MixResult r = run({app("a", p), app("b", p), app("c", blocks_of(24, 100'000))});
  EXPECT_GE(r.applications[0].slowdown_gpu(), 1.6);
  EXPECT_LE(r.applications[0].slowdown_gpu(), 1.9);
  EXPECT_NEAR(r.applications[2].slowdown_gpu(), 1, 1e-3);
  Profile q = blocks_of(48, 100'000);
  q.ipc = 0.8 * servers_of(titan()).capacity[Servers::issue] / (titan().sm_clock_hz * 1e-9);
  EXPECT_GE(run({app("a", q), app("b", q)}).applications[1].slowdown_gpu(), 1.6);
}

Profile with_data(double mib) {
  Profile p = blocks_of(places, 10'000);
  p.memory_stall = 0.5;
  p.l2_bandwidth = 100e9;
  p.cold_time_ns = 20'000;
  p.footprint = mib * 1024 * 1024;
  return p;
}

// 3 MiB of L2, one launch at a time: 1 and 1 fit, 2 and 2 throw each other out; the first launch finds what
// the profile says.
TEST(Residency, DataOfOthersPushOnesOwnOutOfL2) {
  const MixResult fit = run({app("a", with_data(1), 10), app("b", with_data(1), 10)}, 1);
  EXPECT_NEAR(fit.applications[0].gpu_ns, 100'000, 200);
  const MixResult thrash = run({app("a", with_data(2), 10), app("b", with_data(2), 10)}, 1);
  EXPECT_NEAR(thrash.applications[0].gpu_ns, 190'000, 300);
  EXPECT_NEAR(run({app("a", with_data(2), 10)}).applications[0].gpu_ns, 100'000, 200);
  Workload late = app("b", with_data(2));  // a single launch between: of a, one is cold
  late.start_ns = 45'000;
  EXPECT_NEAR(run({app("a", with_data(2), 10), late}, 1).applications[0].gpu_ns, 110'000, 300);
}

TEST(Residency, SharingGivesPartsOfTheSms) {
  const std::vector<Workload> mix = {app("a", blocks_of(4 * places, 4'000)),
                                     app("b", blocks_of(places, 1'000))};
  using timing::SharePolicy;
  EXPECT_NEAR(run(mix).applications[1].gpu_ns, 5'000, 2);
  EXPECT_NEAR(run(mix, 8, {SharePolicy::serial, {}}).applications[1].gpu_ns, 5'000, 2);
  // Both come at once, but the first takes all places before the second is there; then each has half.
  for (const SharePolicy p : {SharePolicy::smk, SharePolicy::spatial}) {
    const MixResult r = run(mix, 8, {p, {}});
    EXPECT_NEAR(r.applications[1].gpu_ns, 3'000, 2);
    EXPECT_NEAR(r.applications[0].gpu_ns, 5'000, 2);
  }
  const MixResult parts =
      run(mix, 8, {SharePolicy::leftover, [](const std::string& application, const std::string&) {
                     return application == "a" ? SmRange{0, 16} : SmRange{16, 24};
                   }});
  EXPECT_NEAR(parts.applications[0].gpu_ns, 6'000, 2);
  EXPECT_NEAR(parts.applications[1].gpu_ns, 3'000, 2);
}

// A kernel that fills the issue slots finds its half of the SMs as full as all of them were: it takes twice
// as long. On half of each SM it has the slots that its neighbour does not use.
TEST(Residency, PartsOfTheSmsHaveIssueSlotsOfTheirOwn) {
  using timing::SharePolicy;
  Profile busy = blocks_of(20 * places, 20'000), idle = blocks_of(20 * places, 20'000);
  busy.ipc = 90;
  const auto busy_takes = [&](const Profile& neighbour, const SmSharing& sharing) {
    const MixResult r = run({app("n", neighbour), app("b", busy)}, 8, sharing);
    return r.applications[1].kernels[0].gpu_ns;
  };
  const auto halves = [](const std::string& application, const std::string&) {
    return application == "n" ? SmRange{0, 12} : SmRange{12, 24};
  };
  EXPECT_NEAR(busy_takes(idle, {SharePolicy::leftover, halves}), 40'000, 800);
  EXPECT_NEAR(busy_takes(busy, {SharePolicy::leftover, halves}), 40'000, 800);
  EXPECT_LT(busy_takes(idle, {SharePolicy::smk, {}}), 38'000)
      << "the neighbour leaves it the slots of all SMs";
}

// What came before a part was made lies on all SMs. 64 of 192 places are taken: the second launch has 96 - 32
// on its half of the SMs, but 96 on half of each SM.
TEST(Residency, WhatLiesOnThePartOfAnotherStaysThere) {
  using timing::SharePolicy;
  const std::vector<Workload> mix = {app("a", blocks_of(64, 100'000)), app("b", blocks_of(256, 2'000))};
  EXPECT_NEAR(run(mix, 8, {SharePolicy::spatial, {}}).applications[1].gpu_ns, 4'000, 2);
  EXPECT_NEAR(run(mix, 8, {SharePolicy::smk, {}}).applications[1].gpu_ns, 3'000, 2);
}

TEST(Residency, NoMoreGridsThanTheHardwareHolds) {
  std::vector<Workload> mix;
  for (std::uint32_t i = 0; i <= titan().host.max_grids; ++i)
    mix.push_back(app("a" + std::to_string(i), blocks_of(1, 1'000)));
  const MixResult r = run(mix, 64);
  EXPECT_NEAR(r.applications.front().gpu_ns, 1'000, 2);
  EXPECT_NEAR(r.applications.back().gpu_ns, 2'000, 2);
}

TEST(Residency, ManyLaunchesAndManyBlocksKeepLittle) {
  const MixResult r =
      run({app("a", blocks_of(100, 1'000), 100'000), app("b", blocks_of(2'000'000'000, 100'000'000), 1)}, 2);
  EXPECT_EQ(r.applications[0].launches, 100'000u);
  EXPECT_GT(r.applications[0].slowdown_gpu(), 1);
}

TEST(Residency, SaysWhatIsMissingOrImpossible) {
  const auto message = [](const Profile& p) -> std::string {
    try {
      run({app("a", p)});
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      return e.diagnostics().front().message;
    }
    return "";
  };
  Profile p = blocks_of(1, 100);
  p.grid.reset();
  EXPECT_THAT(message(p), testing::HasSubstr("want to know grid"));
  p.block.reset();
  EXPECT_THAT(message(p), testing::HasSubstr("grid, block"));
  p = blocks_of(1, 100);
  p.block = {1025, 1, 1};
  EXPECT_THAT(message(p), testing::HasSubstr("1025 threads"));
  p = blocks_of(1, 100);
  p.shared_bytes = 1e9;
  EXPECT_THAT(message(p), testing::HasSubstr("fits on no SM"));
  p.shared_bytes = 0;
  p.registers = 1e12;
  EXPECT_THAT(message(p), testing::HasSubstr("fits on no SM"));
  p = blocks_of(1, 100);
  p.grid = {0x7fffffff, 0x7fffffff, 0x7fffffff};
  EXPECT_THAT(message(p), testing::HasSubstr("blocks"));
  p = blocks_of(1, 1e300);
  EXPECT_THAT(message(p), testing::HasSubstr("takes 1e+300 ns"));
}

}  // namespace
}  // namespace simtlab::corun
