// Control flow that lanes take differently: branches, loops, tables, calls, returns and exits.
#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::HasSubstr;

void expect_lanes(const std::string& kernel, const std::function<std::uint32_t(unsigned)>& expected,
                  unsigned threads = 96, unsigned block = 48) {
  Machine m(kernel);
  EXPECT_EQ(run_lanes(m, threads, block), each_thread(threads, expected));
}

TEST(Divergence, both_sides_of_an_if_run_with_their_lanes_and_meet_again) {
  expect_lanes(lane_kernel(R"(
  and.b32 %r2, %r0, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra EVEN;
  add.u32 %r1, %r1, 100;
  bra JOIN;
EVEN:
  add.u32 %r1, %r1, 200;
JOIN:
  activemask.b32 %r3;
  popc.b32 %r3, %r3;
  add.u32 %r1, %r1, %r3;
)"),
               [](unsigned i) { return (i % 2 == 0 ? 200u : 100u) + (i % 48 < 32 ? 32u : 16u); });
}

TEST(Divergence, nested_ifs_meet_at_their_own_ends) {
  expect_lanes(
      lane_kernel(R"(
  and.b32 %r2, %r0, 1;
  and.b32 %r3, %r0, 2;
  setp.ne.u32 %p1, %r2, 0;
  setp.ne.u32 %p2, %r3, 0;
  @!%p1 bra OUTER;
  @!%p2 bra INNER;
  add.u32 %r1, %r1, 1;
INNER:
  activemask.b32 %r4;
  popc.b32 %r4, %r4;
  mad.lo.u32 %r1, %r4, 10, %r1;
OUTER:
  activemask.b32 %r5;
  popc.b32 %r5, %r5;
  mad.lo.u32 %r1, %r5, 1000, %r1;
)"),
      [](unsigned i) { return (i % 2 ? 160u + (i & 2 ? 1u : 0u) : 0u) + 32000u; }, 64, 32);
}

TEST(Divergence, lanes_leave_a_loop_after_trips_of_their_own) {
  Machine m(lane_kernel(R"(
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r1, %r1, %r2;
  add.u32 %r2, %r2, 1;
  setp.le.u32 %p1, %r2, %r0;
  @%p1 bra LOOP;
)"));
  EXPECT_EQ(run_lanes(m, 64, 64), each_thread(64, [](unsigned i) { return i * (i + 1) / 2; }));
}

TEST(Divergence, a_loop_with_a_divergent_break_and_continue_ends_with_all_lanes_together) {
  expect_lanes(
      lane_kernel(R"(
  mov.u32 %r2, 0;
LOOP:
  setp.eq.u32 %p1, %r2, %r0;
  @%p1 bra DONE;
  add.u32 %r2, %r2, 1;
  and.b32 %r3, %r2, 1;
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra LOOP;
  add.u32 %r1, %r1, %r2;
  bra LOOP;
DONE:
  activemask.b32 %r4;
  popc.b32 %r4, %r4;
  mad.lo.u32 %r1, %r4, 100000, %r1;
)"),
      [](unsigned i) {
        const unsigned odd = (i + 1) / 2;
        return odd * odd + 3200000u;
      },
      64, 32);
}

TEST(Divergence, lanes_that_exit_early_do_not_come_back) {
  Machine m(lane_kernel(R"(
  and.b32 %r2, %r0, 3;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 exit;
  setp.eq.u32 %p2, %r2, 1;
  @%p2 bra OTHER;
  activemask.b32 %r1;
  bra END;
OTHER:
  ret;
)"));
  const auto out = run_lanes(m, 32, 32);
  EXPECT_EQ(out, each_thread(32, [](unsigned i) { return i % 4 < 2 ? 0xdeadbeefu : 0xccccccccu; }));
}

TEST(Divergence, a_whole_warp_may_exit_inside_an_if) {
  expect_lanes(
      lane_kernel(R"(
  setp.lt.u32 %p1, %r0, 16;
  @%p1 bra LOW;
  mov.u32 %r1, 2;
  st.global.u32 [%rd3], %r1;
  exit;
LOW:
  mov.u32 %r1, 1;
  st.global.u32 [%rd3], %r1;
  exit;
)"),
      [](unsigned i) { return i < 16 ? 1u : 2u; }, 64, 32);
}

TEST(Divergence, a_table_branch_sends_every_lane_to_its_target) {
  expect_lanes(
      lane_kernel(R"(
  and.b32 %r2, %r0, 3;
TABLE: .branchtargets A, B, A, C;
  brx.idx %r2, TABLE;
A:
  add.u32 %r1, %r1, 10;
  bra JOIN;
B:
  add.u32 %r1, %r1, 20;
  bra JOIN;
C:
  add.u32 %r1, %r1, 30;
JOIN:
  activemask.b32 %r3;
  popc.b32 %r3, %r3;
  mad.lo.u32 %r1, %r3, 100, %r1;
)"),
      [](unsigned i) {
        const unsigned by[] = {10, 20, 10, 30};
        return by[i % 4] + 3200u;
      },
      64, 32);
}

TEST(Divergence, a_table_index_beyond_the_table_is_a_fault) {
  Machine m(lane_kernel(R"(
TABLE: .branchtargets A, B;
  brx.idx %r0, TABLE;
A:
  mov.u32 %r1, 1;
B:
)"));
  EXPECT_THAT(error_of([&] { run_lanes(m, 32, 32); }),
              HasSubstr("brx.idx with index 2 of 2 targets by thread (2,0,0)"));
}

constexpr const char* functions = R"(
.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<4>;
  .reg .pred %p;
  ld.param.u32 %r1, [value];
  setp.gt.u32 %p, %r1, 40;
  @%p bra LARGE;
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
LARGE:
  mov.u32 %r2, 7;
  st.param.b32 [result], %r2;
  ret;
}
.func (.param .b32 result) twice_plus(.param .b32 value)
{
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [value];
  {
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], %r1;
    call.uni (q), twice, (p);
    ld.param.b32 %r2, [q];
  }
  add.u32 %r2, %r2, 1;
  st.param.b32 [result], %r2;
  ret;
}
)";

