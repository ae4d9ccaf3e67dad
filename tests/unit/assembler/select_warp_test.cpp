// Machine instructions for conversions, atomics and what warps do together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "assembler/clean.h"
#include "assembler/forward.h"
#include "assembler/narrow.h"
#include "assembler/predicate.h"
#include "assembler/select.h"
#include "assembler/signs.h"
#include "assembler/test_bits.h"
#include "ptx/fold.h"
#include "ptx/module.h"

namespace simtlab::assembler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The selected program of a kernel with the body; why it was given up.
std::string selected(const std::string& body, unsigned generation, Program* made = nullptr) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
      "  .reg .b64 %a, %w;\n  .reg .b32 %r<8>;\n  .reg .b16 %h<4>;\n  .reg .f32 %f<4>;\n"
      "  .reg .pred %p<4>;\n  ld.param.u64 %a, [p];\n  ld.global.u32 %r1, [%a];\n"
      "  ld.global.u32 %r2, [%a+4];\n" +
      body + "\n  ret;\n}\n";
  std::string out;
  ptx::LoadOptions options;
  options.assemble = [&](ptx::VirtualFunction& f, const ptx::Module& module, std::string& why) {
    ptx::fold(f.fn, ptx::build_cfg(f.fn), f.registers);
    Program program;
    out = select(f, module, generation, program, why) ? text_of(program) : why;
    if (made != nullptr) *made = std::move(program);
    return false;
  };
  ptx::load_module("test.ptx", text, options)->complete_all();
  return out;
}

TEST(SelectWarp, ShufflesHaveNumbersInTheInstruction) {
  EXPECT_THAT(selected("shfl.sync.bfly.b32 %r3, %r1, 0, 31, -1;\n  st.global.u32 [%a], %r3;", 80),
              HasSubstr("SHFL.BFLY"));
  EXPECT_THAT(selected("shfl.sync.bfly.b32 %r3, %r1, 0, 31, -1;\n  st.global.u32 [%a], %r3;", 80),
              HasSubstr(", 0, 31"));
}

TEST(ConstantBank, NumbersOfF64ThatAreNoImmediatesLieThereUpToAmpere) {
  const std::string body =
      "{ .reg .f64 %d<4>; ld.global.f64 %d1, [%a]; fma.rn.f64 %d2, %d1, 0d3FB999999999999A, %d1;\n"
      "add.f64 %d3, %d2, 0d3FB999999999999A; add.f64 %d3, %d3, 0d3FE0000000000000; st.global.f64 [%a], %d3; "
      "}";
  for (const unsigned generation : {70u, 80u, 86u}) {
    Program program;
    EXPECT_THAT(selected(body, generation, &program), HasSubstr("DFMA"));
    EXPECT_EQ(program.literals, (std::vector<std::uint64_t>{0x3FB999999999999A}))
        << "once; 0.5 is an immediate";
  }
  Program program;
  selected(body, 90, &program);
  EXPECT_TRUE(program.literals.empty());
}

// As long as ptxas guards them: 7 instructions and a jump, 19 and a jump where an arm loads.
TEST(Guards, ArmsOfAnIfAreGuardedUpToALength) {
  const auto branches = [](unsigned count, bool loads) {
    const auto arm = [&](const char* factor) {
      std::string out = loads ? "ld.global.u32 %r5, [%a+8]; " : "";
      for (unsigned i = 0; i < count; ++i) out += std::string("mad.lo.u32 %r4, %r4, %r1, ") + factor + "; ";
      return out + (loads ? "add.u32 %r4, %r4, %r5; " : "");
    };
    Program program;
    selected("mov.u32 %r4, %r1; setp.lt.s32 %p1, %r2, 7; @%p1 bra E; " + arm("%r2") +
                 "bra M; E: " + arm("%r1") + "M: st.global.u32 [%a], %r4;",
             80, &program);
    predicate(program);
    return text_of(program).find("BRA") != std::string::npos;
  };
  EXPECT_FALSE(branches(6, false));
  EXPECT_TRUE(branches(10, false));
  EXPECT_FALSE(branches(10, true));
  EXPECT_TRUE(branches(22, true));
}

TEST(TestBits, ALogicOperationTellsWhetherItsResultIsZero) {
  Program program;
  selected("and.b32 %r3, %r1, 4;\n  setp.eq.s32 %p1, %r3, 0;\n  @%p1 st.global.u32 [%a], %r2;", 80, &program);
  test_bits(program);
  const std::string text = text_of(program);
  EXPECT_THAT(text, Not(HasSubstr("ISETP")));
  EXPECT_THAT(text, HasSubstr("LOP3 =%p"));
  EXPECT_THAT(text, HasSubstr("@!%p"));  // of `!= 0`
}

TEST(TestBits, AConditionIsJoined) {
  Program program;
  selected(
      "setp.lt.s32 %p2, %r1, 9;\n  and.b32 %r3, %r1, 4;\n  setp.ne.and.s32 %p1, %r3, 0, %p2;\n"
      "  @%p1 st.global.u32 [%a], %r2;",
      80, &program);
  test_bits(program);
  EXPECT_THAT(text_of(program), HasSubstr("LOP3.PAND"));
}

