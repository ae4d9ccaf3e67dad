// What observers collect adds up to what the kernel's own counters say, and observing changes nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "simulator.h"
#include "timing/load_latency.h"
#include "timing/stall.h"

namespace simtlab::timing {
namespace {

// Scattered loads with reuse, shared memory with bank conflicts, a barrier, an atomic, a divergent branch.
const char* busy_kernel = R"(
.visible .entry busy(.param .u64 x, .param .u64 y) {
  .reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .f32 %f<6>; .reg .pred %p<2>;
  .shared .align 4 .b8 tile[8192];
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.lo.u32 %r5, %r4, 167;
  and.b32 %r5, %r5, 16383;
  mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [%rd4+64];
  shl.b32 %r6, %r3, 3; and.b32 %r6, %r6, 8191; mov.u32 %r7, tile; add.u32 %r7, %r7, %r6;
  st.shared.f32 [%r7], %f1;
  bar.sync 0;
  ld.shared.f32 %f3, [%r7];
  add.f32 %f4, %f2, %f3;
  and.b32 %r8, %r3, 1; setp.eq.u32 %p1, %r8, 0;
  @%p1 bra SKIP;
  atom.global.add.u32 %r9, [%rd2], 1;
SKIP:
  add.u64 %rd5, %rd2, %rd3;
  st.global.f32 [%rd5+4], %f4;
  ret;
})";

result::KernelResult run_busy(const device::Device& device, const Options& options = {}) {
  Simulator s(device, busy_kernel, options);
  const std::uint64_t x = s.allocate(1 << 17), y = s.allocate(1 << 17);
  s.run("busy", {8, 1, 1}, {256, 1, 1}, x, y);  // L2 is warm in the run that counts
  return s.run("busy", {200, 1, 1}, {256, 1, 1}, x, y);
}

Options observing() {
  Options o;
  o.observe.lines = true;
  return o;
}

std::uint64_t total(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

class EveryDevice : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Observers, EveryDevice, testing::ValuesIn(all_devices()),
                         [](const auto& p) { return test_name(p.param); });

TEST_P(EveryDevice, ObservingChangesNothing) {
  Options all = observing();
  all.observe.series = 50;
  all.observe.timeline = {0, 1000, TimelineWindow::all_sms};
  const auto plain = run_busy(device_of(GetParam())), seen = run_busy(device_of(GetParam()), all);
  for (const auto& v : plain.metrics.values())
    EXPECT_EQ(v.real, seen.metrics.get(v.name).value_or(-1)) << v.name;
  EXPECT_TRUE(plain.profile.empty());
  EXPECT_FALSE(plain.metrics.get("load.latency"));
}

TEST_P(EveryDevice, SlotsOfLinesAddUpToThoseOfTheKernel) {
  const auto r = run_busy(device_of(GetParam()), observing());
  EXPECT_EQ(static_cast<double>(total(r.profile.slots)), metric(r, "scheduler.slots"));
  for (std::size_t i = 0; i < stall_count; ++i) {
    std::uint64_t lines = 0;
    for (const auto& line : r.profile.lines) lines += line.slots[i];
    if (static_cast<Stall>(i) == Stall::no_warp)
      EXPECT_EQ(lines, 0u) << "a slot without a warp belongs to no line";
    else
      EXPECT_EQ(lines, r.profile.slots[i]) << r.profile.reasons[i];
  }
}

TEST_P(EveryDevice, WorkOfLinesAddsUpToThatOfTheKernel) {
  const auto r = run_busy(device_of(GetParam()), observing());
  result::LineProfile sum;
  for (const auto& line : r.profile.lines) {
    sum.instructions += line.instructions;
    sum.threads += line.threads;
    sum.requests += line.requests;
    sum.shared_passes += line.shared_passes;
    sum.shared_conflicts += line.shared_conflicts;
    sum.loads += line.loads;
    sum.load_cycles += line.load_cycles;
  }
  EXPECT_EQ(static_cast<double>(sum.instructions), metric(r, "gpu.instructions.warp"));
  EXPECT_EQ(static_cast<double>(sum.threads), metric(r, "gpu.instructions.thread"));
  EXPECT_EQ(
      static_cast<double>(sum.requests),
      metric(r, "global.load.requests") + metric(r, "global.store.requests") + metric(r, "atomic.requests"));
  EXPECT_EQ(static_cast<double>(sum.shared_passes), metric(r, "shared.wavefronts"));
  EXPECT_EQ(static_cast<double>(sum.shared_conflicts), metric(r, "shared.bank_conflicts"));
  EXPECT_EQ(static_cast<double>(sum.loads), metric(r, "load.count"));
  EXPECT_DOUBLE_EQ(static_cast<double>(sum.load_cycles), metric(r, "load.count") * metric(r, "load.latency"));
}

double stages(const result::KernelResult& r) {
  double sum = 0;
  for (const auto& v : r.metrics.values())
    if (v.name.starts_with("load.latency.")) sum += v.real;
  return sum;
}

TEST_P(EveryDevice, PartsOfTheLoadLatencyAddUp) {
  const auto r = run_busy(device_of(GetParam()), observing());
  EXPECT_GT(metric(r, "load.count"), 3000);
  EXPECT_NEAR(stages(r), metric(r, "load.latency"), 1e-9 * metric(r, "load.latency"));
  device::Device detailed = device_of(GetParam());
  if (detailed.dram.technology.empty()) return;
  detailed.dram.model = "device";
  const auto d = run_busy(detailed, observing());
  EXPECT_NEAR(stages(d), metric(d, "load.latency"), 1e-9 * metric(d, "load.latency"));
}

TEST(LoadLatency, AloneALoadWaitsNowhere) {
  const char* text = R"(
.visible .entry one(.param .u64 x) {
  .reg .b64 %rd<4>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  ld.global.f32 %f1, [%rd1];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd1+128], %f2;
  ret;
})";
  Simulator s(device_of("v100"), text, observing());
  const auto r = s.run("one", {1, 1, 1}, {1, 1, 1}, s.allocate(4096));
  EXPECT_NEAR(metric(r, "load.latency"), s.device.dram.latency, 1);
  for (const char* queue : {"l1_queue", "mshr", "l2_queue", "dram_queue"})
    EXPECT_EQ(metric(r, (std::string("load.latency.") + queue).c_str()), 0) << queue;
  EXPECT_NEAR(metric(r, "load.latency.dram"), s.device.dram.latency - s.device.l2.latency, 1);
  ASSERT_FALSE(r.profile.lines.empty());
  // The consumer of the load is charged with the wait, not the load.
  const auto line =
      std::ranges::find_if(r.profile.lines, [](const auto& l) { return l.ptx.starts_with("add.f32"); });
  ASSERT_NE(line, r.profile.lines.end());
  EXPECT_GT(line->slots[static_cast<std::size_t>(Stall::long_scoreboard)], s.device.dram.latency - 10);
}

