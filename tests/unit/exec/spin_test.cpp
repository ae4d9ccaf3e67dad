// Warps that wait for what nobody can change are told of; those that can go on are left alone.
#include "exec/spin.h"

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* shared = "  .shared .align 4 .b32 s[64];\n  .local .align 4 .b32 l[1];\n";

struct Program {
  const char* name;
  std::string body;
  unsigned threads = 32, block = 32;
  std::uint64_t resident = 0;
  std::string before{};
};

std::string name_of(const testing::TestParamInfo<Program>& info) { return info.param.name; }

// What ends the program; "ended" if it does. `in` holds 64 words of zero.
std::string end_of(const Program& p) {
  Machine m(lane_kernel(p.body, p.before, shared));
  m.options.max_warp_instructions = 60'000'000;
  m.options.resident_blocks = p.resident;
  std::string error = "ended";
  try {
    run_lanes(m, p.threads, p.block, std::vector<std::uint32_t>(64));
  } catch (const Error& e) { error = e.format(); }
  return error;
}

// A loop around the reads, left when %r4 is not 0.
std::string spin(const std::string& reads) {
  return "AGAIN:\n" + reads + "  setp.eq.u32 %p2, %r4, 0;\n  @%p2 bra AGAIN;\n";
}
// The first warp of a block spins, the others go on.
std::string first_warp(const std::string& spinning, const std::string& others) {
  return "  setp.ge.u32 %p1, %r62, 32;\n  mov.u32 %r3, s;\n  @%p1 bra OTHERS;\n" + spinning +
         "  bra MEET;\nOTHERS:\n" + others + "MEET:\n";
}
// Only the first block spins.
std::string first_block(const std::string& spinning, const std::string& others) {
  return "  setp.ne.u32 %p1, %r60, 0;\n  @%p1 bra OTHERS;\n" + spinning + "  bra MEET;\nOTHERS:\n" + others +
         "MEET:\n";
}
const std::string poll = "  ld.volatile.global.u32 %r4, [%rd2];\n";
const std::string set = "  mov.u32 %r5, 1;\n  st.volatile.global.u32 [%rd2], %r5;\n";
const std::string long_work =
    "  mov.u32 %r6, 0;\nWORK:\n  add.u32 %r6, %r6, 1;\n  setp.lt.u32 %p3, %r6, 2000000;\n  @%p3 bra WORK;\n";

class Locked : public testing::TestWithParam<Program> {};
TEST_P(Locked, is_a_deadlock) { EXPECT_THAT(end_of(GetParam()), HasSubstr("[deadlock]")); }

