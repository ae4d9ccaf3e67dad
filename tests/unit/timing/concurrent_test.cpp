// Several launches at once on one GPU: who runs where, that they share what is there, and that nothing is
// lost between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "simulator.h"
#include "stream/executed.h"
#include "timing/active.h"
#include "timing/sharing.h"

namespace simtlab::timing {
namespace {

// spin: n dependent additions, then the thread's number into data. stream: copies n words a thread. wait: for
// data[0], then data[1] = 7.
constexpr const char* kernels = R"(
.visible .entry spin(.param .u64 data, .param .u32 n) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;
 again: mad.lo.u32 %r2, %r2, 3, 1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;
  mul.wide.u32 %rd2, %r6, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r6; ret; }
.visible .entry stream(.param .u64 to, .param .u64 from, .param .u32 n, .param .u32 threads) {
  .reg .b64 %rd<8>; .reg .b32 %r<10>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [to]; ld.param.u64 %rd4, [from]; ld.param.u32 %r1, [n]; ld.param.u32 %r8, [threads];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;
 again: mul.wide.u32 %rd2, %r6, 4; add.u64 %rd3, %rd1, %rd2; add.u64 %rd5, %rd4, %rd2;
  ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd3], %r7; add.u32 %r6, %r6, %r8; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again; ret; }
.visible .entry wait(.param .u64 data) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [data];
 again: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;
  st.global.u32 [%rd1+4], 7; ret; }
.visible .entry set(.param .u64 data, .param .u32 n) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>;
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n];
 again: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
  st.global.u32 [%rd1], 1; ret; }
.visible .entry shared_user(.param .u64 data, .param .u32 n) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p<4>; .shared .align 4 .b8 room[16384];
  ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [n]; mov.u32 %r2, room;
 again: st.shared.u32 [%r2], %r1; ld.shared.u32 %r3, [%r2]; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
  bar.sync 0; st.global.u32 [%rd1], %r3; ret; }
)";

struct Concurrent : testing::Test {
  explicit Concurrent() { begin({}); }
  void begin(const Options& options, const char* gpu = "v100") {
    s = std::make_unique<Simulator>(device_of(gpu), kernels, options);
  }

  template <class... T>
  CycleGpu::Id start(const CycleGpu::Setup& setup, std::uint64_t at, const char* kernel, unsigned blocks,
                     unsigned threads, T... values) {
    launches.push_back(s->prepare(kernel, {blocks, 1, 1}, {threads, 1, 1}, values...));
    sources.push_back(std::make_unique<stream::ExecutedLaunch>(*launches.back()));
    return s->gpu.begin(*sources.back(), setup, at);
  }
  // In the order in which they end.
  std::vector<std::pair<CycleGpu::Id, CycleGpu::Ended>> finish() {
    std::vector<std::pair<CycleGpu::Id, CycleGpu::Ended>> out;
    while (const auto id = s->gpu.advance(~std::uint64_t{0})) out.emplace_back(*id, s->gpu.finish(*id));
    EXPECT_TRUE(s->gpu.idle());
    return out;
  }
  static const CycleGpu::Ended& of(const std::vector<std::pair<CycleGpu::Id, CycleGpu::Ended>>& all,
                                   CycleGpu::Id id) {
    return std::ranges::find(all, id, &std::pair<CycleGpu::Id, CycleGpu::Ended>::first)->second;
  }
  std::uint64_t alone(const char* kernel, unsigned blocks, unsigned threads, auto... values) {
    return cycles(s->run(kernel, {blocks, 1, 1}, {threads, 1, 1}, values...));
  }

  std::unique_ptr<Simulator> s;
  std::vector<std::unique_ptr<exec::Launch>> launches;
  std::vector<std::unique_ptr<stream::ExecutedLaunch>> sources;
};

TEST_F(Concurrent, WithColdCachesOneLaunchRunsAtATime) {
  Options options;
  options.cold_caches = true;
  begin(options);
  EXPECT_FALSE(s->gpu.full());
  start({}, 0, "spin", 1, 32, s->allocate(256), 10u);
  EXPECT_TRUE(s->gpu.full());
  finish();
}

