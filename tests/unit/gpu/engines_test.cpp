// The engines of kernels, each without the Gpu: jobs go in, results come out at a sink.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "device/catalogue.h"
#include "gpu/cache_kernels.h"
#include "gpu/cycle_kernels.h"
#include "gpu/launch_checkpoint.h"
#include "gpu/module_table.h"
#include "gpu/prediction_kernels.h"
#include "gpu/untimed_kernels.h"
#include "stream/executed.h"

namespace simtlab::gpu {
namespace {

constexpr const char* text = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add_one(.param .u64 x)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [x];
  ld.global.u32 %r1, [%d1]; add.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2;
  ret;
}
.visible .entry wait(.param .u64 x)
{
  .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>;
  ld.param.u64 %d1, [x];
LOOP:
  ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra LOOP;
  ret;
}
)";

struct Sink final : KernelSink {
  void ended(KernelJob& job, result::KernelResult&& result, double begin_ns) override {
    ended_numbers.push_back(job.number);
    keep(job, std::move(result), begin_ns);
  }
  void keep(const KernelJob&, result::KernelResult&& result, double begin_ns) override {
    kept.push_back(std::move(result));
    begins.push_back(begin_ns);
  }
  std::vector<std::uint64_t> ended_numbers;
  std::vector<result::KernelResult> kept;
  std::vector<double> begins;
};

// Stands in for a schedule's engine: nothing is submitted.
struct Idle final : KernelEngine {
  bool idle() const override { return true; }
  bool full() const override { return false; }
  bool begin(Work&, double) override { return true; }
  Work* advance(double) override { return nullptr; }
  void give_up() override {}
};

class Engines : public testing::Test {
 protected:
  Engines()
      : device_((setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1), device::load_device("v100").device)) {
    module_ = modules_.load("test.ptx", text, memory_.global());
    address_ = memory_.allocate(4, "x").value();
    set(0);
  }

  Work& work(const char* kernel) {
    auto job = std::make_shared<KernelJob>();
    exec::LaunchParams p;
    p.module = modules_.at(module_).loaded.get();
    p.function = modules_.find_kernel(module_, kernel).value();
    p.grid = p.block = {1, 1, 1};
    p.params = std::as_bytes(std::span(&address_, 1));
    p.sm_count = device_.sm.count;
    p.max_warps_per_sm = device_.sm.max_warps;
    job->launch = std::make_unique<exec::Launch>(p, memory_.global());
    job->source = std::make_unique<stream::ExecutedLaunch>(*job->launch);
    job->number = works_.size() + 1;
    Work& work = *works_.emplace_back(std::make_unique<Work>());
    work.engine = Engine::kernels;
    work.kernel = std::move(job);
    return work;
  }
  std::uint32_t value() {
    std::uint32_t out = 0;
    std::memcpy(&out, memory_.global().host(address_), 4);
    return out;
  }
  void set(std::uint32_t value) { std::memcpy(memory_.global().host(address_), &value, 4); }

  device::Device device_;
  DeviceMemory memory_{1 << 20, 1 << 24};
  ModuleTable modules_;
  ModuleTable::Id module_ = 0;
  std::uint64_t address_ = 0;
  Options options_;
  bool alone_ = false;  // nobody else writes
  Sink sink_;
  UntimedBlocks blocks_{device_, options_, [this] { return alone_; }};
  std::vector<std::unique_ptr<Work>> works_;
};

TEST_F(Engines, UntimedKernelsHaveEndedWhenTheyBegin) {
  options_.mode = Mode::functional;
  UntimedKernels engine(device_, options_, blocks_, sink_);
  EXPECT_TRUE(engine.begin(work("add_one"), 5));
  EXPECT_TRUE(engine.idle());
  EXPECT_EQ(value(), 1u);
  ASSERT_THAT(sink_.ended_numbers, testing::ElementsAre(1u));
  EXPECT_THAT(sink_.begins, testing::ElementsAre(5));
  EXPECT_GT(sink_.kept[0].metrics.get("gpu.instructions.warp").value_or(0), 0);
}

TEST_F(Engines, AnUntimedKernelThatWaitsIsAskedAgain) {
  options_.mode = Mode::functional;
  UntimedKernels engine(device_, options_, blocks_, sink_);
  Work& waiting = work("wait");
  EXPECT_FALSE(engine.begin(waiting, 5));
  EXPECT_FALSE(engine.idle());
  EXPECT_EQ(engine.advance(10), nullptr);
  set(1);
  EXPECT_EQ(engine.advance(10), &waiting);
  EXPECT_EQ(waiting.end_ns, 5);  // it takes no time
  EXPECT_TRUE(engine.idle());
}

TEST_F(Engines, AnUntimedKernelThatWaitsInVainIsLocked) {
  options_.mode = Mode::functional;
  UntimedKernels engine(device_, options_, blocks_, sink_);
  EXPECT_FALSE(engine.begin(work("wait"), 0));
  EXPECT_THROW(engine.advance(forever), exec::Fault);
}