INSTANTIATE_TEST_SUITE_P(
    Spin, Locked,
    testing::Values(
        Program{"volatile_load", spin(poll)},
        Program{"ordinary_load", spin("  ld.global.u32 %r4, [%rd2];\n")},
        Program{"acquire_load", spin("  ld.acquire.gpu.global.u32 %r4, [%rd2];\n")},
        Program{"generic_load", spin("  ld.relaxed.sys.u32 %r4, [%rd2];\n")},
        Program{"vector_load", spin("  ld.volatile.global.v2.u32 {%r4, %r5}, [%rd2];\n")},
        Program{"shared_flag", first_warp(spin("  ld.volatile.shared.u32 %r4, [%r3];\n"), "  bar.sync 0;\n"),
                96, 96},
        Program{"others_at_a_barrier", first_warp(spin(poll), "") + "  bar.sync 0;\n" + set, 128, 128},
        Program{"atom_or_0", spin("  atom.global.or.b32 %r4, [%rd2], 0;\n")},
        Program{"atom_add_0", spin("  atom.global.add.u32 %r4, [%rd2], 0;\n")},
        Program{"atom_add_0_shared", "  mov.u32 %r3, s;\n" + spin("  atom.shared.add.u32 %r4, [%r3], 0;\n")},
        Program{"atom_exch_of_the_same", spin("  atom.global.exch.b32 %r4, [%rd2], 0;\n")},
        Program{
            "atom_64_bits",
            spin("  mov.u64 %rd5, 0;\n  atom.global.or.b64 %rd6, [%rd2], %rd5;\n  cvt.u32.u64 %r4, %rd6;\n")},
        Program{"a_lock_that_is_never_released",
                spin("  atom.global.cas.b32 %r5, [%rd2], 0, 1;\n  setp.eq.u32 %p4, %r5, 0;\n  selp.u32 %r4, "
                     "1, 0, %p4;\n"),
                64, 32},
        Program{"a_store_of_what_is_there",
                spin(poll + "  mov.u32 %r5, 0;\n  st.volatile.global.u32 [%rd2+4], %r5;\n")},
        Program{"nanosleep", spin(poll + "  nanosleep.u32 100;\n")},
        Program{"a_back_off_up_to_a_bound",
                "  mov.u32 %r7, 1;\n" +
                    spin(poll + "  nanosleep.u32 %r7;\n  shl.b32 %r7, %r7, 1;\n  min.u32 %r7, %r7, 256;\n")},
        Program{"fences_and_votes",
                spin(poll + "  membar.gl;\n  activemask.b32 %r5;\n  vote.sync.any.pred %p5, %p2, %r5;\n")},
        Program{"many_words_in_turn",
                "  mov.u32 %r4, 0;\nROUND:\n  mov.u32 %r7, 0;\n  mov.u64 %rd5, %rd2;\nNEXT:\n  "
                "ld.volatile.global.u32 %r5, [%rd5];\n  or.b32 %r4, %r4, %r5;\n"
                "  add.u64 %rd5, %rd5, 4;\n  add.u32 %r7, %r7, 1;\n  setp.lt.u32 %p3, %r7, 64;\n  @%p3 bra "
                "NEXT;\n  setp.eq.u32 %p2, %r4, 0;\n  @%p2 bra ROUND;\n"},
        Program{"a_call_in_the_loop", spin("  call (%r4), look, (%rd2);\n"), 32, 32, 0,
                ".func (.reg .u32 %a) look(.reg .u64 %b) { ld.volatile.global.u32 %a, [%b]; ret; }\n"},
        Program{"a_barrier_in_the_loop", spin(poll + "  bar.sync 0;\n"), 96, 96},
        Program{"two_warps_that_wait_for_each_other",
                first_warp(spin("  ld.volatile.shared.u32 %r4, [%r3];\n") +
                               "  st.volatile.shared.u32 [%r3+4], %r4;\n",
                           "OTHER:\n  ld.volatile.shared.u32 %r4, [%r3+4];\n  setp.eq.u32 %p2, %r4, 0;\n  "
                           "@%p2 bra OTHER;\n  st.volatile.shared.u32 [%r3], %r4;\n"),
                64, 64},
        Program{"blocks_that_wait_for_each_other",
                spin("  ld.volatile.global.u32 %r4, [%rd4];\n") + "  xor.b32 %r5, %r0, 1;\n", 128, 1},
        Program{"a_block_that_is_not_resident",
                first_block(spin(poll), "  setp.eq.u32 %p4, %r60, 3;\n  @%p4 bra SETS;\n" +
                                            std::string("BACK:\n") +
                                            "  ld.volatile.global.u32 %r4, [%rd2];\n  setp.eq.u32 %p2, %r4, "
                                            "0;\n  @%p2 bra BACK;\n  bra MEET;\nSETS:\n" +
                                            set),
                128, 32, 2},
        Program{"lanes_of_a_warp_where_one_side_comes_first",
                "  setp.eq.u32 %p1, %r62, 0;\n  @%p1 bra SETS;\n" + spin(poll) + "  bra MEET;\nSETS:\n" +
                    set + "MEET:\n  bar.sync 0;\n"},
        Program{"lanes_that_wait_for_each_other",
                "  setp.eq.u32 %p1, %r62, 0;\n  @%p1 bra SETS;\n" + spin(poll) +
                    "  st.volatile.global.u32 [%rd2+4], %r4;\n  bra MEET;\nSETS:\n"
                    "OTHER:\n  ld.volatile.global.u32 %r4, [%rd2+4];\n  setp.eq.u32 %p2, %r4, 0;\n  @%p2 bra "
                    "OTHER;\n" +
                    set + "MEET:\n"},
        Program{"tries_are_counted_for_nothing",
                "  mov.u32 %r7, 0;\n" + spin(poll + "  add.u32 %r7, %r7, 1;\n  mul.lo.u32 %r8, %r7, %r8;\n") +
                    "  mov.u32 %r1, %r8;\n"},
        Program{"tries_of_an_inner_loop_are_counted",
                "  mov.u32 %r9, 0;\n" +
                    spin("  mov.u32 %r7, 0;\nINNER:\n  add.u32 %r7, %r7, 1;\n  add.u32 %r9, %r9, 1;\n  "
                         "setp.lt.u32 %p3, %r7, 50;\n  @%p3 bra INNER;\n" +
                         poll) +
                    "  mov.u32 %r1, %r9;\n"},
        Program{"a_wait_that_sleeps_longer_and_longer",
                "  mov.u64 %rd5, %globaltimer;\n  mov.u32 %r7, 0;\n" +
                    spin(poll + "  setp.lt.u32 %p3, %r7, 16;\n  @%p3 add.u32 %r7, %r7, 1;\n  @%p3 bra ON;\n"
                                "  mov.u64 %rd6, %globaltimer;\n  sub.u64 %rd6, %rd6, %rd5;\n"
                                "  setp.gt.u64 %p4, %rd6, 4000000;\n  @%p4 bra LONG;\n  shr.u64 %rd6, %rd6, "
                                "2;\n  cvt.u32.u64 %r8, %rd6;\n  nanosleep.u32 %r8;\n  bra ON;\n"
                                "LONG:\n  nanosleep.u32 1000000;\nON:\n")},
        Program{"a_clock_that_nothing_depends_on",
                spin(poll + "  mov.u32 %r8, %clock;\n") + "  mov.u32 %r1, %r8;\n"},
        Program{"a_loop_that_counts_and_reads_nothing", "AGAIN:\n  add.u32 %r7, %r7, 1;\n  bra AGAIN;\n"},
        Program{"a_loop_that_reads_nothing", "AGAIN:\n  bra AGAIN;\n"}),
    name_of);