TEST(LoadLatency, ABusyMemoryShowsInItsQueue) {
  device::Device small = device_of("v100");  // whose L2 does not hold the data
  small.l2.bytes /= 64;
  device::Device narrow = small;
  narrow.dram.bandwidth = narrow.dram.bandwidth_measured = 20e9;
  const auto wide = run_busy(small, observing()), slow = run_busy(narrow, observing());
  EXPECT_GT(metric(slow, "load.latency.dram_queue"), 4 * metric(wide, "load.latency.dram_queue") + 50);
}

TEST(LoadLatency, FewMissRegistersShowAsSuch) {
  device::Device few = device_of("v100");
  few.l1.mshr_entries = 2;
  EXPECT_GT(metric(run_busy(few, observing()), "load.latency.mshr"), 100);
}

TEST(Series, RowsAddUpToTheKernel) {
  Options o;
  o.observe.series = 200;
  const auto r = run_busy(device_of("v100"), o);
  ASSERT_GT(r.series.rows.size(), 2u);
  double instructions = 0, l1 = 0, before = 0;
  for (const auto& row : r.series.rows) {
    ASSERT_EQ(row.size(), r.series.columns.size());
    EXPECT_GT(row[0], before);
    before = row[0];
    instructions += row[1];
    l1 += row[4];
    double stalls = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      if (r.series.columns[i].starts_with("stall.")) stalls += row[i];
    EXPECT_NEAR(stalls, 1, 1e-9);
  }
  EXPECT_EQ(before, metric(r, "gpu.cycles"));
  EXPECT_EQ(instructions, metric(r, "gpu.instructions.warp"));
  EXPECT_EQ(l1, metric(r, "l1.read.accesses"));
}

