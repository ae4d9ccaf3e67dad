// Whole kernels against results computed here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "kernel_support.h"

namespace simtlab::exec {
namespace {

constexpr const char* saxpy = R"(
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
DONE:
  ret;
}
)";

TEST(Kernel, saxpy_equals_the_host_also_in_a_partial_block) {
  Machine m(saxpy);
  const std::uint32_t n = 1000;
  std::vector<float> x(n), y(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i) * 0.5f;
    y[i] = 1000.0f - static_cast<float>(i);
  }
  const auto dx = m.upload(x), dy = m.upload(y);
  const FunctionalResult r = m.run({8}, {128}, dx, dy, 3.0f, n);
  std::vector<float> expected(n);
  for (std::uint32_t i = 0; i < n; ++i) expected[i] = 3.0f * x[i] + y[i];
  EXPECT_EQ(m.download<float>(dy, n), expected);
  EXPECT_EQ(r.blocks, 8u);
  // 32 warps: 31 whole ones run all 20 instructions, the last one diverges and runs them, too.
  EXPECT_EQ(r.warp_instructions, 32u * 20u);
}

}  // namespace
}  // namespace simtlab::exec
