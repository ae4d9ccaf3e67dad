// Barriers in shared memory (mbarrier): arrivals, phases, bytes under way.
#include "kernel_support.h"

namespace simtlab::exec {
namespace {

constexpr const char* barrier = "  .shared .align 8 .b64 b;\n  .shared .align 4 .b32 s[64];\n";

// Thread 0 alone; each line "test" puts whether the first phase is over into the next bit of %r1.
std::uint32_t alone(std::string body) {
  const std::string test = R"(
  mbarrier.test_wait.parity.shared.b64 %p1, [b], 0;
  selp.u32 %r20, %r21, 0, %p1;
  or.b32 %r1, %r1, %r20;
  shl.b32 %r21, %r21, 1;
)";
  for (std::size_t at; (at = body.find("  test\n")) != std::string::npos;) body.replace(at, 7, test);
  Machine m(lane_kernel("  mov.u32 %r21, 1;\n" + body, {}, barrier));
  return run_lanes(m, 1, 1)[0];
}

TEST(Mbarrier, a_phase_is_over_when_all_have_arrived) {
  EXPECT_EQ(alone(R"(
  mbarrier.init.shared.b64 [b], 3;
  test
  mbarrier.arrive.shared.b64 %rd10, [b];
  test
  mbarrier.arrive.shared.b64 %rd10, [b], 2;
  test
)"),
            0b100u);
}

TEST(Mbarrier, counts_come_from_registers_too) {
  EXPECT_EQ(alone(R"(
  mov.u32 %r2, 1048575;
  mbarrier.init.shared::cta.b64 [b], %r2;
  mov.u32 %r3, 1048574;
  mbarrier.arrive.noComplete.shared.b64 %rd10, [b], %r3;
  test
  mbarrier.arrive.shared.b64 _, [b];
  test
)"),
            0b10u);
}

TEST(Mbarrier, a_state_says_its_phase_and_what_was_pending) {
  EXPECT_EQ(alone(R"(
  mbarrier.init.shared.b64 [b], 5;
  mbarrier.arrive.shared.b64 %rd10, [b], 3;
  mbarrier.arrive.shared.b64 %rd11, [b];
  mbarrier.test_wait.shared.b64 %p2, [b], %rd10;
  mbarrier.arrive.shared.b64 %rd12, [b];
  mbarrier.try_wait.shared.b64 %p3, [b], %rd10;
  mbarrier.pending_count.b64 %r5, %rd10;
  mbarrier.pending_count.b64 %r6, %rd11;
  mbarrier.pending_count.b64 %r7, %rd12;
  shl.b32 %r6, %r6, 4;
  shl.b32 %r7, %r7, 8;
  or.b32 %r1, %r5, %r6;
  or.b32 %r1, %r1, %r7;
  @%p2 or.b32 %r1, %r1, 0x1000;
  @%p3 or.b32 %r1, %r1, 0x2000;
)"),
            0x2125u);
}

TEST(Mbarrier, who_drops_out_is_not_expected_again) {
  EXPECT_EQ(alone(R"(
  mbarrier.init.shared.b64 [b], 2;
  mbarrier.arrive_drop.shared.b64 %rd10, [b];
  mbarrier.arrive.shared.b64 %rd10, [b];
  test
  mbarrier.arrive.shared.b64 %rd10, [b];
  test
  mbarrier.arrive.shared.b64 %rd10, [b];
  test
)"),
            0b101u);
}

TEST(Mbarrier, bytes_under_way_keep_a_phase_open) {
  EXPECT_EQ(alone(R"(
  mbarrier.init.shared.b64 [b], 1;
  mbarrier.arrive.expect_tx.shared.b64 %rd10, [b], 1024;
  test
  mov.u32 %r2, 768;
  mbarrier.complete_tx.relaxed.cta.shared.b64 [b], %r2;
  test
  mbarrier.expect_tx.relaxed.cta.shared.b64 [b], 256;
  mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 256;
  test
  mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 256;
  test
)"),
            0b1000u);
}

TEST(Mbarrier, bytes_may_be_complete_before_they_are_expected) {
  EXPECT_EQ(alone(R"(
  mbarrier.init.shared.b64 [b], 1;
  mbarrier.complete_tx.relaxed.cta.shared.b64 [b], 64;
  test
  mbarrier.arrive.expect_tx.shared.b64 %rd10, [b], 64;
  test
)"),
            0b10u);
}

TEST(Mbarrier, generic_addresses_and_guards) {
  EXPECT_EQ(alone(R"(
  mov.u64 %rd20, b;
  cvta.shared.u64 %rd20, %rd20;
  setp.eq.u32 %p4, %r0, 1;
  setp.eq.u32 %p1, %r0, 0;
  mbarrier.init.b64 [%rd20], 1;
  @%p4 mbarrier.arrive.b64 %rd10, [%rd20];
  test
  mov.b64 %rd10, 0;
  setp.eq.u32 %p2, %r0, 0;
  @%p4 mbarrier.test_wait.b64 %p2, [%rd20], %rd10;
  mbarrier.arrive.b64 %rd10, [%rd20];
  test
  @%p2 or.b32 %r1, %r1, 16;
)"),
            0b10010u);
}

// Producers and consumers hand a buffer to and fro.
TEST(Mbarrier, warps_hand_over_by_phases) {
  Machine m(lane_kernel(R"(
  mov.u32 %r62, %tid.x;
  mov.u32 %r2, s;
  and.b32 %r3, %r62, 31;
  shl.b32 %r4, %r3, 2;
  add.u32 %r4, %r4, %r2;
  setp.ne.u32 %p1, %r62, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [full], 32;
  mbarrier.init.shared.b64 [empty], 32;
READY:
  bar.sync 0;
  mov.u32 %r5, 0;
  setp.lt.u32 %p2, %r62, 32;
  @%p2 bra CONSUME;
PRODUCE:
  and.b32 %r6, %r5, 1;
  xor.b32 %r7, %r6, 1;
W1:
  mbarrier.try_wait.parity.shared.b64 %p3, [empty], %r7;
  @!%p3 bra W1;
  mad.lo.u32 %r8, %r5, 100, %r3;
  st.shared.u32 [%r4], %r8;
  mbarrier.arrive.shared.b64 _, [full];
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 5;
  @%p4 bra PRODUCE;
  bra END;
CONSUME:
  and.b32 %r6, %r5, 1;
W2:
  mbarrier.try_wait.parity.shared.b64 %p3, [full], %r6;
  @!%p3 bra W2;
  xor.b32 %r9, %r4, 4;
  ld.shared.u32 %r10, [%r9];
  add.u32 %r1, %r1, %r10;
  mbarrier.arrive.shared.b64 _, [empty];
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 5;
  @%p4 bra CONSUME;
)",
                        {}, "  .shared .align 8 .b64 full, empty;\n  .shared .align 128 .b32 s[64];\n"));
  EXPECT_EQ(run_lanes(m, 64, 64),
            each_thread(64, [](unsigned i) { return i < 32 ? 1000 + 5 * (i ^ 1) : 0; }));
}