TEST(Timeline, HoldsTheInstructionsOfTheWindowAndItsSm) {
  Options o;
  o.observe.timeline = {0, ~std::uint64_t{0}, 1};
  Simulator s(device_of("v100"), busy_kernel, o);
  const std::uint64_t x = s.allocate(1 << 17), y = s.allocate(1 << 17);
  const auto r = s.run("busy", {160, 1, 1}, {256, 1, 1}, x, y);
  result::Timeline timeline;
  s.gpu.move_timeline_to(timeline);
  std::map<result::TimelineEvent::Kind, std::uint64_t> count;
  for (const auto& e : timeline.events) {
    EXPECT_EQ(e.sm, 1u);
    EXPECT_LE(e.at + e.length, cycles(r) + 1);
    ++count[e.kind];
  }
  // 160 equal blocks on 80 SMs.
  EXPECT_EQ(count[result::TimelineEvent::Kind::block], 2u);
  EXPECT_EQ(static_cast<double>(count[result::TimelineEvent::Kind::instruction]),
            metric(r, "gpu.instructions.warp") / 80);
  EXPECT_EQ(static_cast<double>(count[result::TimelineEvent::Kind::load]), 2 * 8 * 3.0);
  EXPECT_EQ(timeline.left_out, 0u);
}

// Each warp is in one state at a time, from the cycle after the launch of its block to its last instruction,
// and issues as often as slots were given.
TEST(Timeline, StatesOfWarpsFollowEachOther) {
  Options o;
  o.observe.timeline = {
      .from = 0, .to = ~std::uint64_t{0}, .sm = TimelineWindow::all_sms, .events = false, .states = true};
  Simulator s(device_of("v100"), busy_kernel, o);
  const std::uint64_t x = s.allocate(1 << 17), y = s.allocate(1 << 17);
  const auto r = s.run("busy", {160, 1, 1}, {256, 1, 1}, x, y);
  result::Timeline timeline;
  s.gpu.move_timeline_to(timeline);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const result::TimelineEvent*>> warps;
  std::map<std::string_view, double> cycles_of;
  for (const auto& e : timeline.events) {
    if (e.kind == result::TimelineEvent::Kind::block) continue;
    ASSERT_EQ(e.kind, result::TimelineEvent::Kind::state);
    warps[{e.sm, e.slot}].push_back(&e);
    cycles_of[e.name] += static_cast<double>(e.length);
  }
  EXPECT_EQ(warps.size(), 80u * 16);  // two blocks of eight warps an SM
  for (const auto& [warp, states] : warps)
    for (std::size_t i = 1; i < states.size(); ++i)
      EXPECT_EQ(states[i - 1]->at + states[i - 1]->length, states[i]->at) << warp.first << " " << warp.second;
  EXPECT_EQ(cycles_of["selected"], std::round(metric(r, "stall.selected") * metric(r, "scheduler.slots")));
  EXPECT_GT(cycles_of["long_scoreboard"], cycles_of["selected"]);
  EXPECT_EQ(timeline.left_out, 0u);
}

// The same as a table: what is cut says so, and until when it is whole.
TEST(Timeline, TheTableOfAResultIsBounded) {
  result::Timeline timeline{.from = 100, .to = 1'000'000, .events = {}, .left_out = 0};
  for (std::uint64_t i = 0; i < 7000; ++i)
    timeline.events.push_back({result::TimelineEvent::Kind::state, i % 2 == 0 ? "selected" : "wait", 0, 3,
                               90 + 10 * i, 10, 0, 0, 0});
  result::Result r;
  result::add_sm_timeline(r, timeline);
  EXPECT_TRUE(r.total.values().empty());  // no kernel, no table
  r.kernels.emplace_back();
  result::add_sm_timeline(r, timeline);
  ASSERT_EQ(r.kernels[0].tables.size(), 1u);
  EXPECT_LE(r.kernels[0].tables[0].rows.size(), result::most_timeline_rows);
  EXPECT_EQ(r.total.get("timeline.from"), 100.0);
  EXPECT_EQ(r.total.get("timeline.left_out"), 1000.0);
  EXPECT_EQ(r.total.get("timeline.to"), 90.0 + 10 * 6000);
}

// hits + hits under way + misses = accesses; the rest of the laws are checked at the end of every kernel
// (CycleGpu::Impl::check_end).
TEST_P(EveryDevice, CacheAccessesAreConserved) {
  const auto r = run_busy(device_of(GetParam()));
  for (const std::string level : {"l1", "l2"})
    EXPECT_EQ(metric(r, (level + ".read.hits").c_str()) + metric(r, (level + ".read.hits_pending").c_str()) +
                  metric(r, (level + ".read.misses").c_str()),
              metric(r, (level + ".read.accesses").c_str()))
        << level;
}

}  // namespace
}  // namespace simtlab::timing
