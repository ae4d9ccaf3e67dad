// Only the public header: what a user of the library sees.
#include "simtlab/simtlab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace simtlab::api {
namespace {

using testing::HasSubstr;

constexpr const char* saxpy = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.f32 %f1, [a];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd5, %r5, 4;
  add.s64 %rd6, %rd1, %rd5;
  add.s64 %rd7, %rd2, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
DONE:
  ret;
}
)";
constexpr std::uint32_t n = 1000;

std::string run_saxpy(Gpu& gpu) {
  std::vector<float> host(n);
  std::iota(host.begin(), host.end(), 0.0f);
  const std::uint64_t x = gpu.allocate(4 * n), y = gpu.allocate(4 * n);
  gpu.write(x, host.data(), 4 * n);
  gpu.fill(y, std::byte{0}, 4 * n);
  const Module module = gpu.load_ptx("saxpy.ptx", saxpy);
  gpu.launch(module, "saxpy", {(n + 255) / 256}, {256}, Arguments().add(2.0f).add(x).add(y).add(n));
  gpu.read(host.data(), y, 4 * n);
  for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(host[i], 2.0f * static_cast<float>(i));
  gpu.release(x);
  gpu.release(y);
  return gpu.result_json();
}

template <typename Work>
Failure failure_of(Work&& work) {
  try {
    work();
  } catch (const Failure& f) { return f; }
  ADD_FAILURE() << "nothing was thrown";
  return {0, "", "", ""};
}

TEST(Api, RunsAKernelAndTellsItsTime) {
  Gpu gpu(Device::load("v100"));
  const std::string json = run_saxpy(gpu);
  EXPECT_THAT(json, HasSubstr("\"schema\": 1"));
  EXPECT_THAT(json, HasSubstr("\"device\": \"v100\""));
  EXPECT_THAT(json, HasSubstr("\"gpu.cycles\""));
  EXPECT_GT(gpu.now_ns(), 0);
}

TEST(Api, FunctionalModeHasNoTimes) {
  GpuOptions options;
  options.functional = true;
  Gpu gpu(Device::load("v100"), options);
  EXPECT_THAT(run_saxpy(gpu), testing::Not(HasSubstr("\"gpu.cycles\"")));
}

TEST(Api, TwoMachinesInOneProcessDoNotDisturbEachOther) {
  Gpu a(Device::load("a100")), b(Device::load("gtx480"));
  const std::string first = run_saxpy(a);
  run_saxpy(b);
  Gpu c(Device::load("a100"));
  const auto kernels = [](const std::string& json) { return json.substr(json.find("\"kernels\"")); };
  EXPECT_EQ(kernels(first), kernels(run_saxpy(c)));
  EXPECT_GT(b.now_ns(), 0);
}

TEST(Api, SettingsChangeTheDevice) {
  EXPECT_EQ(Device::load("a100", {{"sm.count", "4"}}).product(), Device::load("a100").product());
  const Failure f = failure_of([] { Device::load("a100", {{"sm.cuont", "4"}}); });
  EXPECT_EQ(f.exit_code(), 3);
  EXPECT_THAT(f.text(), HasSubstr("sm.count"));
}

TEST(Api, UnknownDevicesSuggestTheNearest) {
  EXPECT_THAT(Device::names(), testing::Contains("h100"));
  EXPECT_THAT(failure_of([] { Device::load("h10"); }).text(), HasSubstr("h100"));
}

TEST(Api, BadPtxIsAFailureWithItsPlace) {
  Gpu gpu(Device::load("v100"));
  const Failure f = failure_of([&] { gpu.load_ptx("bad.ptx", ".version 7.0\n.target sm_70\noops"); });
  EXPECT_EQ(f.exit_code(), 3);
  EXPECT_THAT(f.text(), HasSubstr("bad.ptx:3"));
}

TEST(Api, MistakesWithMemoryAreFailures) {
  Gpu gpu(Device::load("v100"));
  EXPECT_EQ(failure_of([&] { gpu.allocate(std::uint64_t{1} << 50); }).id(), "device-memory");
  EXPECT_EQ(failure_of([&] { gpu.release(12345); }).id(), "device-range");
  const std::uint64_t x = gpu.allocate(16);
  char bytes[64] = {};
  EXPECT_EQ(failure_of([&] { gpu.write(x, bytes, 64); }).id(), "device-range");
  EXPECT_EQ(failure_of([&] { gpu.read(bytes, x + 8, 64); }).id(), "device-range");
  EXPECT_EQ(failure_of([&] { gpu.fill(x, std::byte{1}, ~std::uint64_t{0}); }).id(), "device-range");
}

TEST(Api, AFaultOfTheKernelIsAFailureAndTheMachineStaysUsable) {
  Gpu gpu(Device::load("v100"));
  const Module module = gpu.load_ptx("saxpy.ptx", saxpy);
  const Failure f = failure_of([&] {
    gpu.launch(module, "saxpy", {1}, {32},
               Arguments().add(2.0f).add(std::uint64_t{0}).add(std::uint64_t{0}).add(n));
  });
  EXPECT_EQ(f.exit_code(), 5);
  EXPECT_EQ(f.id(), "illegal-address");
  run_saxpy(gpu);
}

TEST(Api, UnknownKernelsAndShortArgumentsAreFailures) {
  Gpu gpu(Device::load("v100"));
  const Module module = gpu.load_ptx("saxpy.ptx", saxpy);
  EXPECT_EQ(failure_of([&] { gpu.launch(module, "saxpi", {1}, {32}, {}); }).id(), "launch-kernel");
  EXPECT_EQ(failure_of([&] { gpu.launch(module, "saxpy", {1}, {32}, Arguments().add(2.0f)); }).exit_code(),
            3);
  EXPECT_EQ(failure_of([&] { gpu.launch(module, "saxpy", {0}, {32}, {}); }).exit_code(), 3);
}

TEST(Arguments, AreLaidOutAtTheirNaturalAlignment) {
  const Arguments a = Arguments().add(std::uint8_t{1}).add(2.0f).add(std::uint8_t{3}).add(std::uint64_t{4});
  EXPECT_EQ(a.bytes().size(), 24u);
  EXPECT_EQ(a.bytes()[8], std::byte{3});
  EXPECT_EQ(a.bytes()[16], std::byte{4});
}

}  // namespace
}  // namespace simtlab::api