class Free : public testing::TestWithParam<Program> {};
TEST_P(Free, comes_to_its_end) { EXPECT_EQ(end_of(GetParam()), "ended"); }

INSTANTIATE_TEST_SUITE_P(
    Spin, Free,
    testing::Values(
        Program{
            "a_spin_with_a_limit",
            "  mov.u32 %r7, 0;\n" +
                spin(poll +
                     "  add.u32 %r7, %r7, 1;\n  setp.gt.u32 %p3, %r7, 3000000;\n  @%p3 mov.u32 %r4, 1;\n")},
        Program{"a_limit_that_is_found_in_a_roundabout_way",
                "  mov.u32 %r7, 0;\n  mov.u32 %r8, 0;\n" +
                    spin(poll + "  add.u32 %r7, %r7, 1;\n  shr.u32 %r9, %r7, 20;\n  mov.u32 %r10, %r9;\n  "
                                "and.b32 %r11, %r10, 2;\n  or.b32 %r4, %r4, %r11;\n")},
        Program{"a_limit_in_shared_memory",
                "  mov.u32 %r3, s;\n" +
                    spin(poll + "  ld.shared.u32 %r7, [%r3];\n  add.u32 %r7, %r7, 1;\n  st.shared.u32 [%r3], "
                                "%r7;\n  setp.gt.u32 %p3, %r7, 2000000;\n  @%p3 mov.u32 %r4, 1;\n")},
        Program{"a_limit_in_local_memory",
                spin(poll + "  ld.local.u32 %r7, [l];\n  add.u32 %r7, %r7, 1;\n  st.local.u32 [l], %r7;\n  "
                            "setp.gt.u32 %p3, %r7, 2000000;\n  @%p3 mov.u32 %r4, 1;\n")},
        Program{"an_address_that_goes_on",
                "  mov.u64 %rd5, %rd2;\n  mov.u32 %r7, 1;\n  st.global.u32 [%rd2+252], %r7;\n" +
                    spin("  ld.volatile.global.u32 %r4, [%rd5];\n  add.u64 %rd5, %rd5, 4;\n")},
        Program{"a_predicate_that_counts",
                "  mov.u32 %r7, 0;\n" + spin(poll + "  setp.gt.u32 %p3, %r7, 2000000;\n  add.u32 %r7, %r7, "
                                                    "1;\n  selp.u32 %r4, 1, 0, %p3;\n")},
        Program{"a_spin_with_a_limit_on_the_clock",
                "  mov.u64 %rd5, %clock64;\n" +
                    spin(poll + "  mov.u64 %rd6, %clock64;\n  sub.u64 %rd6, %rd6, %rd5;\n"
                                "  setp.gt.u64 %p3, %rd6, 5000000;\n  @%p3 mov.u32 %r4, 1;\n")},
        Program{"a_spin_with_a_limit_on_the_clock_of_32_bits",
                "  mov.u32 %r5, %clock;\n" + spin(poll + "  mov.u32 %r6, %clock;\n  sub.u32 %r6, %r6, %r5;\n"
                                                         "  setp.gt.u32 %p3, %r6, 5000000;\n  @%p3 mov.u32 "
                                                         "%r4, 1;\n")},
        Program{"a_spin_with_a_limit_on_the_timer",
                "  mov.u64 %rd5, %globaltimer;\n" +
                    spin(poll + "  mov.u64 %rd6, %globaltimer;\n  sub.u64 %rd6, %rd6, %rd5;\n"
                                "  setp.gt.u64 %p3, %rd6, 5000000;\n  @%p3 mov.u32 %r4, 1;\n")},
        Program{"delays_that_are_counted",
                "  mov.u32 %r7, 0;\n" +
                    spin(poll + "  mov.u64 %rd5, %clock64;\nDELAY:\n  mov.u64 %rd6, %clock64;\n"
                                "  sub.u64 %rd6, %rd6, %rd5;\n  setp.lt.u64 %p3, %rd6, 1000000;\n"
                                "  @%p3 bra DELAY;\n  add.u32 %r7, %r7, 1;\n"
                                "  setp.gt.u32 %p3, %r7, 4;\n  @%p3 mov.u32 %r4, 1;\n")},
        Program{"time_that_is_summed_up",
                "  mov.u64 %rd5, %clock64;\n  mov.u64 %rd7, 0;\n" +
                    spin(poll + "  mov.u64 %rd6, %clock64;\n  sub.u64 %rd8, %rd6, %rd5;\n"
                                "  mov.u64 %rd5, %rd6;\n  add.u64 %rd7, %rd7, %rd8;\n"
                                "  setp.gt.u64 %p3, %rd7, 5000000;\n  @%p3 mov.u32 %r4, 1;\n")},
        Program{"a_warp_that_sets_late", first_warp(spin(poll), long_work + set), 64, 64},
        Program{"a_warp_that_counts_late",
                first_warp(spin(poll), long_work + "  atom.global.add.u32 %r5, [%rd2], 1;\n"), 64, 64},
        Program{"a_warp_that_reduces_late",
                first_warp(spin(poll), long_work + "  red.global.max.u32 [%rd2], 7;\n"), 64, 64},
        Program{"a_block_that_sets_later", first_block(spin(poll), long_work + set), 128, 32},
        Program{"a_block_that_just_fits", first_block(spin(poll), set), 128, 32, 2},
        Program{"a_lock_that_is_held_long",
                spin("  atom.global.cas.b32 %r5, [%rd2], 0, 1;\n  setp.eq.u32 %p4, %r5, 0;\n  selp.u32 %r4, "
                     "1, 0, %p4;\n") +
                    long_work + "  mov.u32 %r5, 0;\n  st.volatile.global.u32 [%rd2], %r5;\n",
                4, 1},
        Program{"a_barrier_of_the_grid",
                "  setp.ne.u32 %p1, %r62, 0;\n  @%p1 bra MEET;\n  atom.global.add.u32 %r5, [%rd2], 1;\n" +
                    std::string("AGAIN:\n  ld.acquire.gpu.global.u32 %r4, [%rd2];\n  setp.lt.u32 %p2, %r4, "
                                "16;\n  @%p2 bra AGAIN;\nMEET:\n  bar.sync 0;\n"),
                1024, 64},
        Program{"lanes_of_a_warp_that_take_turns", "  setp.eq.u32 %p1, %r62, 0;\n  @%p1 bra SETS;\n" +
                                                       spin(poll) + "  bra MEET;\nSETS:\n" + long_work + set +
                                                       "MEET:\n"},
        Program{
            "what_is_written_and_taken_back",
            first_warp(
                spin("  ld.volatile.shared.u32 %r4, [%r3];\n") + "  st.volatile.shared.u32 [%r3+4], %r4;\n",
                "  mov.u32 %r5, 1;\n  mov.u32 %r6, 0;\nTOGGLE:\n  st.volatile.shared.u32 [%r3], %r5;\n  "
                "st.volatile.shared.u32 [%r3], %r6;\n"
                "  ld.volatile.shared.u32 %r7, [%r3+4];\n  setp.eq.u32 %p3, %r7, 0;\n  @%p3 bra TOGGLE;\n"),
            64, 64}),
    name_of);

