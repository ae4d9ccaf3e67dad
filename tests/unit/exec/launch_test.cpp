// What a launch refuses, special registers, limits of functional runs, module loading.
#include <numeric>

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* empty = ".visible .entry k(.param .u64 a)\n{\n  ret;\n}\n";

std::string refusal(Machine& m, Dim3 grid, Dim3 block) {
  return error_of([&] { m.prepare(grid, block, std::uint64_t{0}); });
}

TEST(Launch, impossible_dimensions_are_refused) {
  Machine m(empty);
  EXPECT_THAT(refusal(m, {0, 1, 1}, {32}),
              HasSubstr("[launch-grid] launch of kernel k: grid 0x1x1 has no blocks"));
  EXPECT_THAT(refusal(m, {0x80000000u, 1, 1}, {32}), HasSubstr("[launch-grid]"));
  EXPECT_THAT(refusal(m, {1, 65536, 1}, {32}), HasSubstr("exceeds 2147483647x65535x65535"));
  EXPECT_THAT(refusal(m, {1, 1, 65536}, {32}), HasSubstr("[launch-grid]"));
  EXPECT_THAT(refusal(m, {1}, {32, 0, 1}), HasSubstr("[launch-block]"));
  EXPECT_THAT(refusal(m, {1}, {1025}), HasSubstr("[launch-block]"));
  EXPECT_THAT(refusal(m, {1}, {0xffffffffu, 0xffffffffu, 0xffffffffu}), HasSubstr("[launch-block]"));
  EXPECT_THAT(refusal(m, {1}, {1, 1, 65}), HasSubstr("[launch-block]"));
  EXPECT_EQ(refusal(m, {0x7fffffffu, 65535, 65535}, {32, 32, 1}), "no error");
}

TEST(Launch, parameters_must_have_the_size_that_the_kernel_declares) {
  Machine m(empty);
  EXPECT_THAT(error_of([&] { m.prepare({1}, {1}); }),
              HasSubstr("[launch-parameters] launch of kernel k: 0 bytes of parameters given, 8 expected"));
}

TEST(Launch, required_and_maximal_block_sizes_of_the_kernel_are_kept) {
  Machine required(".visible .entry k(.param .u64 a) .reqntid 32, 2\n{\n  ret;\n}\n");
  EXPECT_EQ(refusal(required, {1}, {32, 2, 1}), "no error");
  EXPECT_THAT(refusal(required, {1}, {64}),
              HasSubstr("block 64x1x1 is not 32x2x1, which the kernel requires"));
  Machine most(".visible .entry k(.param .u64 a) .maxntid 128\n{\n  ret;\n}\n");
  EXPECT_EQ(refusal(most, {1}, {64, 2, 1}), "no error");
  EXPECT_THAT(refusal(most, {1}, {129}), HasSubstr("more than the 128 threads"));
}

TEST(Launch, more_shared_memory_than_any_gpu_has_is_refused) {
  Machine m(empty);
  m.params.dynamic_shared_bytes = 0xffffffffu;
  EXPECT_THAT(refusal(m, {1}, {32}), HasSubstr("[launch-shared]"));
}

TEST(Launch, special_registers_describe_thread_block_grid_and_machine) {
  Machine m(R"(
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<40>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r4, %tid.z; mov.u32 %r5, %ntid.y; mov.u32 %r6, %tid.y; mad.lo.u32 %r4, %r4, %r5, %r6;
  mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r4, %r4, %r5, %r6;
  mov.u32 %r5, %ntid.z;
  mad.lo.u32 %r1, %r1, 60, %r4;
  mul.wide.u32 %rd2, %r1, 64;
  add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r10, %laneid; mov.u32 %r11, %warpid; mov.u32 %r12, %nwarpid; mov.u32 %r13, %smid;
  st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
  mov.u32 %r10, %lanemask_lt; mov.u32 %r11, %lanemask_ge; mov.u32 %r12, %lanemask_eq; mov.u32 %r13, %nsmid;
  st.global.v4.u32 [%rd1+16], {%r10, %r11, %r12, %r13};
  mov.u64 %rd3, %gridid; cvt.u32.u64 %r10, %rd3; mov.u32 %r11, %lanemask_le; mov.u32 %r12, %lanemask_gt;
  st.global.v4.u32 [%rd1+32], {%r10, %r11, %r12, %r5};
  ret;
}
)");
  m.params.sm_count = 7;
  m.params.max_warps_per_sm = 48;
  m.params.grid_id = 99;
  const auto out = m.upload(std::vector<std::uint32_t>(24 * 60 * 16));
  const auto launch = m.prepare({2, 3, 4}, {3, 4, 5}, out);
  Block block(*launch);
  for (std::uint64_t b = 0; b < 24; ++b) {
    block.reset(b, 5, 10);
    for (bool ran = true; ran;) {
      ran = false;
      for (unsigned w = 0; w < 2; ++w)
        if (block.status(w) == WarpStatus::ready) block.step(w, 0), ran = true;
    }
  }
  const auto got = m.download<std::uint32_t>(out, 24 * 60 * 16);
  for (unsigned t = 0; t < 24 * 60; ++t) {
    const unsigned lane = t % 60 % 32, bit = 1u << lane;
    EXPECT_THAT(std::vector(got.begin() + t * 16, got.begin() + t * 16 + 12),
                testing::ElementsAre(lane, 10 + t % 60 / 32, 48, 5, bit - 1, ~(bit - 1), bit, 7, 99,
                                     (bit - 1) | bit, ~((bit - 1) | bit), 5))
        << t;
  }
}

