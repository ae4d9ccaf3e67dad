// The parts of a Gpu, each without the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "gpu/copy_counters.h"
#include "gpu/device_memory.h"
#include "gpu/gpu.h"
#include "gpu/host_speed.h"
#include "gpu/kept_results.h"
#include "gpu/launch_numbers.h"
#include "gpu/module_table.h"
#include "gpu/texture_table.h"
#include "gpu/trace_recorder.h"
#include "stream/trace/reader.h"

namespace simtlab::gpu {
namespace {

TEST(DeviceMemory, RemembersTheMostThatWasAllocatedAndWhatIsLeftOfTheHost) {
  DeviceMemory memory(1 << 20, 1 << 18);
  const auto first = memory.allocate(1 << 17, "a");
  ASSERT_TRUE(first);
  const std::uint64_t peak = memory.peak_bytes();
  EXPECT_GE(peak, 1u << 17);
  EXPECT_EQ(memory.host_room(), (1u << 18) - memory.global().used());
  EXPECT_TRUE(memory.release(*first));
  EXPECT_FALSE(memory.release(*first));
  EXPECT_EQ(memory.peak_bytes(), peak);
  memory.set_peak(7);
  EXPECT_EQ(memory.peak_bytes(), 7u);
}

TEST(DeviceMemory, NeverSaysThatNothingIsLeft) {
  DeviceMemory memory(1 << 20, 1);
  EXPECT_EQ(memory.host_room(), 1u);  // 0 would mean no limit
}

constexpr const char* module_text = R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 counter = 41;
.shared .align 4 .u32 scratch;
.visible .entry one() { ret; }
.visible .entry two() { ret; }
.func helper() { ret; }
)";

TEST(ModuleTable, FindsKernelsAndVariables) {
  DeviceMemory memory(1 << 20, 1 << 20);
  ModuleTable modules;
  const ModuleTable::Id id = modules.load("test.ptx", module_text, memory.global());
  EXPECT_TRUE(modules.find_kernel(id, "one"));
  EXPECT_NE(modules.find_kernel(id, "one"), modules.find_kernel(id, "two"));
  EXPECT_FALSE(modules.find_kernel(id, "helper"));  // no kernel
  EXPECT_FALSE(modules.at(id).uses_heap);
  const auto counter = modules.find_symbol(id, "counter");
  ASSERT_TRUE(counter);
  EXPECT_EQ(counter->bytes, 4u);
  EXPECT_NE(memory.global().find(counter->address, 4), nullptr);
  EXPECT_FALSE(modules.find_symbol(id, "scratch"));
  EXPECT_FALSE(modules.find_symbol(id, "nothing"));
}

TEST(ModuleTable, GivesNoNumberTwice) {
  DeviceMemory memory(1 << 20, 1 << 20);
  ModuleTable modules;
  const auto first = modules.load("a", module_text, memory.global());
  modules.unload(first);
  EXPECT_NE(modules.load("b", module_text, memory.global()), first);
}

TEST(TextureTable, GivesTheLowestFreeHandleAndSnapshotsUntilAChange) {
  TextureTable textures;
  exec::Texture texture;
  texture.address = 256;
  EXPECT_EQ(textures.create(texture), 1u);
  EXPECT_EQ(textures.create(texture), 2u);
  const auto before = textures.snapshot();
  EXPECT_EQ(textures.snapshot(), before);
  EXPECT_TRUE(textures.destroy(1));
  EXPECT_FALSE(textures.destroy(1));
  EXPECT_FALSE(textures.destroy(0));
  EXPECT_EQ(textures.find(1), nullptr);
  EXPECT_NE(textures.snapshot(), before);
  EXPECT_EQ((*before)[0].address, 256u);  // a launch keeps what it saw
  EXPECT_EQ(textures.create(texture), 1u);
  textures.clear();
  EXPECT_EQ(textures.find(2), nullptr);
}

TEST(LaunchNumbers, CountsLaunchesAndThoseThatAreNotChosen) {
  LaunchNumbers numbers(KernelChoice("a:2"));
  EXPECT_FALSE(numbers.next("a", "a").chosen);
  EXPECT_FALSE(numbers.next("b", "b").chosen);
  const LaunchNumbers::Launch third = numbers.next("a", "a");
  EXPECT_TRUE(third.chosen);
  EXPECT_EQ(third.number, 3u);
  EXPECT_EQ(numbers.launches(), 3u);
  EXPECT_EQ(numbers.skipped(), 2u);
  LaunchNumbers all{KernelChoice()};
  EXPECT_TRUE(all.next("a", "a").chosen);
}

TEST(CopyCounters, KeepsKindsApart) {
  CopyCounters copies;
  copies.add_copy(0, 10, 1.5), copies.add_copy(2, 30, 2), copies.add_fill(5, 1);
  EXPECT_THAT(copies.copied_bytes(), testing::ElementsAre(10u, 0u, 30u));
  EXPECT_EQ(copies.filled_bytes(), 5u);
  EXPECT_EQ(copies.count(), 3u);
  EXPECT_EQ(copies.ns(), 4.5);
}

result::KernelResult result_of(std::string name, std::uint64_t cycles, std::size_t rows = 0) {
  result::KernelResult r;
  r.name = std::move(name);
  r.metrics.set("gpu.cycles", cycles);
  r.series.interval = 1;
  r.series.columns = {"end"};
  for (std::size_t i = 1; i <= rows; ++i) r.series.rows.push_back({static_cast<double>(i)});
  return r;
}

TEST(KeptResults, StandInTheOrderOfTheLaunchesAndMergeBeyondTheBound) {
  std::vector<std::string> told;
  KeptResults kept(
      [&](const EndedKernel& k) {
        told.push_back(k.kernel.name + std::to_string(k.number) + (k.merged ? "m" : ""));
      },
      {.launches = 2});
  kept.keep(2, result_of("b", 20));
  kept.keep(1, result_of("a", 10));
  kept.keep(4, result_of("c", 1));
  kept.keep(3, result_of("c", 2));
  EXPECT_THAT(told, testing::ElementsAre("b2", "a1", "c4m", "c3m"));
  EXPECT_EQ(kept.ended(), 4u);
  const auto all = kept.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "b");
  EXPECT_EQ(all[2].launches, 2u);
  EXPECT_EQ(all[2].metrics.get("gpu.cycles"), 3);
}