TEST_F(Concurrent, SmallKernelsTakeNoLongerThanAlone) {
  const std::uint64_t data = s->allocate(4096);
  const std::uint64_t one = alone("spin", 4, 64, data, 1000u);
  const auto a = start({}, 0, "spin", 4, 64, data, 1000u),
             b = start({}, 0, "spin", 4, 64, data + 2048, 1000u);
  const auto ended = finish();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_NEAR(static_cast<double>(of(ended, a).end), static_cast<double>(one), 60);
  EXPECT_NEAR(static_cast<double>(of(ended, b).end), static_cast<double>(one), 60);
  EXPECT_GT(metric(of(ended, a).result, "gpu.overlap"), 0.98);
  EXPECT_EQ(metric(of(ended, a).result, "gpu.blocks"), 4);
  std::vector<std::uint32_t> memory(1024);
  s->memory.read(data, std::as_writable_bytes(std::span(memory)));
  for (std::uint32_t i = 0; i < 256; ++i) ASSERT_EQ(memory[i] + memory[512 + i], 2 * i);
}

TEST_F(Concurrent, ALoneKernelIsCountedAsBefore) {
  const std::uint64_t data = s->allocate(1 << 16);
  const result::Metrics before = s->run("spin", {100, 1, 1}, {64, 1, 1}, data, 100u).metrics;
  start({}, 0, "spin", 100, 64, data, 100u);
  const auto ended = finish();
  Simulator fresh(s->device, kernels);
  const std::uint64_t same = fresh.allocate(1 << 16);
  EXPECT_EQ(fresh.run("spin", {100, 1, 1}, {64, 1, 1}, same, 100u).metrics, before);
  EXPECT_EQ(ended[0].second.result.metrics.get("gpu.cycles"), before.get("gpu.cycles"));
  EXPECT_FALSE(before.get("gpu.overlap").has_value());
}

// A grid of many waves holds the GPU; the other one gets in when its last blocks leave room, and then they
// overlap.
TEST_F(Concurrent, TheSecondGetsWhatTheFirstLeaves) {
  const std::uint64_t data = s->allocate(8 << 20);
  const std::uint64_t one = alone("spin", 80 * 8 * 3, 256, data, 60u);
  const auto a = start({}, 0, "spin", 80 * 8 * 3, 256, data, 60u),
             b = start({}, 0, "spin", 8, 256, data, 60u);
  const auto ended = finish();
  EXPECT_EQ(ended[0].first, a);
  EXPECT_NEAR(static_cast<double>(of(ended, a).end), static_cast<double>(one),
              0.03 * static_cast<double>(one));
  EXPECT_GT(of(ended, b).end, one / 2);
}

// The first fills every SM with one block and ends on all at once, some cycles before the end of the step in
// which the other still waits for a place.
TEST_F(Concurrent, SlotsBehindALaunchsEndAreNotItsOwn) {
  begin({}, "rtx2060");
  const std::uint64_t data = s->allocate(8 << 20);
  const unsigned sms = s->device.sm.count;
  for (const unsigned rounds : {1u, 7u, 40u}) {
    const auto a = start({}, 0, "spin", sms, 1024, data, rounds),
               b = start({}, 0, "spin", sms, 1024, data, rounds);
    const auto ended = finish();
    for (const auto id : {a, b}) {
      double slots = 0;
      for (const result::Metrics::Value& v : of(ended, id).result.metrics.values())
        if (v.name.starts_with("stall.")) slots += v.real;
      EXPECT_NEAR(slots, 1, 1e-9);
    }
  }
}

TEST_F(Concurrent, HigherPriorityIsServedFirst) {
  const std::uint64_t data = s->allocate(8 << 20);
  const auto a = start({}, 0, "spin", 80 * 8 * 6, 256, data, 60u);
  ASSERT_FALSE(s->gpu.advance(1000).has_value());
  const auto b = start({.priority = 1}, 1000, "spin", 8, 256, data, 60u);
  const auto ended = finish();
  EXPECT_EQ(ended[0].first, b);  // its blocks went to the first places that became free
  EXPECT_LT(2 * of(ended, b).end, of(ended, a).end);
  EXPECT_GE(of(ended, b).begin, 1000u);
}