TEST(Spin, tells_who_reads_what_and_who_waits_where) {
  const std::string error = end_of({"", first_warp(spin(poll), "") + "  bar.sync 0;\n", 128, 128});
  EXPECT_THAT(
      error,
      AllOf(HasSubstr("test.ptx:30"),
            HasSubstr(
                "Deadlock in kernel k: all 4 warps that are there wait for what nobody is left to change"),
            HasSubstr("warp 0 of block (0,0,0) reads 4 bytes at 0x"),
            HasSubstr("of global memory (byte 0 of in)"), HasSubstr("which stay 0x0 (thread (0,0,0))"),
            HasSubstr("warp 1 of block (0,0,0) and 2 more wait at barrier 0 (3 of 4 warps arrived) in kernel "
                      "k (test.ptx:36)")));
}

TEST(Spin, tells_of_arrivals_and_bytes_that_are_missing) {
  const auto waits = [](const std::string& first) {
    return end_of({"",
                   "  mov.u32 %r3, s;\n  mbarrier.init.shared.b64 [%r3], 5;\n" + first +
                       "AGAIN:\n  mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 0;\n  @!%p2 bra AGAIN;\n",
                   1, 1});
  };
  EXPECT_THAT(waits("  mbarrier.arrive.shared.b64 _, [%r3], 3;\n"),
              HasSubstr("waits for a phase of the barrier in shared memory (byte 0 of shared variable 's'), "
                        "where 2 of 5 arrivals "
                        "are missing (thread (0,0,0))"));
  EXPECT_THAT(waits("  mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 64;\n  mbarrier.arrive.shared.b64 _, "
                    "[%r3], 4;\n"),
              HasSubstr("where 0 of 5 arrivals are missing, 64 bytes have not come"));
}