TEST(Launch, clocks_tell_the_time_of_the_step) {
  Machine m(lane_kernel(R"(
  mov.u32 %r2, %clock;
  mov.u64 %rd5, %clock64;
  mov.u64 %rd6, %globaltimer;
  cvt.u32.u64 %r3, %rd5;
  sub.u32 %r1, %r3, %r2;
  cvt.u32.u64 %r4, %rd6;
  mad.lo.u32 %r1, %r4, 1000, %r1;
)"));
  m.params.clock_hz = 2e9;
  const auto out = m.upload(std::vector<std::uint32_t>(32)), in = m.upload(std::vector<std::uint32_t>(32));
  const auto launch = m.prepare({1}, {32}, out, in);
  Block block(*launch);
  for (std::uint64_t now = 1000; block.status(0) == WarpStatus::ready; now += 10) block.step(0, now);
  const std::uint32_t value = m.download<std::uint32_t>(out, 1)[0];
  EXPECT_EQ(value % 1000, 10u);
  EXPECT_GE(value / 1000, 500u);
  EXPECT_LT(value / 1000, 700u);
}

TEST(Launch, an_instruction_limit_stops_an_endless_kernel_exactly_there) {
  Machine m(lane_kernel("LOOP:\n  add.u32 %r1, %r1, 1;\n  st.global.u32 [%rd3], %r1;\n  bra LOOP;\n"));
  m.options.max_warp_instructions = 1000;
  const auto out = m.upload(std::vector<std::uint32_t>(32)), in = m.upload(std::vector<std::uint32_t>(32));
  EXPECT_THAT(error_of([&] { m.run({1}, {32}, out, in); }), HasSubstr("[limit-instructions]"));
  EXPECT_EQ(m.download<std::uint32_t>(out, 1)[0], 330u);  // 10 before the loop
}

TEST(Launch, an_interrupt_stops_the_run) {
  Machine m(lane_kernel("LOOP:\n  bra LOOP;\n"));
  const volatile bool stop = true;
  m.options.interrupt = &stop;
  EXPECT_THAT(error_of([&] { run_lanes(m, 32, 32); }), HasSubstr("[interrupted]"));
}

TEST(Launch, everything_unsupported_in_a_module_is_listed_with_its_lines) {
  const auto text = error_of([] {
    Machine m(
        lane_kernel("  mov.u32 %r5, 1;\n  wgmma.fence.sync.aligned;\n  "
                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];\n"));
  });
  EXPECT_THAT(text, HasSubstr("unsupported"));
}

TEST(Launch, a_module_gives_its_memory_back) {
  GlobalMemory memory(1 << 20, 0);
  const auto parsed = ptx::load_module(
      "a.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 a[100];\n.const .u32 b = 3;\n");
  {
    const LoadedModule module(parsed, memory);
    EXPECT_EQ(memory.used(), 404u);
    EXPECT_EQ(memory.find(module.variable_address(0))->what, "global variable 'a'");
    EXPECT_TRUE(memory.find(module.variable_address(1))->read_only);
  }
  EXPECT_EQ(memory.used(), 0u);
}

TEST(Launch, a_variable_that_does_not_fit_is_an_error_and_leaves_nothing_behind) {
  GlobalMemory memory(1 << 20, 0);
  const auto parsed = ptx::load_module(
      "a.ptx",
      ".version 7.0\n.target sm_70\n.address_size 64\n.global .u32 a[100];\n.global .b8 big[2000000];\n");
  EXPECT_THAT(error_of([&] { const LoadedModule module(parsed, memory); }),
              AllOf(HasSubstr("[memory-exhausted]"), HasSubstr("'big' of 2000000 bytes")));
  EXPECT_EQ(memory.used(), 0u);
}

TEST(Launch, an_unknown_instruction_set_is_a_usage_error) {
  setenv("SIMTLAB_ISA", "mmx", 1);
  EXPECT_THAT(error_of([] { instruction_set(); }), HasSubstr("SIMTLAB_ISA=mmx is not an instruction set"));
  unsetenv("SIMTLAB_ISA");
}

}  // namespace
}  // namespace simtlab::exec
