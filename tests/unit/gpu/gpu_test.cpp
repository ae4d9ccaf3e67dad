// The GPU as a program sees it, on a real device file, in both modes.
#include "gpu/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/host_memory.h"

namespace simtlab::gpu {
namespace {

constexpr const char* ptx = R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 counter = 41;
.visible .entry increment(.param .u64 x)
{
  .reg .b32 %r<8>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [x];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;
  ld.global.u32 %r5, [%d3]; add.u32 %r6, %r5, 1; st.global.u32 [%d3], %r6;
  ret;
}
.visible .entry strict(.param .u64 x)
.reqntid 64, 1, 1
{
  ret;
}
)";

class Gpus : public testing::TestWithParam<Mode> {
 protected:
  Gpus()
      : device_((setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1), device::load_device("v100").device)) {
    Options options;
    options.mode = GetParam();
    gpu_ = std::make_unique<Gpu>(device_, options);
    module_ = gpu_->load_module("test.ptx", ptx);
  }

  std::uint64_t words(std::uint32_t n) {
    const std::uint64_t address = gpu_->allocate(std::uint64_t{n} * 4, "test").value();
    return address;
  }
  void increment(std::uint64_t address, std::uint32_t blocks, std::uint32_t threads, StreamId stream = 0) {
    std::vector<std::byte> params(8);
    std::memcpy(params.data(), &address, 8);
    gpu_->launch(gpu_->find_kernel(module_, "increment").value(), {blocks, 1, 1}, {threads, 1, 1}, 0, params,
                 stream);
  }
  std::uint32_t word(std::uint64_t address) {
    std::uint32_t value = 0;
    EXPECT_TRUE(gpu_->copy(&value, reinterpret_cast<const void*>(address), 4, Gpu::CopyKind::device_to_host,
                           0, false));
    return value;
  }
  double total(const char* name) { return gpu_->result().total.get(name).value_or(std::nan("")); }

  device::Device device_;
  std::unique_ptr<Gpu> gpu_;
  ModuleId module_ = 0;
};

TEST_P(Gpus, KernelsTakeEffectAndAreListedInOrder) {
  const std::uint64_t x = words(256);
  increment(x, 2, 128);
  increment(x, 1, 32);
  EXPECT_EQ(word(x), 2u);
  EXPECT_EQ(word(x + 4 * 255), 1u);
  const result::Result r = gpu_->result();
  ASSERT_EQ(r.kernels.size(), 2u);
  EXPECT_EQ(r.kernels[0].name, "increment");
  EXPECT_EQ(r.kernels[0].grid[0], 2u);
  EXPECT_EQ(r.kernels[1].block[0], 32u);
  EXPECT_EQ(r.total.get("program.kernels"), 2.0);
  EXPECT_EQ(r.total.get("gpu.instructions.warp"),
            r.kernels[0].metrics.get("gpu.instructions.warp").value() +
                r.kernels[1].metrics.get("gpu.instructions.warp").value());
  // 8 warps and 1 warp of the same straight-line code.
  EXPECT_EQ(r.kernels[0].metrics.get("gpu.instructions.warp").value(),
            8 * r.kernels[1].metrics.get("gpu.instructions.warp").value());
}

TEST_P(Gpus, TimesAreThereExactlyInTimingMode) {
  increment(words(32), 1, 32);
  gpu_->synchronize();
  const bool timing = GetParam() == Mode::timing;
  EXPECT_EQ(gpu_->result().total.get("gpu.time").has_value(), timing);
  EXPECT_EQ(gpu_->result().total.get("program.time").has_value(), timing);
  EXPECT_EQ(gpu_->result().manifest.mode, timing ? "timing" : "functional");
  if (timing) {
    EXPECT_NEAR(total("gpu.time"), total("gpu.cycles") / device_.sm_clock_hz * 1e9, 1e-6);
    // One kernel: the device is busy for its time; the host called it one overhead earlier.
    EXPECT_NEAR(total("program.time"), total("gpu.time"), 1e-6);
    EXPECT_NEAR(gpu_->now_ns(), device_.host.launch_overhead_ns + total("gpu.time"), 1e-6);
  }
}