// Sixteen words to shared memory, and back behind those that they came from.
constexpr const char* round_trip = R"(
  mbarrier.init.shared.b64 [b], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [b], 64;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd2], 64, [b];
W:
  mbarrier.try_wait.parity.shared.b64 %p1, [b], 0;
  @!%p1 bra W;
  ld.shared.u32 %r1, [s+60];
  st.shared.u32 [s], 77;
  fence.proxy.async.shared::cta;
  mov.u32 %r5, 64;
  cp.async.bulk.global.shared::cta.bulk_group [%rd2+64], [s], %r5;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ld.global.u32 %r2, [%rd2+64];
  mad.lo.u32 %r1, %r1, 100, %r2;
  ld.global.u32 %r2, [%rd2+124];
  mad.lo.u32 %r1, %r1, 100, %r2;
)";

TEST(Mbarrier, bulk_copies_take_their_bytes_off_the_barrier) {
  std::vector<std::uint32_t> in(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = i;
  Machine m(lane_kernel(round_trip, {}, "  .shared .align 8 .b64 b;\n  .shared .align 16 .b32 s[16];\n"));
  EXPECT_EQ(run_lanes(m, 1, 1, in)[0], (15u * 100 + 77) * 100 + 15);
}

TEST(Mbarrier, bulk_copies_stay_inside_of_memory) {
  for (const auto& [what, kind] : {std::pair{"[s], [%rd2], 80, [b]", Fault::Kind::illegal_address},
                                   std::pair{"[s], [%rd2+4096], 64, [b]", Fault::Kind::illegal_address},
                                   std::pair{"[s], [%rd2+4], 16, [b]", Fault::Kind::misaligned_address},
                                   std::pair{"[s], [%rd2], 24, [b]", Fault::Kind::misaligned_address}}) {
    Machine m(lane_kernel(
        std::string("  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ") + what + ";\n", {},
        "  .shared .align 8 .b64 b;\n  .shared .align 16 .b32 s[16];\n"));
    try {
      run_lanes(m, 1, 1, std::vector<std::uint32_t>(32));
      FAIL() << what;
    } catch (const Fault& fault) { EXPECT_EQ(fault.kind(), kind) << what; }
  }
}

TEST(Mbarrier, nobody_arrives_is_a_deadlock) {
  Machine m(lane_kernel(R"(
  mbarrier.init.shared.b64 [b], 2;
  mbarrier.arrive.shared.b64 %rd10, [b];
W:
  mbarrier.try_wait.shared.b64 %p1, [b], %rd10;
  @!%p1 bra W;
)",
                        {}, barrier));
  try {
    run_lanes(m, 1, 1);
    FAIL() << "it ended";
  } catch (const Fault& fault) { EXPECT_EQ(fault.kind(), Fault::Kind::deadlock); }
}

}  // namespace
}  // namespace simtlab::exec
