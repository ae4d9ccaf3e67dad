// Barriers of a block and what happens when they cannot complete.
#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* shared = "  .shared .align 4 .b32 s[1024];\n";

TEST(Barrier, what_others_wrote_before_a_barrier_is_read_after_it) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  shl.b32 %r2, %r62, 2;
  mov.u32 %r3, s;
  add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r0;
  bar.sync 0;
  xor.b32 %r5, %r62, 127;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r5, %r3;
  ld.shared.u32 %r1, [%r5];
)",
                        {}, shared));
  EXPECT_EQ(run_lanes(m, 256, 128),
            each_thread(256, [](unsigned i) { return i / 128 * 128 + (127 - i % 128); }));
}

TEST(Barrier, a_warp_that_has_exited_is_not_waited_for) {
  Machine m(lane_kernel(R"(
  setp.lt.u32 %p1, %r0, 32;
  @%p1 exit;
  bar.sync 0;
  mov.u32 %r1, 1;
)"));
  EXPECT_EQ(run_lanes(m, 96, 96), each_thread(96, [](unsigned i) { return i < 32 ? 0xdeadbeefu : 1u; }));
}

TEST(Barrier, a_warp_that_exits_last_releases_those_that_wait) {
  // Warp 0 spends longer than the others before it leaves.
  Machine m(lane_kernel(R"(
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra WAIT;
  exit;
WAIT:
  bar.sync 3;
  mov.u32 %r1, 7;
)"));
  EXPECT_EQ(run_lanes(m, 128, 128)[127], 7u);
}

TEST(Barrier, producers_arrive_and_only_consumers_wait) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  setp.lt.u32 %p1, %r62, 32;
  mov.u32 %r3, s;
  and.b32 %r6, %r62, 31;
  shl.b32 %r6, %r6, 2;
  add.u32 %r3, %r3, %r6;
  @%p1 bra CONSUME;
  st.shared.u32 [%r3], %r0;
  bar.arrive 1, 64;
  bra END;
CONSUME:
  bar.sync 1, 64;
  ld.shared.u32 %r1, [%r3];
)",
                        {}, shared));
  EXPECT_EQ(run_lanes(m, 64, 64), each_thread(64, [](unsigned i) { return i < 32 ? i + 32 : 0; }));
}

TEST(Barrier, warps_use_different_barriers_at_the_same_time) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  setp.lt.u32 %p1, %r62, 64;
  @%p1 bra FIRST;
  bar.sync 2, 64;
  mov.u32 %r1, 2;
  bra MEET;
FIRST:
  bar.sync 1, 64;
  mov.u32 %r1, 1;
MEET:
  bar.sync 0;
)"));
  EXPECT_EQ(run_lanes(m, 128, 128), each_thread(128, [](unsigned i) { return i < 64 ? 1 : 2; }));
}

TEST(Barrier, reductions_count_and_combine_over_all_threads) {
  Machine m(lane_kernel(R"(
  and.b32 %r2, %r0, 3;
  setp.eq.u32 %p1, %r2, 0;
  bar.red.popc.u32 %r3, 0, %p1;
  bar.red.or.pred %p2, 0, %p1;
  bar.red.and.pred %p3, 0, %p1;
  setp.lt.u32 %p4, %r0, 1000;
  bar.red.and.pred %p5, 1, %p4;
  mov.u32 %r1, %r3;
  @%p2 add.u32 %r1, %r1, 1000;
  @%p3 add.u32 %r1, %r1, 2000;
  @%p5 add.u32 %r1, %r1, 4000;
)"));
  EXPECT_EQ(run_lanes(m, 80, 80), each_thread(80, [](unsigned) { return 20 + 1000 + 4000; }));
}

TEST(Barrier, the_same_barrier_serves_again_and_again) {
  Machine m(lane_kernel(R"(
  mov.u32 %r2, 0;
  mov.u32 %r62, %tid.x;
  mov.u32 %r3, s;
LOOP:
  setp.eq.u32 %p1, %r62, %r2;
  @%p1 st.shared.u32 [%r3], %r2;
  bar.sync 0;
  ld.shared.u32 %r4, [%r3];
  add.u32 %r1, %r1, %r4;
  bar.sync 0;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 100;
  @%p2 bra LOOP;
)",
                        {}, shared));
  EXPECT_EQ(run_lanes(m, 128, 128), each_thread(128, [](unsigned) { return 99 * 100 / 2; }));
}

TEST(Barrier, a_barrier_that_cannot_complete_is_a_deadlock_report) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  setp.lt.u32 %p1, %r62, 64;
  @%p1 bra FIRST;
  bar.sync 2;
  bra END;
FIRST:
  bar.sync 1;
)"));
  try {
    run_lanes(m, 96, 96);
    FAIL() << "no deadlock";
  } catch (const Fault& f) {
    EXPECT_EQ(f.kind(), Fault::Kind::deadlock);
    EXPECT_EQ(f.code(), ExitCode::program_failed);
    EXPECT_THAT(f.what(), AllOf(HasSubstr("Deadlock in block (0,0,0): 3 of 3 warps wait"),
                                HasSubstr("warps 0, 1 at barrier 1 (2 of 3"),
                                HasSubstr("warp 2 at barrier 2 (1 of 3"), HasSubstr("kernel k (test.ptx:")));
  }
}

TEST(Barrier, a_barrier_for_more_threads_than_arrive_is_a_deadlock) {
  Machine m(
      lane_kernel("  bar.sync 0, 128;\n  setp.lt.u32 %p1, %r0, 32;\n  @%p1 bra END;\n  bar.sync 1, 128;\n"));
  EXPECT_THAT(error_of([&] { run_lanes(m, 128, 128); }),
              AllOf(HasSubstr("[deadlock]"), HasSubstr("warps 1, 2, 3 at barrier 1 (3 of 4")));
}

TEST(Barrier, impossible_thread_counts_and_numbers_are_faults) {
  Machine counts(lane_kernel("  bar.sync 0, 33;\n"));
  EXPECT_THAT(error_of([&] { run_lanes(counts, 64, 64); }), HasSubstr("barrier for 33 threads"));
  Machine number(lane_kernel("  add.u32 %r2, %r0, 16;\n  bar.sync %r2;\n"));
  EXPECT_THAT(error_of([&] { run_lanes(number, 64, 64); }), HasSubstr("barrier 16 does not exist"));
}

TEST(Barrier, a_flag_polled_by_a_warp_is_set_by_a_later_one) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  setp.ge.u32 %p1, %r62, 32;
  mov.u32 %r3, s;
  @%p1 bra SET;
POLL:
  ld.volatile.shared.u32 %r4, [%r3];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra POLL;
  mov.u32 %r1, %r4;
  bra END;
SET:
  mov.u32 %r4, 5;
  st.volatile.shared.u32 [%r3], %r4;
)",
                        {}, shared));
  EXPECT_EQ(run_lanes(m, 64, 64)[0], 5u);
}

}  // namespace
}  // namespace simtlab::exec