TEST_P(Gpus, CopiesTakeLatencyAndBandwidthOfTheDeviceFile) {
  const std::uint64_t x = words(1 << 18);
  std::vector<std::byte> host(1 << 20);
  const double before = gpu_->now_ns();
  ASSERT_TRUE(gpu_->copy(reinterpret_cast<void*>(x), host.data(), host.size(), Gpu::CopyKind::host_to_device,
                         0, false));
  EXPECT_DOUBLE_EQ(gpu_->now_ns() - before,
                   device_.host.copy_latency_ns + 1048576 / device_.host.copy_bandwidth_h2d * 1e9);
  ASSERT_TRUE(
      gpu_->copy(host.data(), reinterpret_cast<void*>(x), 512, Gpu::CopyKind::device_to_host, 0, false));
  ASSERT_TRUE(gpu_->copy(reinterpret_cast<void*>(x), reinterpret_cast<void*>(x + 4096), 256,
                         Gpu::CopyKind::device_to_device, 0, false));
  ASSERT_TRUE(gpu_->fill(x, std::byte{1}, 128, 0, false));
  EXPECT_EQ(total("copy.h2d.bytes"), 1048576);
  EXPECT_EQ(total("copy.d2h.bytes"), 512);
  EXPECT_EQ(total("copy.d2d.bytes"), 256);
  EXPECT_EQ(total("copy.fill.bytes"), 128);
  EXPECT_EQ(total("copy.count"), 4);
  EXPECT_EQ(word(x), 0x01010101u);
}

TEST_P(Gpus, CopiesOutsideAllocationsAreRefusedAndLeaveNoTrace) {
  const std::uint64_t x = words(4);
  int host[8] = {};
  EXPECT_FALSE(gpu_->copy(reinterpret_cast<void*>(x), host, 20, Gpu::CopyKind::host_to_device, 0, false));
  EXPECT_FALSE(gpu_->copy(host, reinterpret_cast<void*>(x + 4), 16, Gpu::CopyKind::device_to_host, 0, false));
  EXPECT_FALSE(gpu_->fill(x, std::byte{0}, 17, 0, false));
  Gpu::Box box;
  box.width = 4;
  box.height = 3;
  box.dst_pitch = ~std::uint64_t{0} / 2;
  EXPECT_FALSE(gpu_->fill_box(x, std::byte{0}, box, 0, false));
  EXPECT_EQ(total("copy.count"), 0);
  EXPECT_DOUBLE_EQ(gpu_->now_ns(), 0);
}

TEST_P(Gpus, BoxesMoveRowsOfSlices) {
  const std::uint64_t x = words(64);
  std::uint8_t in[24];
  for (std::uint8_t i = 0; i < 24; ++i) in[i] = i;
  Gpu::Box box{3, 2, 2, 8, 4, 32, 12};
  ASSERT_TRUE(gpu_->copy_box(reinterpret_cast<void*>(x), in, box, Gpu::CopyKind::host_to_device, 0, false));
  std::uint8_t out[48] = {};
  ASSERT_TRUE(gpu_->copy(out, reinterpret_cast<void*>(x), 48, Gpu::CopyKind::device_to_host, 0, false));
  EXPECT_EQ(out[2], 2);
  EXPECT_EQ(out[3], 0);
  EXPECT_EQ(out[8], 4);
  EXPECT_EQ(out[32], 12);
  EXPECT_EQ(out[42], 18);
  EXPECT_EQ(total("copy.h2d.bytes"), 12);
}

TEST_P(Gpus, LaunchesOfImpossibleShapesAreRefusedWithTheReason) {
  const auto refused = [&](const char* kernel, exec::Dim3 grid, exec::Dim3 block,
                           std::uint32_t shared) -> std::string {
    try {
      gpu_->launch(gpu_->find_kernel(module_, kernel).value(), grid, block, shared, std::vector<std::byte>(8),
                   0);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::bad_input);
      EXPECT_TRUE(e.id().starts_with("launch-")) << e.id();
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refused("increment", {0, 1, 1}, {1, 1, 1}, 0), testing::HasSubstr("grid (0, 1, 1) is empty"));
  EXPECT_THAT(refused("increment", {1, 1, 1}, {1, 0, 1}, 0), testing::HasSubstr("block (1, 0, 1) is empty"));
  EXPECT_THAT(refused("increment", {1, 1, 65536}, {1, 1, 1}, 0), testing::HasSubstr("larger than"));
  EXPECT_THAT(refused("increment", {1, 1, 1}, {1, 1, 65}, 0), testing::HasSubstr("exceeds"));
  EXPECT_THAT(refused("increment", {1, 1, 1}, {2048, 1, 1}, 0), testing::HasSubstr("exceeds 1024 threads"));
  EXPECT_THAT(refused("increment", {1, 1, 1}, {32, 1, 1}, 1 << 20), testing::HasSubstr("increment"));
  EXPECT_THAT(refused("strict", {1, 1, 1}, {32, 1, 1}, 0), testing::HasSubstr(".reqntid"));
}