TEST(KeptResults, HalvesTheLongestSeriesUntilAllFit) {
  KeptResults kept({}, {.series_rows = 10});
  kept.keep(1, result_of("a", 1, 4));
  kept.keep(2, result_of("b", 1, 8));
  const auto all = kept.all();
  EXPECT_EQ(all[0].series.rows.size(), 4u);
  EXPECT_LE(all[0].series.rows.size() + all[1].series.rows.size(), 10u);
}

TEST(KeptResults, AddsProfilesBeyondTheBoundToTheFirstOfTheKernel) {
  KeptResults kept({}, {.profile_lines = 1});
  for (std::uint64_t launch : {1, 2}) {
    result::KernelResult r = result_of("a", 1);
    r.profile.reasons = {"selected"};
    r.profile.slots = {1};
    r.profile.lines.resize(1);
    kept.keep(launch, std::move(r));
  }
  const auto all = kept.all();
  EXPECT_FALSE(all[0].profile.empty());
  EXPECT_TRUE(all[1].profile.empty());
}

TEST(TraceRecorder, WritesWhatItIsToldUntilItIsFinished) {
  using stream::trace::OpKind;
  const auto file = std::filesystem::path(testing::TempDir()) / "units_test.trace";
  TraceRecorder none({}, "nobody");
  EXPECT_FALSE(none.active());
  none.note(OpKind::create_event, {});
  none.finish();
  TraceRecorder recorder(file, "v100, timing");
  ASSERT_TRUE(recorder.active());
  recorder.note(OpKind::create_stream, {.flag = true, .a = 3});
  recorder.finish();
  EXPECT_FALSE(recorder.active());
  const auto reader = stream::trace::open(file);
  const auto operation = reader->next();
  ASSERT_TRUE(operation);
  EXPECT_EQ(operation->kind, OpKind::create_stream);
  EXPECT_TRUE(operation->flag);
  EXPECT_EQ(operation->a, 3u);
  EXPECT_FALSE(reader->next());
  std::filesystem::remove(file);
}

TEST(HostSpeed, TellsARateOnlyWhereSomethingWasExecuted) {
  HostSpeed speed;
  result::Metrics nothing, something;
  speed.set_totals(nothing);
  EXPECT_FALSE(nothing.get("host.rate.warp_instructions"));
  { const HostSpeed::Stopwatch watch(speed); }
  speed.add_instructions(1000);
  speed.set_totals(something);
  EXPECT_GT(something.get("host.rate.warp_instructions").value_or(0), 0);
  EXPECT_GT(something.get("host.peak_memory").value_or(0), 0);
}

}  // namespace
}  // namespace simtlab::gpu
