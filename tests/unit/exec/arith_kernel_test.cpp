// Arithmetic through the whole path, from PTX text: how operands reach handlers that have several results,
// predicates or immediates in unusual places.
#include <gtest/gtest.h>

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

// One word a lane of one warp: what `body` leaves in %r0; lane number in %r1.
std::vector<std::uint32_t> lanes_of(const std::string& body) {
  const std::string text = R"(
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<8>;
  .reg .b16 %h<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<16>;
  .reg .f32 %f<8>;
  .reg .f64 %fd<8>;
  ld.param.u64 %rd14, [out];
  mov.u32 %r1, %tid.x;
)" + body + R"(
  mul.wide.u32 %rd15, %r1, 4;
  add.s64 %rd15, %rd14, %rd15;
  st.global.u32 [%rd15], %r0;
  ret;
}
)";
  Machine m(text);
  const auto out = m.upload(std::vector<std::uint32_t>(32, 0xdeadbeefu));
  m.run({1}, {32}, out);
  return m.download<std::uint32_t>(out, 32);
}

TEST(ArithmeticKernel, votes_take_their_member_mask_as_immediate_or_register) {
  // The unwanted half of the move leaves different values by lane in the scratch row.
  const char* set = "setp.lt.u32 %p1, %r1, 5;\ncvt.u64.u32 %rd1, %r1;\nmov.b64 {_, %r3}, %rd1;\n";
  for (const std::string mask : {"0xffffffff", "-1", "%r2"})
    for (const auto& [mode, want] : {std::pair{"any", 1u}, std::pair{"all", 0u}, std::pair{"uni", 0u}}) {
      const auto got = lanes_of(std::string(set) + "mov.u32 %r2, -1;\nvote.sync." + mode +
                                ".pred %p2, %p1, " + mask + ";\nselp.u32 %r0, 1, 0, %p2;\n");
      EXPECT_EQ(std::vector<std::uint32_t>(32, want), got) << mode << " " << mask;
    }
  EXPECT_EQ(std::vector<std::uint32_t>(32, 31u),
            lanes_of(std::string(set) + "vote.sync.ballot.b32 %r0, %p1, 0xffffffff;\n"));
  EXPECT_EQ(std::vector<std::uint32_t>(32, ~31u),
            lanes_of(std::string(set) + "vote.sync.ballot.b32 %r0, !%p1, -1;\n"));
}

TEST(ArithmeticKernel, vector_moves_unpack_and_pack_four_halves) {
  const auto got = lanes_of(R"(
  mov.u64 %rd1, 0x4444333322221111;
  mov.b64 {%h1, %h2, %h3, %h4}, %rd1;
  mov.b64 %rd2, {%h4, %h3, %h2, %h1};
  mov.b64 {_, %r0}, %rd2;
)");
  EXPECT_EQ(std::vector<std::uint32_t>(32, 0x11112222u), got);
}

TEST(ArithmeticKernel, shuffles_with_a_predicate_and_logic_with_three_inputs) {
  const auto got = lanes_of(R"(
  mov.u32 %r2, 100;
  add.s32 %r3, %r1, %r2;
  shfl.sync.down.b32 %r4|%p1, %r3, 4, 31, -1;
  selp.b32 %r5, %r4, 0, %p1;
  lop3.b32 %r0, %r5, 0xffff, 0, 0xc0;
)");
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(lane + 4 < 32 ? lane + 104 : 0, got[lane]);
}

TEST(ArithmeticKernel, negative_16_bit_immediates_compare_as_their_type) {
  const auto got = lanes_of(R"(
  cvt.u16.u32 %h1, %r1;
  sub.s16 %h2, %h1, 4;
  setp.le.s16 %p1, %h2, -2;
  setp.eq.b16 %p2, %h2, -1;
  setp.gt.u16 %p3, %h2, -3;
  selp.u32 %r2, 1, 0, %p1;
  selp.u32 %r3, 2, 0, %p2;
  selp.u32 %r4, 4, 0, %p3;
  add.u32 %r0, %r2, %r3;
  add.u32 %r0, %r0, %r4;
)");
  EXPECT_EQ(1u, got[0]);  // -4
  EXPECT_EQ(1u, got[1]);  // -3
  EXPECT_EQ(5u, got[2]);  // -2
  EXPECT_EQ(6u, got[3]);  // -1
  EXPECT_EQ(0u, got[4]);  // 0
}

TEST(ArithmeticKernel, dot_product_types_are_those_of_a_and_b_in_order) {
  // bytes of a: 0xff; of b: 0x02. a signed: -1 * 2 * 4; a unsigned: 255 * 2 * 4.
  EXPECT_EQ(
      static_cast<std::uint32_t>(-8),
      lanes_of("mov.u32 %r2, 0xffffffff;\nmov.u32 %r3, 0x02020202;\ndp4a.s32.u32 %r0, %r2, %r3, 0;\n")[0]);
  EXPECT_EQ(
      2040u,
      lanes_of("mov.u32 %r2, 0xffffffff;\nmov.u32 %r3, 0x02020202;\ndp4a.u32.s32 %r0, %r2, %r3, 0;\n")[0]);
}

}  // namespace
}  // namespace simtlab::exec