// The line and column to which an error points; "accepted" without one.
template <class F>
std::string place_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    const SourcePos& at = e.diagnostics().front().pos;
    return at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  }
  return "accepted";
}

TEST_P(Gpus, ErrorsOfDeclarationsPointAtThem) {
  EXPECT_EQ(place_of([&] {
              gpu_->launch(gpu_->find_kernel(module_, "strict").value(), {1, 1, 1}, {32, 1, 1}, 0,
                           std::vector<std::byte>(8), 0);
            }),
            "test.ptx:15:1");
  const std::string head = ".version 7.0\n.target sm_70\n.address_size 64\n";
  EXPECT_EQ(place_of([&] { gpu_->load_module("big.ptx", head + ".global .b8 x[900000000000];\n"); }),
            "big.ptx:4:13");
  EXPECT_EQ(place_of([&] { gpu_->load_module("e.ptx", head + "\n.extern .global .u32 y;\n"); }),
            "e.ptx:5:22");
}

TEST_P(Gpus, ResultsNameDirectivesThatHardwareWouldHaveObeyed) {
  Options as_ptx;
  as_ptx.mode = GetParam();
  as_ptx.ptx = Ptx::counts;
  gpu_ = std::make_unique<Gpu>(device_, as_ptx);
  const auto deviations = [&](const std::string& target, const std::string& directive) {
    const std::string body =
        "{ .reg .b32 %r<9>; mov.u32 %r1, %clock; mov.u32 %r2, %clock; mov.u32 %r3, %clock; "
        "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.shared.u32 [0], %r1; ret; }\n";
    const ModuleId m = gpu_->load_module(
        "d.ptx", ".version 7.0\n.target " + target + "\n.shared .u32 s;\n.entry k() " + directive + body);
    try {
      gpu_->launch(gpu_->find_kernel(m, "k").value(), {1, 1, 1}, {32, 1, 1}, 4, {}, 0);
      gpu_->synchronize();
    } catch (const Error& e) { ADD_FAILURE() << e.what(); }
    const result::KernelResult k = gpu_->result().kernels.back();
    std::string ids;
    for (const std::string& id : k.not_modelled)
      if (id.starts_with("D-PTX")) ids += id + " ";
    return ids + std::to_string(k.registers);
  };
  const std::string all = deviations("sm_70", "");
  EXPECT_EQ(all.find("D-PTX"), std::string::npos);
  EXPECT_EQ(deviations("sm_70", ".maxnreg 5"), "D-PTX-8 5");
  EXPECT_EQ(deviations("sm_70", ".maxnreg 64"), all);
  EXPECT_EQ(deviations("sm_90a", ""), "D-PTX-9 " + all);
}

TEST_P(Gpus, SymbolsAndKernelsAreFoundByName) {
  const Symbol counter = gpu_->find_symbol(module_, "counter").value();
  EXPECT_EQ(counter.bytes, 4u);
  EXPECT_EQ(word(counter.address), 41u);
  EXPECT_FALSE(gpu_->find_symbol(module_, "nothing").has_value());
  EXPECT_FALSE(gpu_->find_kernel(module_, "nothing").has_value());
}

TEST_P(Gpus, ResetKeepsResultsAndForgetsTheRest) {
  increment(words(32), 1, 32);
  const StreamId s = gpu_->create_stream(false);
  gpu_->reset();
  EXPECT_FALSE(gpu_->has_stream(s));
  EXPECT_EQ(gpu_->result().kernels.size(), 1u);
  module_ = gpu_->load_module("again.ptx", ptx);
  increment(words(32), 1, 32);
  gpu_->synchronize();
  EXPECT_EQ(gpu_->result().kernels.size(), 2u);
}