TEST(TestBits, AResultThatOthersReadStays) {
  Program program;
  selected("and.b32 %r3, %r1, 4;\n  setp.eq.s32 %p1, %r3, 0;\n  @%p1 st.global.u32 [%a], %r3;", 80, &program);
  test_bits(program);
  EXPECT_THAT(text_of(program), HasSubstr("ISETP"));
}

TEST(Narrow, ASignOfEightBitsIsExtendedOnce) {
  Program program;
  selected(
      "ld.global.u8 %h1, [%a];\n  shl.b16 %h2, %h1, 8;\n  shr.s16 %h3, %h2, 8;\n  setp.lt.s16 %p1, %h3, 49;\n"
      "  @%p1 st.global.u32 [%a], %r2;",
      80, &program);
  forward_copies(program);
  narrow(program);
  forward_copies(program);
  clean(program);
  const std::string text = text_of(program);
  EXPECT_THAT(text, HasSubstr("PRMT"));
  EXPECT_EQ(text.find("PRMT"), text.rfind("PRMT"));
  EXPECT_THAT(text, Not(HasSubstr("SHF")));
}

TEST(Signs, AnAddressWithASignedIndexTakesTwoInstructions) {
  Program program;
  selected(".reg .b64 %x;\n  cvt.s64.s32 %w, %r1;\n  add.s64 %x, %w, %a;\n  st.global.u32 [%x], %r2;", 80,
           &program);
  forward_copies(program);
  add_signs(program);
  const std::string text = text_of(program);
  EXPECT_THAT(text, Not(HasSubstr("SHF")));
  EXPECT_THAT(text, HasSubstr("LEA.HI.X.SX32"));
}

TEST(Narrow, OneMaskIsEnough) {
  Program program;
  selected("and.b32 %r3, %r1, 65535;\n  and.b32 %r4, %r3, 4080;\n  st.global.u32 [%a], %r4;", 80, &program);
  narrow(program);
  clean(program);
  const std::string text = text_of(program);
  EXPECT_EQ(text.find("LOP3"), text.rfind("LOP3"));
  EXPECT_THAT(text, HasSubstr("4080"));
}

TEST(SelectValues, ParametersThatAreLoadedAsAVectorAreOperands) {
  const std::string text =
      selected("ld.param.v2.u32 {%r3, %r4}, [p];\n  add.u32 %r5, %r1, %r4;\n  st.global.u32 [%a], %r5;", 80);
  EXPECT_THAT(text, HasSubstr("c[0][0x164], RZ"));
}

TEST(SelectWarp, OnlyMasksOfAPartOfTheWarpNeedItsLanesTogether) {
  EXPECT_THAT(selected("activemask.b32 %r3;\n  bar.warp.sync %r1;\n  st.global.u32 [%a], %r3;", 80),
              HasSubstr("WARPSYNC"));
  EXPECT_THAT(selected("shfl.sync.idx.b32 %r3, %r1, %r2, 31, -1;\n  st.global.u32 [%a], %r3;", 80),
              Not(HasSubstr("WARPSYNC")));
}

TEST(SelectAtomic, AResultThatNobodyReadsIsNotWanted) {
  EXPECT_THAT(selected("atom.global.add.u32 %r3, [%a], %r1;", 80), HasSubstr("RED"));
  EXPECT_THAT(selected("atom.global.exch.b32 %r3, [%a], %r1;", 80), HasSubstr("ATOMG.E.EXCH"));
}

TEST(SelectValues, HopperLoadsConstants) {
  const std::string body = "ld.param.u32 %r3, [p];\n  add.u32 %r5, %r1, %r3;\n  st.global.u32 [%a], %r5;";
  EXPECT_THAT(selected(body, 80), Not(HasSubstr("LDC")));
  const std::string text = selected(body, 90);
  EXPECT_THAT(text, HasSubstr("LDC"));
  const std::size_t sum = text.find("IADD3");
  EXPECT_THAT(text.substr(sum, text.find('\n', sum) - sum), Not(HasSubstr("c[")));
}

TEST(SelectAtomic, ReleasesHaveAFenceBeforeThem) {
  const std::string text = selected("red.release.gpu.global.add.u32 [%a], %r1;", 80);
  EXPECT_LT(text.find("MEMBAR"), text.find("RED"));
}

TEST(SelectConvert, HalvesAreReadWhereTheyAre) {
  const std::string text =
      selected("mov.b32 {%h1, %h2}, %r1;\n  cvt.f32.f16 %f1, %h2;\n  st.global.f32 [%a], %f1;", 75);
  EXPECT_THAT(text, HasSubstr("HADD2.F32"));
}

TEST(SelectConvert, WhatTheGenerationLacksIsNamed) {
  EXPECT_THAT(selected("cvt.rn.bf16.f32 %h1, %f1;\n  st.global.b16 [%a], %h1;", 75), HasSubstr("generation"));
}

}  // namespace
}  // namespace simtlab::assembler