TEST_F(Engines, BlocksThatMustEndSayWhetherSomebodyElseMightHaveHelped) {
  options_.mode = Mode::functional;
  Work& waiting = work("wait");
  EXPECT_THROW(
      try { blocks_.run(job_of(waiting), 0, 1); } catch (const exec::Fault&) {
        FAIL() << "somebody else might write";
      },
      Error);
  alone_ = true;
  EXPECT_THROW(blocks_.run(job_of(waiting), 0, 1), exec::Fault);
}

TEST_F(Engines, CycleKernelsEndOnTheClockOfTheGpu) {
  timing::CycleGpu gpu(device_, {});
  Idle idle;
  const Schedule schedule(idle);
  CycleKernels engine(gpu, device_, options_, schedule, blocks_, sink_);
  Work& first = work("add_one");
  EXPECT_FALSE(engine.begin(first, 1000));
  EXPECT_FALSE(engine.idle());
  EXPECT_EQ(engine.advance(1000), nullptr);  // nothing ends at once
  EXPECT_EQ(engine.advance(forever), &first);
  EXPECT_EQ(first.begin_ns, 1000);
  EXPECT_GT(first.end_ns, 1000);
  EXPECT_EQ(value(), 1u);
  ASSERT_EQ(sink_.kept.size(), 1u);
  EXPECT_DOUBLE_EQ(first.end_ns - first.begin_ns, sink_.kept[0].metrics.get("gpu.time").value_or(0));
  EXPECT_TRUE(engine.idle());
}

TEST_F(Engines, CycleKernelsThatAreGivenUpLeaveWhatTheyCounted) {
  timing::CycleGpu gpu(device_, {});
  Idle idle;
  const Schedule schedule(idle);
  CycleKernels engine(gpu, device_, options_, schedule, blocks_, sink_);
  EXPECT_FALSE(engine.begin(work("wait"), 0));
  EXPECT_EQ(engine.advance(100), nullptr);
  engine.give_up();
  EXPECT_TRUE(engine.idle());
  ASSERT_EQ(sink_.kept.size(), 1u);
  EXPECT_TRUE(sink_.kept[0].partial);
  EXPECT_TRUE(sink_.ended_numbers.empty());
}

TEST_F(Engines, StudiesAndModelsHaveEndedWhenTheyBegin) {
  options_.mode = Mode::cache;
  CacheKernels cache(device_, options_, memory_, blocks_, sink_);
  EXPECT_TRUE(cache.begin(work("add_one"), 0));
  EXPECT_EQ(value(), 1u);
  EXPECT_GT(sink_.kept.at(0).metrics.get("l1.read.accesses").value_or(0), 0);
  result::Metrics total;
  cache.add_totals(total);
  EXPECT_FALSE(total.values().empty());

  options_.mode = Mode::predict;
  PredictionKernels models(device_, options_, memory_, blocks_, sink_);
  EXPECT_TRUE(models.begin(work("add_one"), 0));
  EXPECT_EQ(value(), 2u);
  EXPECT_GT(sink_.kept.at(1).metrics.get("counts.blocks").value_or(0), 0);
}

TEST_F(Engines, ACheckpointThatNobodyWantsDoesNothing) {
  std::string printed;
  const LaunchCheckpoint::Print print = [&](std::string_view s) { printed += s; };
  LaunchCheckpoint none({}, {memory_.global(), memory_.heap(), nullptr}, print, sink_);
  EXPECT_FALSE(none.active());
  EXPECT_TRUE(none.idle());
  none.after(job_of(work("add_one")), nullptr);
  none.print("x");
  none.finish(true);
  EXPECT_EQ(printed, "x");
}

TEST_F(Engines, ACheckpointGivesALaunchBackWithoutRunningIt) {
  const auto file = std::filesystem::path(testing::TempDir()) / "engines_test.checkpoint";
  const LaunchCheckpoint::Print print;
  options_.mode = Mode::functional;
  {
    CheckpointOptions write;
    write.write = file;
    write.every = 1;
    LaunchCheckpoint writes(write, {memory_.global(), memory_.heap(), nullptr}, print, sink_);
    Work& first = work("add_one");
    EXPECT_EQ(writes.begin(first, 0), std::nullopt);  // it is to be run
    blocks_.run(job_of(first), 0, 1);
    const result::KernelResult result;
    writes.after(job_of(first), &result);
    writes.finish(true);
  }
  EXPECT_EQ(value(), 1u);
  set(0);
  CheckpointOptions resume;
  resume.resume = file;
  LaunchCheckpoint resumes(resume, {memory_.global(), memory_.heap(), nullptr}, print, sink_);
  EXPECT_EQ(resumes.begin(work("add_one"), 7), std::optional(true));
  EXPECT_EQ(value(), 1u);
  EXPECT_EQ(sink_.kept.size(), 1u);
  EXPECT_THAT(sink_.begins, testing::ElementsAre(7));
  resumes.finish(true);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace simtlab::gpu