TEST_F(Concurrent, SpatialSharingGivesEachItsOwnSms) {
  begin({.share = SharePolicy::spatial});
  const std::uint64_t data = s->allocate(8 << 20);
  const std::uint64_t one = alone("spin", 80 * 8, 256, data, 100u);
  const auto a = start({}, 0, "spin", 40 * 8, 256, data, 100u),
             b = start({}, 0, "spin", 40 * 8, 256, data, 100u);
  const auto ended = finish();
  EXPECT_NEAR(static_cast<double>(of(ended, a).end), static_cast<double>(one),
              0.02 * static_cast<double>(one));
  EXPECT_NEAR(static_cast<double>(of(ended, b).end), static_cast<double>(one),
              0.02 * static_cast<double>(one));
  EXPECT_LE(metric(of(ended, a).result, "gpu.sm.active"), 0.5 + 1e-9);
}

TEST(Sharing, SpatialDividesTheSmsAndSmkEachSm) {
  std::array<LaunchContext, 3> launches;
  std::vector<LaunchContext*> all;
  for (LaunchContext& launch : launches) {
    launch.occupancy.blocks_per_sm = 8;
    all.push_back(&launch);
  }
  share(SharePolicy::spatial, 80, all);
  EXPECT_EQ(launches[0].first_sm, 0u);
  EXPECT_EQ(launches[0].end_sm, launches[1].first_sm);
  EXPECT_EQ(launches[1].end_sm, launches[2].first_sm);
  EXPECT_EQ(launches[2].end_sm, 80u);
  EXPECT_EQ(launches[1].blocks_per_sm, 8u);
  share(SharePolicy::smk, 80, all);
  EXPECT_EQ(launches[1].first_sm, 0u);
  EXPECT_EQ(launches[1].end_sm, 80u);
  EXPECT_EQ(launches[1].blocks_per_sm, 2u);
  launches[2].own_first_sm = 10;
  launches[2].own_sms = 5;
  share(SharePolicy::leftover, 80, all);
  EXPECT_EQ(launches[2].first_sm, 10u);
  EXPECT_EQ(launches[2].end_sm, 15u);
  share(SharePolicy::spatial, 2, all);  // more launches than SMs
  for (const LaunchContext& launch : launches) EXPECT_LT(launch.first_sm, launch.end_sm);
}

TEST(Sharing, EveryPolicyIsKnownByItsName) {
  for (const char* name : {"leftover", "spatial", "smk", "serial"}) {
    ASSERT_TRUE(share_policy(name).has_value()) << name;
    EXPECT_EQ(name_of(*share_policy(name)), name);
  }
  EXPECT_FALSE(share_policy("mps").has_value());
}

TEST_F(Concurrent, AKernelBoundToSmsStaysThere) {
  const std::uint64_t data = s->allocate(8 << 20);
  const std::uint64_t free = alone("spin", 80, 64, data, 1000u);
  const auto a = start({.first_sm = 4, .sms = 2}, 0, "spin", 256, 256, data, 300u);
  const auto b = start({.first_sm = 6, .sms = 74}, 0, "spin", 74, 64, data, 1000u);
  const auto ended = finish();
  // Two SMs hold 16 blocks of a: 16 turns; b is as alone.
  EXPECT_GT(of(ended, a).end, of(ended, b).end);
  EXPECT_NEAR(static_cast<double>(of(ended, b).end), static_cast<double>(free), 60);
  EXPECT_LE(metric(of(ended, a).result, "gpu.sm.active"), 2.0 / 80 + 1e-9);
}

TEST_F(Concurrent, AKernelIsNotBoundToSmsThatTheDeviceLacks) {
  const std::uint64_t data = s->allocate(1 << 16);
  EXPECT_THROW(start({.first_sm = 80, .sms = 1}, 0, "spin", 1, 64, data, 10u), std::logic_error);
  EXPECT_THROW(start({.first_sm = 79, .sms = 2}, 0, "spin", 1, 64, data, 10u), std::logic_error);
  EXPECT_TRUE(s->gpu.idle());
  start({.first_sm = 79, .sms = 1}, 0, "spin", 1, 64, data, 10u);
  EXPECT_EQ(finish().size(), 1u);
}