TEST(Divergence, a_function_returns_where_lanes_return_at_different_places) {
  expect_lanes(
      lane_kernel(R"(
  {
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], %r0;
    call.uni (q), twice_plus, (p);
    ld.param.b32 %r1, [q];
  }
  activemask.b32 %r3;
  popc.b32 %r3, %r3;
  mad.lo.u32 %r1, %r3, 1000, %r1;
)",
                  functions),
      [](unsigned i) { return (i > 40 ? 7u : 2 * i) + 1 + 32000u; }, 64, 32);
}

TEST(Divergence, a_call_made_by_some_lanes_leaves_the_others_alone) {
  expect_lanes(
      lane_kernel(R"(
  mov.u32 %r1, 5;
  and.b32 %r2, %r0, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra SKIP;
  {
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], %r0;
    call.uni (q), twice, (p);
    ld.param.b32 %r1, [q];
  }
SKIP:
)",
                  functions),
      [](unsigned i) { return i % 2 == 0 ? 5u
                              : i > 40   ? 7u
                                         : 2 * i; }, 64, 32);
}

TEST(Divergence, an_indirect_call_runs_each_target_with_its_lanes) {
  expect_lanes(
      lane_kernel(R"(
  and.b32 %r2, %r0, 1;
  setp.eq.u32 %p1, %r2, 0;
  mov.u64 %rd10, twice;
  mov.u64 %rd11, twice_plus;
  selp.b64 %rd12, %rd10, %rd11, %p1;
  {
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], %r0;
    PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q), %rd12, (p), PROTO;
    ld.param.b32 %r1, [q];
  }
  activemask.b32 %r3;
  popc.b32 %r3, %r3;
  mad.lo.u32 %r1, %r3, 1000, %r1;
)",
                  functions),
      [](unsigned i) { return (i > 40 ? 7u : 2 * i) + i % 2 + 32000u; }, 64, 32);
}

TEST(Divergence, a_function_pointer_from_a_table_in_memory_works) {
  expect_lanes(
      lane_kernel(R"(
  and.b32 %r2, %r0, 1;
  mul.wide.u32 %rd10, %r2, 8;
  mov.u64 %rd11, pointers;
  add.s64 %rd11, %rd11, %rd10;
  ld.global.u64 %rd12, [%rd11];
  {
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], %r0;
    PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q), %rd12, (p), PROTO;
    ld.param.b32 %r1, [q];
  }
)",
                  std::string(functions) + ".global .align 8 .u64 pointers[2] = {twice, twice_plus};\n"),
      [](unsigned i) { return (i > 40 ? 7u : 2 * i) + i % 2; }, 64, 32);
}

TEST(Divergence, an_indirect_call_of_no_function_is_a_fault) {
  Machine m(lane_kernel(R"(
  mov.u64 %rd12, 4660;
  {
    .param .b32 p;
    .param .b32 q;
    st.param.b32 [p], %r0;
    PROTO: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q), %rd12, (p), PROTO;
  }
)",
                        functions));
  EXPECT_THAT(error_of([&] { run_lanes(m, 32, 32); }), HasSubstr("indirect call of 0x1234"));
}

