// Under the clock, too, a program that has locked itself is stopped and told of, with or without a limit; one
// that can go on never is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "simulator.h"
#include "stream/executed.h"

namespace simtlab::timing {
namespace {

using testing::HasSubstr;

struct Program {
  std::string body;
  unsigned blocks = 1, threads = 32;
  Options options{};
  std::string more{};  // kernels
};

std::unique_ptr<Simulator> simulator_of(const Program& p) {
  device::Device d = device_of("v100");
  d.sm.count = 2;
  return std::make_unique<Simulator>(
      d,
      ".visible .entry k(.param .u64 x) { .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .shared "
      ".align 4 .b32 s[8];\nld.param.u64 %rd1, [x];\n" +
          p.body + "\nret; }\n" + p.more,
      p.options);
}

// What ends the kernel `k`.
Error ended(const Program& p) {
  const auto s = simulator_of(p);
  try {
    s->run("k", {p.blocks, 1, 1}, {p.threads, 1, 1}, s->allocate(4096));
  } catch (const Error& e) { return e; }
  return {ExitCode::ok, "none", "it ended"};
}

const std::string poll =
    "AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n";
const std::string set = "st.volatile.global.u32 [%rd1], 1;\n";
const std::string long_work =
    "mov.u32 %r3, 0;\nWORK: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 30000; @%p3 bra WORK;\n";
// Warp 0 of a block spins, the others go to OTHERS.
std::string first_warp(const std::string& spinning, const std::string& others) {
  return "mov.u32 %r2, %tid.x; setp.ge.u32 %p2, %r2, 32; @%p2 bra OTHERS;\n" + spinning +
         "bra MEET;\nOTHERS:\n" + others + "MEET:\n";
}
std::string first_block(const std::string& spinning, const std::string& others) {
  return "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p2, %r2, 0; @%p2 bra OTHERS;\n" + spinning +
         "bra MEET;\nOTHERS:\n" + others + "MEET:\n";
}

void expect_deadlock(const Program& p) {
  const Error e = ended(p);
  EXPECT_EQ(e.id(), "deadlock") << e.format();
  EXPECT_EQ(e.code(), ExitCode::program_failed);
}
void expect_end(const Program& p) {
  const Error e = ended(p);
  EXPECT_EQ(e.id(), "none") << e.format();
}

TEST(Spin, a_flag_that_nobody_sets) { expect_deadlock({poll}); }
TEST(Spin, a_flag_that_nobody_sets_in_many_blocks) { expect_deadlock({poll, 64, 256}); }
TEST(Spin, a_flag_in_shared_memory) {
  expect_deadlock(
      {"mov.u32 %r5, s;\nAGAIN: ld.volatile.shared.u32 %r1, [%r5]; setp.eq.u32 %p1, %r1, 0; @%p1 bra "
       "AGAIN;\nbar.sync 0;\n",
       1, 96});
}
TEST(Spin, an_atomic_that_changes_nothing) {
  expect_deadlock(
      {"AGAIN: atom.global.or.b32 %r1, [%rd1], 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n", 4, 128});
}
TEST(Spin, a_loop_that_sleeps) {
  expect_deadlock(
      {"AGAIN: nanosleep.u32 200; ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra "
       "AGAIN;\n"});
}
TEST(Spin, blocks_that_wait_for_each_other) {
  expect_deadlock(
      {"mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2; xor.b32 %r4, %r2, 1; "
       "mul.wide.u32 %rd3, %r4, 4; add.u64 %rd3, %rd1, %rd3;\n"
       "AGAIN: ld.volatile.global.u32 %r1, [%rd2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra "
       "AGAIN;\nst.volatile.global.u32 [%rd3], 1;\n",
       2, 32});
}

TEST(Spin, a_lock_that_nobody_releases) {
  const Error e = ended(
      {"AGAIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n", 3, 1});
  EXPECT_THAT(e.format(), HasSubstr("all 2 warps that are there wait"));
  EXPECT_THAT(e.format(), HasSubstr("test.ptx:6"));
}

TEST(Spin, warps_at_a_barrier_wait_for_one_that_spins) {
  const Error e = ended({first_warp(poll, "") + "bar.sync 0;\n", 1, 96});
  EXPECT_THAT(e.format(), HasSubstr("warp 0 of block (0,0,0) reads 4 bytes at 0x"));
  EXPECT_THAT(e.format(),
              HasSubstr("warp 1 of block (0,0,0) and 1 more wait at barrier 0 (2 of 3 warps arrived)"));
}

TEST(Spin, a_grid_that_does_not_fit) {
  const Error e = ended({"mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 99; @%p2 bra SETS;\n" + poll +
                             "bra MEET;\nSETS:\n" + set + "MEET:\n",
                         100, 1024});
  EXPECT_THAT(e.format(), HasSubstr("96 blocks of kernel k, from block (4,0,0) on, are not resident"));
}

TEST(Spin, it_is_the_same_for_any_number_of_threads_and_told_before_a_limit) {
  Program p{first_warp(poll, "") + "bar.sync 0;\n", 8, 64};
  const std::string one = ended(p).format();
  p.options.threads = 4;
  EXPECT_EQ(ended(p).format(), one);
  p.options.max_cycles = 40000;  // before anybody has looked
  EXPECT_EQ(ended(p).id(), "deadlock");
}

TEST(Spin, who_gives_up_comes_to_an_end) {
  expect_end(
      {"mov.u32 %r4, 0;\nAGAIN: ld.volatile.global.u32 %r1, [%rd1]; add.u32 %r4, %r4, 1; setp.eq.u32 %p1, "
       "%r1, 0; setp.lt.and.u32 %p1, %r4, 20000, %p1; @%p1 bra AGAIN;\n"});
  expect_end(
      {"mov.u64 %rd2, %clock64;\nAGAIN: ld.volatile.global.u32 %r1, [%rd1]; mov.u64 %rd3, %clock64; sub.u64 "
       "%rd3, %rd3, %rd2;\n"
       "setp.eq.u32 %p1, %r1, 0; setp.lt.and.u64 %p1, %rd3, 1000000, %p1; @%p1 bra AGAIN;\n"});
}
TEST(Spin, a_warp_that_comes_late_is_waited_for) { expect_end({first_warp(poll, long_work + set), 1, 64}); }
TEST(Spin, a_block_that_comes_late_is_waited_for) {
  expect_end({first_block(poll, long_work + set), 2, 64});
  expect_end({first_block(poll, long_work + "atom.global.add.u32 %r4, [%rd1], 1;\n"), 2, 64});
}
// 4 blocks fit: those that only work make room for the one that sets the flag.
TEST(Spin, a_block_that_is_to_come_is_waited_for) {
  expect_end(
      {first_block(poll, long_work + "setp.eq.u32 %p4, %r2, 11; @%p4 st.volatile.global.u32 [%rd1], 1;\n"),
       12, 1024});
}
TEST(Spin, a_lock_that_is_held_long_is_waited_for) {
  expect_end({"AGAIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra AGAIN;\n" +
                  long_work + "st.volatile.global.u32 [%rd1], 0;\n",
              3, 1});
}
TEST(Spin, a_barrier_of_the_grid_works) {
  expect_end(
      {"mov.u32 %r2, %tid.x; setp.ne.u32 %p2, %r2, 0; @%p2 bra MEET;\natom.global.add.u32 %r4, [%rd1], 1;\n"
       "AGAIN: ld.acquire.gpu.global.u32 %r1, [%rd1]; setp.lt.u32 %p1, %r1, 4; @%p1 bra AGAIN;\nMEET: "
       "bar.sync 0;\n",
       4, 1024});
}

TEST(Spin, work_that_writes_or_counts_is_only_long) {
  const auto limited = [](std::string body, unsigned threads = 32) {
    Program p{std::move(body), 1, threads};
    p.options.max_cycles = 400'000;
    return ended(p).id();
  };
  EXPECT_EQ(limited("AGAIN: add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra AGAIN;\n"),
            "limit-cycles");
  EXPECT_EQ(limited("AGAIN: mov.u32 %r1, %clock; bra AGAIN;\n"), "deadlock");
  EXPECT_EQ(limited("AGAIN: ld.volatile.global.u32 %r1, [%rd1]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], "
                    "%r1; bra AGAIN;\n"),
            "limit-cycles");
  EXPECT_EQ(
      limited(
          "AGAIN: atom.global.add.u32 %r1, [%rd1], 1; setp.lt.u32 %p1, %r1, 1000000000; @%p1 bra AGAIN;\n"),
      "limit-cycles");
  EXPECT_EQ(
      limited(first_warp(poll, "FOREVER: add.u32 %r3, %r3, 1; setp.ne.u32 %p4, %r3, 0; @%p4 bra FOREVER;\n"),
              64),
      "limit-cycles");
}

// Kernels side by side.
class TwoKernels : public testing::Test {
 protected:
  void begin(const char* kernel, std::uint64_t at) {
    launches.push_back(s->prepare(kernel, {1, 1, 1}, {32, 1, 1}, data));
    sources.push_back(std::make_unique<stream::ExecutedLaunch>(*launches.back()));
    s->gpu.begin(*sources.back(), {}, at);
  }
  std::unique_ptr<Simulator> s = simulator_of({poll,
                                               1,
                                               32,
                                               {},
                                               ".visible .entry late(.param .u64 x) { .reg .pred %p<8>; .reg "
                                               ".b32 %r<16>; .reg .b64 %rd<8>;\nld.param.u64 %rd1, [x];\n" +
                                                   long_work + set + "ret; }\n"});
  std::uint64_t data = s->allocate(4096);
  std::vector<std::unique_ptr<exec::Launch>> launches;
  std::vector<std::unique_ptr<stream::ExecutedLaunch>> sources;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
};

TEST_F(TwoKernels, a_flag_that_another_kernel_sets) {
  begin("k", 0);
  begin("late", 0);
  for (int i = 0; i < 2; ++i) s->gpu.finish(s->gpu.advance(never).value());
  EXPECT_TRUE(s->gpu.idle());
}

// As long as something is to come from outside, nobody knows.
TEST_F(TwoKernels, a_kernel_that_begins_much_later) {
  begin("k", 0);
  EXPECT_EQ(s->gpu.advance(20'000'000), std::nullopt);
  begin("late", 20'000'000);
  for (int i = 0; i < 2; ++i) s->gpu.finish(s->gpu.advance(never).value());
  EXPECT_TRUE(s->gpu.idle());
}

TEST_F(TwoKernels, none_that_begins) {
  begin("k", 0);
  EXPECT_EQ(s->gpu.advance(5'000'000), std::nullopt);
  EXPECT_THROW(s->gpu.advance(never), exec::Fault);
}

}  // namespace
}  // namespace simtlab::timing
