// Recorded applications together on one simulated GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "gpu/copy_time.h"
#include "small_gpu.h"

namespace simtlab::corun::cycle {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

TEST(CycleHost, AloneNothingIsSlower) {
  const Host host;
  for (const char* name : {"memory", "compute", "both"}) {
    const corun::MixResult alone = host.run({name}, 4);
    const corun::ApplicationResult& a = alone.applications.front();
    EXPECT_EQ(a.slowdown_gpu(), 1) << name;
    EXPECT_EQ(a.slowdown_turnaround(), 1) << name;
    EXPECT_EQ(a.waited_ns, 0);
    for (const corun::KernelShare& k : a.kernels) EXPECT_EQ(k.together->l2_bytes, k.alone->l2_bytes);
  }
  EXPECT_EQ(host.cycle.alone("both").kernels.size(), 2u);
  EXPECT_EQ(host.cycle.alone("both").launches, 4u);
  EXPECT_GT(*host.cycle.profiles().find("memory", "stream")->profile.dram_bandwidth,
            10 * *host.cycle.profiles().find("compute", "compute")->profile.dram_bandwidth);
  EXPECT_EQ(host.cycle.profiles().find("memory", "stream")->profile.grid->at(0), 32u);
}

TEST(CycleHost, AFootprintIsTheBytesThatAreBroughtToL2) {
  Folder folder;
  CycleHost cycle(four_sms(), {});
  // Words side by side: four sectors of a line at once
  cycle.add("stores", record(folder.path, "stores", {{"fill", 32, 4}}), 1, 0, "test");
  // A sector each, read before it is written
  cycle.add("apart", record(folder.path, "apart", {{"stream", 32, 4}}), 1, 0, "test");
  EXPECT_EQ(cycle.profiles().find("stores", "fill")->profile.footprint, 32 * 128 * 4);
  EXPECT_EQ(cycle.profiles().find("apart", "stream")->profile.footprint, 32 * 128 * 32);
}

TEST(CycleHost, KernelsOfTwoApplicationsRunAtTheSameTime) {
  const Host host;
  const corun::MixResult mix = host.run({"memory", "compute"}, 2);
  const corun::ApplicationResult &memory = mix.applications[0], &compute = mix.applications[1];
  EXPECT_LT(mix.makespan_ns, 0.9 * (memory.alone_ns + compute.alone_ns));
  EXPECT_GE(mix.makespan_ns, std::max(memory.turnaround_ns, compute.turnaround_ns));
  EXPECT_EQ(memory.waited_ns + compute.waited_ns, 0);
  EXPECT_THAT(memory.slowdown_gpu(), AllOf(Ge(0.99), Le(2.0)));
  EXPECT_THAT(compute.slowdown_gpu(), AllOf(Ge(0.99), Le(2.0)));
}

TEST(CycleHost, TwoThatWantTheSameHinderEachOther) {
  const Host host;
  const corun::MixResult mix = host.run({"compute", "compute"}, 2);
  for (const corun::ApplicationResult& a : mix.applications) EXPECT_GT(a.slowdown_gpu(), 1.2);
}

TEST(CycleHost, WithOneSlotLaunchesTakeTurnsAndWait) {
  const Host host;
  const corun::MixResult mix = host.run({"compute", "compute"}, 1, "round-robin");
  for (const corun::ApplicationResult& a : mix.applications) {
    // Alone on the GPU, but the next launch begins where a step of the network ends, and the second finds its
    // instructions in the caches.
    EXPECT_NEAR(a.slowdown_gpu(), 1, 0.08);
    EXPECT_GT(a.slowdown_turnaround(), 1.5);
  }
  EXPECT_GT(mix.applications[1].waited_ns, 0);
}

// With the same addresses the second would find in L2 what the first has brought.
TEST(CycleHost, ProcessesDoNotSeeEachOthersMemory) {
  const Host host;
  const double alone = host.cycle.alone("memory").kernels.front().together->l2_misses;
  ASSERT_GT(alone, 0);
  const corun::MixResult mix = host.run({"memory", "memory"}, 1);
  for (const corun::ApplicationResult& a : mix.applications)
    EXPECT_GE(a.kernels.front().together->l2_misses, alone);
}

TEST(CycleHost, APartitionKeepsApplicationsOnTheirSms) {
  CycleOptions halves;
  halves.sharing = gpu::parse_sharing("compute=0-1,memory=2-3");
  const Host host(halves);
  const corun::ApplicationResult half = host.run({"compute"}, 1).applications.front();
  EXPECT_THAT(half.slowdown_gpu(), AllOf(Ge(1.7), Le(2.05)));  // alone has all four SMs
  const corun::MixResult mix = host.run({"memory", "compute"}, 2);
  EXPECT_NEAR(mix.applications[1].gpu_ns, half.gpu_ns, 0.02 * half.gpu_ns);
}

TEST(CycleHost, WhatTheHardwareHasNoRoomForWaitsThere) {
  CycleOptions serial;
  serial.sharing = gpu::parse_sharing("serial");
  const Host host(serial);
  const corun::MixResult mix = host.run({"compute", "compute", "compute"}, 3);
  for (const corun::ApplicationResult& a : mix.applications) {
    EXPECT_EQ(a.waited_ns, 0);  // for the policy it runs
    EXPECT_GT(a.slowdown_gpu(), 1.8);
    EXPECT_EQ(a.launches, 3u);
  }
}

TEST(CycleHost, ResultsDoNotDependOnThreads) {
  std::string logs[2];
  for (const unsigned threads : {1u, 3u}) {
    CycleOptions options;
    options.timing.threads = threads;
    const Host host(options);
    corun::HostOptions with_log;
    with_log.settings.limit = 2;
    with_log.log = [&](std::string_view line) { logs[threads > 1].append(line) += '\n'; };
    const std::vector<corun::Workload> mix = host.workloads({"both", "memory", "compute", "both"});
    host.cycle.run(mix, corun::policy("shark"), with_log);
  }
  EXPECT_EQ(logs[0], logs[1]);
  EXPECT_NE(logs[0].find(" grant 10\n"), std::string::npos);
}

// A mebibyte there and back, for each of two iterations.
struct Copying {
  explicit Copying(bool copies) : cycle(device, options(copies)) {
    for (const char* name : {"a", "b"})
      cycle.add(name, record(folder.path, name, {{"stream", 32, 4}}, bytes), 2, 0, "test");
    in = gpu::copy_ns(device, bytes, gpu::Gpu::CopyKind::host_to_device),
    out = gpu::copy_ns(device, bytes, gpu::Gpu::CopyKind::device_to_host);
  }
  static CycleOptions options(bool copies) {
    CycleOptions out;
    out.copies = copies;
    return out;
  }
  corun::MixResult run(const std::vector<std::string>& names) const {
    return cycle.run(corun::workloads(cycle.profiles(), names, 1), corun::policy("mps"), {});
  }
  static constexpr std::uint64_t bytes = std::uint64_t{1} << 20;
  Folder folder;
  device::Device device = four_sms();
  CycleHost cycle;
  double in = 0, out = 0;
};

TEST(CycleHost, CopiesTakeTheirTimeAndOneEngineEach) {
  const Copying with(true), without(false);
  const corun::ApplicationResult alone = with.run({"a"}).applications.front(),
                                 before = without.run({"a"}).applications.front();
  EXPECT_NEAR(alone.copied_ns, 2 * (with.in + with.out), 4);
  EXPECT_EQ(before.copied_ns, 0);
  EXPECT_NEAR(alone.turnaround_ns, alone.gpu_ns + alone.copied_ns, 4);
  EXPECT_EQ(alone.slowdown_turnaround(), 1);
  // What was copied anew is not in L2: both launches bring it there.
  EXPECT_NEAR(alone.kernels[0].together->l2_misses, 2 * before.kernels[0].together->l2_misses,
              0.1 * before.kernels[0].together->l2_misses);
  const corun::MixResult both = with.run({"a", "b"});
  const corun::ApplicationResult &a = both.applications[0], &b = both.applications[1];
  EXPECT_NEAR(a.copied_alone_ns, alone.copied_ns, 4);
  EXPECT_GE(b.copied_ns, b.copied_alone_ns + 0.99 * with.in) << "the second waits for the engine";
  EXPECT_GT(b.slowdown_turnaround(), 1);
  EXPECT_GE(both.makespan_ns, std::max(a.turnaround_ns, b.turnaround_ns));
}

TEST(CycleHost, NothingToRunIsAnError) {
  const Folder folder;
  CycleHost cycle(four_sms(), {});
  try {
    cycle.add("empty", record(folder.path, "empty", {}), 1, 0, "test");
    FAIL() << "accepted";
  } catch (const Error& e) { EXPECT_EQ(e.id(), "corun-recording"); }
}

}  // namespace
}  // namespace simtlab::corun::cycle
