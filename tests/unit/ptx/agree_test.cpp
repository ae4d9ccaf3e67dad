// Types of registers against types of instructions: what the manual's agreement rules allow and refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "helpers.h"

namespace simtlab::ptx {
namespace {

using namespace test;

std::string typed(const std::string& instruction) {
  return head +
         ".global .u32 g;\n.entry k() {\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .u16 %uh<4>; .reg .f16 "
         "%fh<4>;\n"
         ".reg .b32 %b<4>; .reg .u32 %u<4>; .reg .s32 %s<4>; .reg .f32 %f<4>; .reg .f16x2 %hh<4>;\n"
         ".reg .b64 %bd<4>; .reg .u64 %ud<4>; .reg .s64 %sd<4>; .reg .f64 %d<4>;\n" +
         instruction + "\nret; }\n";
}

TEST(Agree, WhatTheAssemblerRefuses) {
  for (const char* bad : {
           "add.u32 %f1, %u1, 1;",
           "add.u32 %u1, %f1, 1;",
           "mov.u32 %u1, %f1;",
           "mov.f32 %f1, %u1;",
           "mov.s64 %sd1, %d1;",
           "add.f32 %u1, %f1, %f2;",
           "add.f64 %d1, %ud1, %d2;",
           "fma.rn.f32 %f1, %s1, %f2, %f3;",
           "ld.global.f32 %u1, [g];",
           "ld.global.u32 %f1, [g];",
           "ld.global.f32 %d1, [g];",
           "ld.global.u8 %f1, [g];",
           "st.global.s32 [g], %f1;",
           "st.global.f32 [g], %s1;",
           "cvt.rn.f32.u32 %u1, %u2;",
           "cvt.rzi.s32.f32 %s1, %s2;",
           "cvt.u32.u16 %f1, %uh1;",
           "setp.lt.s32 %p1, %f1, %f2;",
           "setp.lt.f32 %p1, %u1, 0f00000000;",
           "selp.u32 %u1, %f1, %f2, %p1;",
           "atom.global.add.f32 %f1, [g], %u1;",
           "atom.global.add.u32 %f1, [g], 1;",
           "add.f16 %uh1, %fh1, %fh2;",
           "add.f16x2 %u1, %hh1, %hh2;",
           "add.f16x2 %f1, %hh1, %hh2;",
           "mov.f32 %f1, %tid.x;",
           "mov.f64 %d1, g;",
           "ld.global.u32 %u1, [%d1];",
           "shl.b32 %b1, %b2, %f1;",
           "mul.wide.u32 %d1, %u1, %u2;",
           "popc.b32 %f1, %b1;",
           "bar.sync %f1;",
       }) {
    const Failure f = failure(typed(bad));
    EXPECT_EQ(f.id, "ptx-operand") << bad << ": " << f.message;
    EXPECT_EQ(f.line, 9u) << bad;
  }
}

TEST(Agree, WhatTheAssemblerAccepts) {
  for (const char* good : {
           "add.u32 %s1, %b1, %u1;",
           "add.s32 %u1, %b1, 1;",
           "mov.b32 %f1, %u1;",
           "mov.b32 %u1, %f1;",
           "mov.f32 %f1, %b1;",
           "mov.u32 %b1, %s1;",
           "mov.b64 %d1, %ud1;",
           "mov.b64 %sd1, %d1;",
           "mov.b64 {%f1, %u1}, %d1;",
           "mov.b64 %d1, {%s1, %f1};",
           "mov.b32 %f1, {%h1, %uh1};",
           "mov.u32 %s1, %tid.x;",
           "mov.b32 %f1, %tid.x;",
           "mov.u64 %sd1, g;",
           "add.f32 %b1, %f1, %b2;",
           "ld.global.u8 %u1, [g];",
           "ld.global.s8 %ud1, [g];",
           "ld.global.b32 %f1, [g];",
           "ld.global.b16 %fh1, [g];",
           "ld.global.f32 %b1, [g];",
           "ld.global.f32 %bd1, [g];",
           "ld.global.b8 %f1, [g];",
           "st.global.u8 [g], %ud1;",
           "st.global.b32 [g], %f1;",
           "st.global.b32 [g], %hh1;",
           "cvt.rn.f32.s32 %f1, %b1;",
           "cvt.rn.f16.f32 %h1, %f1;",
           "cvt.f32.f16 %f1, %fh1;",
           "cvt.u32.u8 %u1, %uh1;",
           "cvt.u8.u32 %uh1, %u1;",
           "cvt.rn.f16x2.f32 %b1, %f1, %f2;",
           "cvt.rn.bf16.f32 %h1, %f1;",
           "fma.rn.f16 %h1, %fh1, %h2, %fh2;",
           "fma.rn.f16x2 %b1, %hh1, %b2, %hh2;",
           "fma.rn.bf16 %h1, %h2, %h3, %h1;",
           "add.f16 %fh1, %fh2, %h1;",
           "selp.b32 %f1, %f2, %u1, %p1;",
           "shfl.sync.idx.b32 %f1, %f2, %u1, 31, -1;",
           "atom.global.exch.b32 %f1, [g], %f2;",
           "atom.global.add.s32 %u1, [g], %b1;",
           "shl.b32 %f1, %b1, %s1;",
           "mul.wide.s32 %bd1, %s1, %u1;",
           "popc.b64 %b1, %d1;",
           "set.lt.f32.s32 %f1, %s1, %u1;",
           "set.lt.u32.f32 %s1, %f1, %f2;",
           "slct.f32.s32 %f1, %f2, %f3, %u1;",
       })
    EXPECT_EQ(failure(typed(good)).message, "") << good;
}

}  // namespace
}  // namespace simtlab::ptx