// Work is counted as alone, times are longer, and what belongs to nobody in particular is divided without
// loss.
TEST_F(Concurrent, CountersAreThoseOfTheirKernel) {
  const std::uint32_t n = 16, threads = 80 * 4 * 128;
  const std::uint64_t bytes = std::uint64_t{n} * threads * 4;
  const std::uint64_t a = s->allocate(bytes), b = s->allocate(bytes), c = s->allocate(bytes),
                      d = s->allocate(bytes);
  const result::KernelResult one = s->run("stream", {80 * 4, 1, 1}, {128, 1, 1}, a, b, n, threads);
  begin({});
  for (int i = 0; i < 4; ++i) s->allocate(bytes);
  start({}, 0, "stream", 80 * 4, 128, a, b, n, threads);
  start({}, 0, "stream", 80 * 4, 128, c, d, n, threads);
  const auto ended = finish();
  double read = 0;
  for (const auto& [id, e] : ended) {
    for (const char* name :
         {"gpu.instructions.warp", "gpu.instructions.thread", "global.load.sectors", "l1.read.accesses",
          "l2.read.accesses", "l2.write.accesses", "interconnect.write.bytes"})
      EXPECT_EQ(metric(e.result, name), metric(one, name)) << name;
    EXPECT_GT(cycles(e.result), cycles(one));
    EXPECT_EQ(metric(e.result, "l1.read.accesses"), metric(e.result, "l1.read.hits") +
                                                        metric(e.result, "l1.read.hits_pending") +
                                                        metric(e.result, "l1.read.misses"));
    double slots = 0;
    for (const auto& v : e.result.metrics.values())
      if (v.name.starts_with("stall.")) slots += v.real;
    EXPECT_NEAR(slots, 1, 1e-9);
    read += metric(e.result, "dram.read.bytes");
    EXPECT_NEAR(metric(e.result, "dram.read.bytes"), metric(one, "dram.read.bytes"),
                0.1 * metric(one, "dram.read.bytes"));
    EXPECT_FALSE(e.result.metrics.get("dram.partition.imbalance").has_value());
  }
  EXPECT_EQ(read, 2 * metric(one, "dram.read.bytes"));
}

TEST(SharedUse, TheLastSectorIsDividedToo) {
  ActiveLaunch a(0, 0), b(1, 0), c(2, 0);
  std::array<ActiveLaunch*, 3> all = {&a, &b, &c};
  SharedUse used;
  used.parts.fill(1000);
  apportion(used, all, std::array<std::uint64_t, 3>{1, 1, 1});
  EXPECT_EQ(a.use.parts[0], 334u);
  EXPECT_EQ(b.use.parts[0], 333u);
  apportion(used, all, std::array<std::uint64_t, 3>{0, 0, 0});
  apportion(used, all, std::array<std::uint64_t, 3>{0, ~std::uint64_t{0} / 2, 7});
  for (std::size_t i = 0; i < used.parts.size(); ++i)
    EXPECT_EQ(a.use.parts[i] + b.use.parts[i] + c.use.parts[i], 3000u);
}

// What one writes, the other sees while both run.
TEST_F(Concurrent, AKernelSeesWhatAnotherWrites) {
  const std::uint64_t data = s->upload(std::vector<std::uint32_t>(2));
  const auto waiter = start({}, 0, "wait", 1, 32, data), setter = start({}, 0, "set", 1, 32, data, 2000u);
  const auto ended = finish();
  EXPECT_EQ(ended[0].first, setter);
  EXPECT_EQ(ended[1].first, waiter);
  std::vector<std::uint32_t> memory(2);
  s->memory.read(data, std::as_writable_bytes(std::span(memory)));
  EXPECT_EQ(memory[1], 7u);
}

