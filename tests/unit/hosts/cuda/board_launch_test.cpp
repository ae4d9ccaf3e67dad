// One launch on two devices: which differences count, and that every timed launch begins with the same
// contents.
#include "hosts/cuda/board_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "device/catalogue.h"

namespace simtlab::hosts::cuda {
namespace {

// near and exact leave something of the number of SMs, which two devices differ in. count goes round as often
// as its word says and adds one to it.
constexpr const char* two_devices_ptx = R"(.version 6.0
.target sm_30
.address_size 64
.visible .entry near(.param .u64 out)
{
  .reg .b32 %r<2>; .reg .f32 %f<4>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %nsmid; cvt.rn.f32.u32 %f1, %r1;
  fma.rn.f32 %f2, %f1, 0f33D6BF95, 0f3F800000;
  st.global.f32 [%d1+4], %f2;
  ret;
}
.visible .entry exact(.param .u64 out)
{
  .reg .b32 %r<2>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %nsmid; st.global.u32 [%d1], %r1;
  ret;
}
.visible .entry count(.param .u64 x)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [x];
  ld.global.u32 %r1, [%d1]; mov.u32 %r2, 0;
AGAIN:
  add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra AGAIN;
  mul.lo.u32 %r3, %r1, 3; st.global.u32 [%d1], %r3;
  ret;
}
.visible .entry together(.param .u64 x, .param .u64 .ptr .shared .align 4 scratch)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [scratch];
  mov.u32 %r1, 7; st.shared.u32 [%d2+60000], %r1; ld.shared.u32 %r2, [%d2+60000]; st.global.u32 [%d1], %r2;
  ret;
}
)";

class BoardLaunches : public testing::Test {
 protected:
  BoardLaunches() {
    ::setenv("SIMTLAB_DATA", SIMTLAB_SOURCE_DIR "/data", 1);
    gpu::Options options;
    options.mode = gpu::Mode::functional;
    gpu_ = std::make_unique<gpu::Gpu>(device::load_device("v100").device, options);
    module_ = gpu_->load_module("two.ptx", two_devices_ptx);
    board_ = gpu::simulated_board(device::load_device("h100").device);
  }

  BoardLaunch launch(const std::string& toml, const BoardLaunchOptions& options = {.repeat = 4}) {
    BoardLaunch out;
    run_launch(compile::parse_launch_file(toml, "two.toml"), module_, *gpu_, options.seed, nullptr,
               [&](const Launched& launched) {
                 out = launch_on_board(*board_, two_devices_ptx, launched, *gpu_, options);
               });
    return out;
  }
  std::string error_of(const std::string& toml, const BoardLaunchOptions& options, ExitCode code) {
    try {
      launch(toml, options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.format();
      return e.format();
    }
    return "no error";
  }

  std::unique_ptr<gpu::Gpu> gpu_;
  gpu::ModuleId module_ = 0;
  std::unique_ptr<gpu::Board> board_;
};

std::string one_word(const char* kernel, const char* type, const char* rest = "") {
  return std::string("kernel = \"") + kernel +
         "\"\ngrid = [1]\nblock = [32]\n[[arg]]\nname = \"x\"\ntype = \"" + type + "\"\nshape = [2]\n" + rest;
}

TEST_F(BoardLaunches, FloatsAreEqualWithinTheTolerance) {
  // 132 SMs beside 80: 52 times 1e-7.
  const BoardLaunch l = launch(one_word("near", "f32"));
  EXPECT_EQ(l.elements, 2u);
  EXPECT_NEAR(l.largest_difference, 5.2e-6, 0.2e-6);
  EXPECT_EQ(l.times_ns.size(), 4u);
  EXPECT_GT(l.empty_ns, 0);
  EXPECT_THAT(error_of(one_word("near", "f32"), {.repeat = 1, .tolerance = 1e-6}, ExitCode::program_failed),
              testing::AllOf(testing::HasSubstr("[board-result]"),
                             testing::HasSubstr("argument 0 'x': 1 of 2 elements differ: [1] is 1.00001"),
                             testing::HasSubstr("--tolerance")));
}

TEST_F(BoardLaunches, IntegersAreEqualOrNot) {
  EXPECT_THAT(error_of(one_word("exact", "u32"), {.repeat = 1, .tolerance = 0.9}, ExitCode::program_failed),
              testing::HasSubstr("[0] is 132 on the board and 80 simulated"));
}

TEST_F(BoardLaunches, EveryTimedLaunchBeginsWithTheSameContents) {
  const BoardLaunch l = launch(one_word("count", "u32", "values = [100]\n"), {.repeat = 6});
  // Three times the rounds of the one before otherwise
  EXPECT_LT(l.times_ns.back(), 1.2 * l.times_ns.front());
}

TEST_F(BoardLaunches, LocalMemoryBeyondWhatEveryBlockMayHaveIsAllowedFirst) {
  const BoardLaunch l = launch(one_word("together", "u32", "[[arg]]\nlocal = 65536\n"));
  EXPECT_EQ(l.elements, 2u);
  EXPECT_GE(l.blocks_per_sm, 1u);
}

TEST_F(BoardLaunches, AnInterruptEndsTheRepetitions) {
  const volatile bool stop = true;
  EXPECT_THAT(error_of(one_word("count", "u32"), {.repeat = 1000, .interrupt = &stop}, ExitCode::interrupted),
              testing::HasSubstr("[interrupted]"));
}

TEST_F(BoardLaunches, MetricsAndTextSayTheSame) {
  BoardLaunch l;
  l.times_ns = {1000, 2000, 4000, 9000};
  l.empty_ns = 500, l.registers = 10, l.blocks_per_sm = 3, l.elements = 7, l.largest_difference = 2e-7;
  result::Metrics m;
  add_metrics(l, 1500, m);
  EXPECT_EQ(m.get("board.time"), 3000);
  EXPECT_EQ(m.get("board.time.least"), 1000);
  EXPECT_EQ(m.get("board.time.most"), 9000);
  EXPECT_EQ(m.get("board.simulated_over_measured"), 0.5);
  EXPECT_THAT(
      to_text(l, board_->facts(), 1500),
      testing::HasSubstr("time         3.000 us, 1.000 to 9.000 in 4 launches; an empty kernel 0.500 us"));
  result::Metrics without;
  add_metrics(l, {}, without);
  EXPECT_EQ(without.get("board.simulated_over_measured"), std::nullopt);
}

}  // namespace
}  // namespace simtlab::hosts::cuda
