// A kernel that waits for another kernel, for a copy or for the host gets what it waits for, in every mode
// that can go on meanwhile; one that waits for nobody is a deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "device/catalogue.h"
#include "gpu/gpu.h"

namespace simtlab::gpu {
namespace {

constexpr const char* kernels = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry waits(.param .u64 x)
{
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<2>;
  ld.param.u64 %d1, [x];
AGAIN:
  ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;
  st.global.u32 [%d1+4], 7;
  ret;
}
.visible .entry sets(.param .u64 x)
{
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [x];
  st.volatile.global.u32 [%d1], 1;
  ret;
}
)";

class Spinning : public testing::Test {
 protected:
  void begin(Options options) {
    setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
    gpu_ = std::make_unique<Gpu>(device::load_device("v100").device, options);
    module_ = gpu_->load_module("test.ptx", kernels);
    flag_ = gpu_->allocate(256, "flag").value();
  }
  void begin(Mode mode) {
    Options options;
    options.mode = mode;
    begin(options);
  }
  void launch(const char* kernel, StreamId stream) {
    std::vector<std::byte> params(8);
    std::memcpy(params.data(), &flag_, 8);
    gpu_->launch(gpu_->find_kernel(module_, kernel).value(), {2, 1, 1}, {32, 1, 1}, 0, params, stream);
  }
  std::uint32_t word(std::uint64_t offset) {
    std::uint32_t value = 0;
    EXPECT_TRUE(gpu_->memory().read(flag_ + offset, std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }
  std::string failure() {
    try {
      gpu_->synchronize();
    } catch (const Error& e) { return e.id(); }
    return "none";
  }

  std::unique_ptr<Gpu> gpu_;
  ModuleId module_ = 0;
  std::uint64_t flag_ = 0;
};

class SpinningIn : public Spinning, public testing::WithParamInterface<Mode> {
 protected:
  void SetUp() override { begin(GetParam()); }
};

TEST_P(SpinningIn, a_kernel_of_another_stream_sets_the_flag) {
  const StreamId a = gpu_->create_stream(true), b = gpu_->create_stream(true);
  launch("waits", a);
  launch("sets", b);
  EXPECT_EQ(failure(), "none");
  EXPECT_EQ(word(4), 7u);
  ASSERT_EQ(gpu_->result().kernels.size(), 2u);
  EXPECT_EQ(gpu_->result().kernels[0].name, "waits");
}

TEST_P(SpinningIn, a_copy_on_another_stream_sets_the_flag) {
  const StreamId a = gpu_->create_stream(true), b = gpu_->create_stream(true);
  launch("waits", a);
  const std::uint32_t one = 1;
  EXPECT_TRUE(gpu_->copy(reinterpret_cast<void*>(flag_), &one, 4, Gpu::CopyKind::host_to_device, b, true));
  EXPECT_EQ(failure(), "none");
  EXPECT_EQ(word(4), 7u);
}

TEST_P(SpinningIn, the_host_sets_the_flag_before_it_waits) {
  launch("waits", 0);
  const std::uint32_t one = 1;
  EXPECT_TRUE(gpu_->memory().write(flag_, std::as_bytes(std::span(&one, 1))));
  EXPECT_EQ(failure(), "none");
  EXPECT_EQ(word(4), 7u);
}

TEST_P(SpinningIn, what_comes_after_on_the_same_stream_is_too_late) {
  launch("waits", 0);
  launch("sets", 0);
  EXPECT_EQ(failure(), "deadlock");
  EXPECT_EQ(word(0), 0u);
  EXPECT_EQ(failure(), "none");  // given up: the GPU is usable
}

INSTANTIATE_TEST_SUITE_P(Modes, SpinningIn, testing::Values(Mode::timing, Mode::functional),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// There a launch ends before its call does.
TEST_F(Spinning, where_nothing_goes_on_meanwhile_only_what_is_certain_is_a_deadlock) {
  for (const Mode mode : {Mode::cache, Mode::predict}) {
    begin(mode);
    EXPECT_THROW(launch("waits", 0), exec::Fault);
    begin(mode);
    const StreamId other = gpu_->create_stream(true);
    try {
      launch("waits", other);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "kernel-waits");
      EXPECT_EQ(e.code(), ExitCode::unsupported);
    }
  }
}

// Page-locked and managed memory: a thread of the program may write at any time, if it has more than the one
// that waits.
TEST_F(Spinning, memory_that_the_host_writes_is_waited_for_as_long_as_something_of_it_runs) {
  Options options;
  options.max_cycles = 300'000;
  bool runs = true;
  for (const char* end : {"limit-cycles", "deadlock"}) {
    begin(options);
    gpu_->memory().set_host_writes(flag_);
    gpu_->memory().set_host_runs([&] { return runs; });
    launch("waits", 0);
    EXPECT_EQ(failure(), end);
    runs = false;
  }
}

}  // namespace
}  // namespace simtlab::gpu