TEST(Spin, tells_of_blocks_that_cannot_begin) {
  const std::string error = end_of({"", spin("  ld.volatile.global.u32 %r4, [%rd2];\n"), 128, 32, 2});
  EXPECT_THAT(error, HasSubstr("; 2 blocks of kernel k, from block (2,0,0) on, are not resident and cannot "
                               "begin before one of these ends"));
}

TEST(Spin, tells_of_lanes_that_wait) {
  const std::string error = end_of({"", "  setp.eq.u32 %p1, %r62, 0;\n  @%p1 bra SETS;\n" + spin(poll) +
                                            "  bra MEET;\nSETS:\n" + set + "MEET:\n  bar.sync 0;\n"});
  EXPECT_THAT(error,
              AllOf(HasSubstr("while 1 lanes of the same warp wait for the others"), HasSubstr("D-EXEC-1")));
}

// Two lanes of one atomic that undo each other's change: not proven, so not stopped.
TEST(Spin, lanes_that_change_a_word_and_change_it_back_are_no_proof) {
  EXPECT_THAT(end_of({"", spin("  atom.global.xor.b32 %r5, [%rd2], 1;\n" + poll), 2, 2}),
              AllOf(HasSubstr("[limit-instructions]"), Not(HasSubstr("[deadlock]"))));
}

// Looking ahead leaves nothing behind: registers, memory, divergence.
TEST(Spin, a_look_changes_nothing) {
  Machine m(
      lane_kernel("  mov.u32 %r3, s;\n  mov.u32 %r7, 0;\nAGAIN:\n  add.u32 %r7, %r7, 1;\n  "
                  "atom.shared.add.u32 %r4, [%r3], 1;\n  st.shared.u32 [%r3+4], %r7;\n"
                  "  setp.lt.u32 %p2, %r7, %r0;\n  @%p2 bra AGAIN;\n  ld.shared.u32 %r5, [%r3+4];\n  add.u32 "
                  "%r1, %r5, %r4;\n",
                  {}, shared));
  const auto run = [&](bool look) {
    const auto out = m.upload(std::vector<std::uint32_t>(32), "out");
    const auto launch = m.prepare({1}, {32}, out, out);
    Block block(*launch);
    block.reset(0, 0, 0);
    std::vector<Stuck> who;
    for (std::uint64_t now = 0; !block.finished(); ++now) {
      if (look) { EXPECT_FALSE(block.stuck(512, who)); }
      block.step(0, now);
    }
    return m.download<std::uint32_t>(out, 32);
  };
  EXPECT_EQ(run(true), run(false));
}

}  // namespace
}  // namespace simtlab::exec