TEST(Divergence, a_thread_that_exits_inside_a_function_is_gone_for_its_callers) {
  Machine m(lane_kernel(R"(
  {
    .param .b32 p;
    st.param.b32 [p], %r0;
    call.uni leave, (p);
  }
  activemask.b32 %r1;
)",
                        R"(
.func leave(.param .b32 value)
{
  .reg .b32 %r<4>;
  .reg .pred %p;
  ld.param.u32 %r1, [value];
  and.b32 %r1, %r1, 1;
  setp.eq.u32 %p, %r1, 0;
  @%p exit;
  ret;
}
)"));
  EXPECT_EQ(run_lanes(m, 64, 64),
            each_thread(64, [](unsigned i) { return i % 2 == 0 ? 0xdeadbeefu : 0xaaaaaaaau; }));
}

TEST(Divergence, every_lane_on_a_path_of_its_own_stays_within_the_stack) {
  // A tree of 32 leaves reached by five nested branches inside a loop, three times.
  std::string body = "  mov.u32 %r2, 0;\nLOOP:\n";
  for (int bit = 0; bit < 5; ++bit) {
    const std::string b = std::to_string(bit);
    body += "  shr.u32 %r3, %r0, " + b +
            ";\n  and.b32 %r3, %r3, 1;\n  setp.eq.u32 %p1, %r3, 0;\n  @%p1 bra S" + b +
            ";\n  add.u32 %r1, %r1, " + std::to_string(1 << bit) + ";\n";
  }
  for (int bit = 4; bit >= 0; --bit) body += "S" + std::to_string(bit) + ":\n";
  body += "  add.u32 %r2, %r2, 1;\n  setp.lt.u32 %p2, %r2, 3;\n  @%p2 bra LOOP;\n";
  expect_lanes(
      lane_kernel(body),
      [](unsigned i) {
        unsigned sum = 0;
        for (unsigned bit = 0; bit < 5 && (i >> bit & 1); ++bit) sum += 1u << bit;
        return 3 * sum;
      },
      32, 32);
}

TEST(Divergence, guarded_instructions_touch_only_lanes_with_a_true_guard) {
  expect_lanes(lane_kernel(R"(
  and.b32 %r2, %r0, 1;
  setp.eq.u32 %p1, %r2, 0;
  mov.u32 %r1, 1;
  @%p1 add.u32 %r1, %r1, 10;
  @!%p1 add.u32 %r1, %r1, 20;
  mov.u32 %r5, 99;
  @%p1 st.global.u32 [%rd3], %r5;
  @%p1 exit;
)"),
               [](unsigned i) { return i % 2 == 0 ? 99u : 21u; });
}

TEST(Divergence, a_lock_that_lanes_of_one_warp_take_in_turns_comes_to_an_end) {
  Machine m(R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
LOOP:
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ld.global.u32 %r2, [%rd1+4];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd1+4], %r2;
  atom.global.exch.b32 %r3, [%rd1], 0;
  ret;
})");
  const std::uint64_t p = m.upload<std::uint32_t>({0, 0});
  m.run({1, 1, 1}, {64, 1, 1}, p);
  EXPECT_EQ(m.download<std::uint32_t>(p, 2)[1], 64u);
}

TEST(Divergence, lanes_that_wait_where_two_sides_meet_go_on_if_the_other_side_needs_them) {
  // Lanes of an inner level that all loop hide the ones that wait further out.
  Machine m(R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra JOIN;
  and.b32 %r2, %r1, 2;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra INNER;
  add.u32 %r2, %r2, 1;
INNER:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.eq.u32 %p3, %r3, 0;
  @%p3 bra INNER;
JOIN:
  mov.u32 %r2, 1;
  st.volatile.global.u32 [%rd1], %r2;
  atom.global.add.u32 %r3, [%rd1+4], 1;
  ret;
})");
  const std::uint64_t p = m.upload<std::uint32_t>({0, 0});
  m.run({1, 1, 1}, {32, 1, 1}, p);
  EXPECT_EQ(m.download<std::uint32_t>(p, 2)[1], 32u);
}

TEST(Divergence, lanes_with_long_loops_are_waited_for_where_a_shuffle_follows) {
  Machine m(R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.lo.u32 %r2, %r1, 50000;
  mov.u32 %r3, 0;
LOOP:
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra LOOP;
  shfl.sync.idx.b32 %r4, %r3, 31, 31, 0xffffffff;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r4;
  ret;
})");
  const std::uint64_t p = m.upload(std::vector<std::uint32_t>(32, 0));
  m.run({1, 1, 1}, {32, 1, 1}, p);
  EXPECT_EQ(m.download<std::uint32_t>(p, 32), std::vector<std::uint32_t>(32, 31 * 50000));
}

}  // namespace
}  // namespace simtlab::exec