// Where shared memory and L1 are one, the first one's part decides; on a GTX 480 they are apart.
TEST_F(Concurrent, SharedMemoryIsDividedBetweenThem) {
  for (const char* gpu : {"v100", "gtx480"}) {
    begin({}, gpu);
    const std::uint64_t data = s->allocate(1 << 16);
    const unsigned sms = s->device.sm.count;
    const std::uint64_t one = alone("shared_user", sms, 64, data, 500u);
    const auto a = start({}, 0, "shared_user", sms, 64, data, 500u),
               b = start({}, 0, "shared_user", sms, 64, data, 500u);
    const auto ended = finish();
    EXPECT_LT(of(ended, a).end, one + one / 5) << gpu;
    EXPECT_LT(of(ended, b).end, one + one / 5) << gpu;
  }
}

TEST_F(Concurrent, AnyNumberOfThreadsGivesTheSame) {
  const auto run = [&](unsigned threads) {
    begin({.threads = threads});
    const std::uint32_t n = 4, t = 80 * 4 * 128;
    const std::uint64_t a = s->allocate(std::uint64_t{n} * t * 4), b = s->allocate(std::uint64_t{n} * t * 4);
    start({}, 0, "stream", 80 * 4, 128, a, b, n, t);
    start({}, 0, "spin", 80 * 8, 256, a, 100u);
    EXPECT_FALSE(s->gpu.advance(2000).has_value());
    start({.priority = 3}, 2000, "stream", 10, 64, a, b, n, 640u);
    return finish();
  };
  const auto one = run(1);
  ASSERT_EQ(one.size(), 3u);
  for (const unsigned threads : {2u, 3u}) {
    const auto many = run(threads);
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(many[i].first, one[i].first);
      EXPECT_EQ(many[i].second.end, one[i].second.end);
      EXPECT_EQ(many[i].second.result.metrics, one[i].second.result.metrics);
    }
  }
}

TEST_F(Concurrent, TheLimitOfOneStopsAllAndEachHasAPartialResult) {
  begin({.max_cycles = 5000});
  const std::uint64_t data = s->allocate(1 << 16);
  start({}, 0, "spin", 4, 64, data, 1000000u);
  EXPECT_FALSE(s->gpu.advance(3000).has_value());
  start({}, 3000, "spin", 2, 64, data, 1000000u);
  try {
    finish();
    FAIL() << "no limit";
  } catch (const Error& error) { EXPECT_EQ(error.id(), "limit-cycles"); }
  const auto partial = s->gpu.partial();
  ASSERT_EQ(partial.size(), 2u);
  EXPECT_GE(cycles(partial[0].result), 5000u);
  EXPECT_LT(cycles(partial[1].result), cycles(partial[0].result) - 2900);
  EXPECT_GT(metric(partial[1].result, "gpu.instructions.warp"), 0);
  EXPECT_EQ(partial[0].begin, 0u);
  EXPECT_GE(partial[1].begin, 3000u);
  for (const CycleGpu::Ended& p : partial) EXPECT_EQ(p.end - p.begin, cycles(p.result));
  EXPECT_TRUE(s->gpu.idle());
  EXPECT_GT(alone("spin", 4, 64, data, 10u), 0u);  // it goes on
}

TEST_F(Concurrent, ObserversKeepThemApart) {
  Options options;
  options.observe.lines = true;
  options.observe.series = 500;
  begin(options);
  const std::uint64_t data = s->allocate(1 << 20);
  start({}, 0, "spin", 40, 64, data, 400u);
  EXPECT_FALSE(s->gpu.advance(700).has_value());
  start({}, 700, "spin", 40, 64, data, 200u);
  const auto ended = finish();
  ASSERT_EQ(ended.size(), 2u);
  for (const auto& [id, e] : ended) {
    std::uint64_t instructions = 0;
    for (const auto& line : e.result.profile.lines) instructions += line.instructions;
    EXPECT_EQ(static_cast<double>(instructions), metric(e.result, "gpu.instructions.warp"));
    ASSERT_FALSE(e.result.series.rows.empty());
    EXPECT_EQ(e.result.series.rows.back()[0], metric(e.result, "gpu.cycles"));
  }
}

}  // namespace
}  // namespace simtlab::timing