TEST_P(Gpus, EqualRunsGiveEqualResults) {
  const auto run = [&] {
    Options options;
    options.mode = GetParam();
    Gpu gpu(device_, options);
    const ModuleId module = gpu.load_module("t.ptx", ptx);
    const std::uint64_t x = gpu.allocate(4096, "x").value();
    std::vector<std::byte> params(8);
    std::memcpy(params.data(), &x, 8);
    for (int i = 0; i < 3; ++i)
      gpu.launch(gpu.find_kernel(module, "increment").value(), {8, 1, 1}, {128, 1, 1}, 0, params, 0);
    gpu.synchronize();
    std::string text;
    const result::Result r = gpu.result();
    for (const auto& v : r.total.values())
      if (!v.name.starts_with("host."))
        text += v.name + "=" + std::to_string(v.integer) + "/" + std::to_string(v.real) + "\n";
    return text;
  };
  EXPECT_EQ(run(), run());
}

TEST_P(Gpus, VeryManyLaunchesAreMergedAndStillCounted) {
  if (GetParam() == Mode::timing) GTEST_SKIP() << "one mode is enough";
  const std::uint64_t x = words(32);
  for (int i = 0; i < 5000; ++i) increment(x, 1, 32);
  const result::Result r = gpu_->result();
  EXPECT_EQ(r.kernels.size(), 4097u);
  EXPECT_EQ(r.kernels.back().launches, 904u);
  EXPECT_EQ(r.total.get("program.kernels"), 5000.0);
  EXPECT_EQ(r.total.get("gpu.instructions.warp"),
            5000 * r.kernels.front().metrics.get("gpu.instructions.warp").value());
  EXPECT_EQ(word(x), 5000u);
}

INSTANTIATE_TEST_SUITE_P(Modes, Gpus, testing::Values(Mode::functional, Mode::timing), [](const auto& info) {
  return info.param == Mode::timing ? "timing" : "functional";
});

// The host launches one after the other; the limit stops both on their way.
TEST(PartialResults, SayWhenEachKernelBegan) {
  setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
  const device::Device device = device::load_device("v100").device;
  Options options;
  options.ptx = Ptx::counts;  // the loop does nothing
  options.max_cycles = 30000;
  Gpu gpu(device, options);
  const ModuleId module = gpu.load_module("long.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry long() { .reg .b32 %r<4>; .reg .pred %p<2>; mov.u32 %r1, 100000000;
again: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again; ret; })");
  for (int i = 0; i < 2; ++i)
    gpu.launch(gpu.find_kernel(module, "long").value(), {1, 1, 1}, {32, 1, 1}, 0, {},
               gpu.create_stream(true));
  EXPECT_THROW(gpu.synchronize(), Error);
  const result::Result r = gpu.result();
  ASSERT_EQ(r.kernels.size(), 2u);
  std::vector<double> begin;
  for (const result::KernelResult& kernel : r.kernels) {
    EXPECT_TRUE(kernel.partial);
    begin.push_back(kernel.metrics.get("gpu.begin").value());
  }
  const double apart = device.host.launch_overhead_ns;
  EXPECT_DOUBLE_EQ(begin[0], apart);
  EXPECT_NEAR(begin[1] - begin[0], apart, 0.1 * apart);
}

TEST(HostMemory, TheDefaultLimitIsAShareOfThisHost) {
  EXPECT_GT(default_memory_limit(), std::uint64_t{64} << 20);
  EXPECT_LT(default_memory_limit(), std::uint64_t{1} << 50);
}

// Each thread has 64 KiB of local memory: a block of a warp takes 2 MiB of the host, and the GPU holds many
// at once.
TEST(HostMemory, BlocksThatDoNotFitTheLimitAreToldBeforeTheyRun) {
  Options options;
  options.ptx = Ptx::counts;  // nobody uses it
  options.max_memory_bytes = 64 << 20;
  Gpu gpu(device::load_device("v100").device, options);
  const ModuleId module = gpu.load_module("test.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry hoard()
{
  .local .align 4 .b8 much[65536];
  ret;
}
)");
  const Kernel kernel = gpu.find_kernel(module, "hoard").value();
  EXPECT_NO_THROW(gpu.launch(kernel, {8, 1, 1}, {32, 1, 1}, 0, {}, 0));
  try {
    gpu.launch(kernel, {100, 1, 1}, {32, 1, 1}, 0, {}, 0);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "limit-memory");
    EXPECT_NE(e.format().find("100 resident blocks"), std::string::npos) << e.format();
  }
}

}  // namespace
}  // namespace simtlab::gpu
