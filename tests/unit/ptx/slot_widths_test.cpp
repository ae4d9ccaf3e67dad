// A value of 64 bits and one of 32 bits must never share register rows: their lanes lie at different bytes,
// so that on divergent paths a write for some lanes destroyed what other lanes still needed.
#include <gtest/gtest.h>

#include <set>

#include "ptx/module.h"

namespace simtlab::ptx {
namespace {

TEST(Slots, WideAndNarrowValuesNeverShareRows) {
  // %rd2 dies before %f1 and %f2 are born on the other side of the branch, %rd3 after %r1 died.
  const auto module = load_module("widths.ptx", R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.s32 %rd4, [%rd3];
  setp.lt.s64 %p1, %rd4, 0;
  @%p1 bra NEGATIVE;
  shl.b64 %rd5, %rd4, 2;
  add.s64 %rd6, %rd1, %rd5;
  st.global.u64 [%rd6], %rd4;
  bra DONE;
NEGATIVE:
  ld.global.f32 %f1, [%rd3+4];
  add.f32 %f2, %f1, %f1;
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
DONE:
  ret;
}
)");
  std::set<std::uint32_t> wide, narrow;
  const auto note = [&](const Operand& o) {
    if (o.kind != OperandKind::reg) return;
    if (o.bytes > 4) {
      EXPECT_EQ(o.index % 2, 0u);
      wide.insert({o.index, o.index + 1});
    } else {
      narrow.insert(o.index);
    }
  };
  const Function& f = module->functions[0];
  for (const Inst& inst : f.code) {
    for (unsigned i = 0; i < inst.dst_count; ++i) note(inst.dst[i]);
    for (unsigned i = 0; i < inst.src_count; ++i) note(inst.src[i]);
  }
  EXPECT_FALSE(wide.empty());
  EXPECT_FALSE(narrow.empty());
  for (const std::uint32_t row : narrow) EXPECT_FALSE(wide.contains(row)) << row;
  EXPECT_LT(std::max(*wide.rbegin(), *narrow.rbegin()), f.reg_rows);
}

}  // namespace
}  // namespace simtlab::ptx
