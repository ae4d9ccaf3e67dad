// What disappears into other instructions, and what does not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx/module.h"

namespace simtlab::ptx {
namespace {

std::shared_ptr<const Module> folded(const std::string& body) {
  return load_module("test.ptx",
                     ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param "
                     ".u32 n, .param .f32 a) {\n"
                     ".reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<20>; .reg .pred %p<8>; .reg .b16 "
                     "%h<4>;\n.shared .align 4 .b8 s[256];\n" +
                         body + "\nret;\n}\n");
}

// Of each instruction, the last ret left out.
std::vector<Fold> folds(const std::string& body) {
  const auto module = folded(body);
  std::vector<Fold> out;
  for (const Inst& inst : module->functions[0].code) out.push_back(inst.fold);
  out.pop_back();
  return out;
}
Fold fold_at(const std::string& body, std::size_t pc) { return folds(body).at(pc); }

using enum Fold;

TEST(Fold, ParametersAndConstantsAreOperands) {
  EXPECT_EQ(folds("ld.param.f32 %f1, [a]; mov.f32 %f2, 0f40000000; ld.shared.f32 %f3, [s]; fma.rn.f32 %f4, "
                  "%f1, %f2, %f3; st.shared.f32 [s], %f4;"),
            (std::vector{operand, operand, none, none, none}));
}

TEST(Fold, AParameterThatIsAnAddressOrIsStoredNeedsARegister) {
  EXPECT_EQ(fold_at("ld.param.u64 %d1, [p]; ld.global.f32 %f1, [%d1]; st.shared.f32 [s], %f1;", 0), none);
  EXPECT_EQ(fold_at("ld.param.f32 %f1, [a]; st.shared.f32 [s], %f1;", 0), none);
  EXPECT_EQ(fold_at("mov.u32 %r1, 0; st.shared.u32 [s], %r1;", 0), operand)
      << "zero has a register of its own";
  EXPECT_EQ(fold_at("mov.u32 %r1, 7; st.shared.u32 [s], %r1;", 0), none);
}

TEST(Fold, TheIndexArithmeticOfAnArrayIsOneMultiplyAdd) {
  const std::string body =
      "ld.param.u64 %d1, [p]; cvta.to.global.u64 %d2, %d1; mov.u32 %r1, %tid.x; mul.wide.s32 %d3, %r1, 4; "
      "add.s64 %d4, %d2, %d3;"
      "add.s64 %d5, %d4, 16; ld.global.f32 %f1, [%d4]; ld.global.f32 %f2, [%d5]; add.f32 %f3, %f1, %f2; "
      "st.shared.f32 [s], %f3;";
  EXPECT_EQ(folds(body), (std::vector{operand, operand, none, wide, none, address, none, none, none, none}));
  EXPECT_EQ(folded(body)->functions[0].code[4].takes, wide);
}

TEST(Fold, AWideProductGoesIntoAllItsSumsOrNone) {
  const std::string two =
      "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.s32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 "
      "%d5, %d3, %d1;"
      "ld.global.f32 %f1, [%d4]; st.global.f32 [%d5], %f1;";
  const auto module = folded(two);
  EXPECT_EQ(module->functions[0].code[2].fold, wide);
  EXPECT_EQ(module->functions[0].code[3].takes, wide);
  EXPECT_EQ(module->functions[0].code[4].takes, wide);
  EXPECT_EQ(fold_at(two + "st.global.u64 [%d4], %d3;", 2), none);
}

TEST(Fold, SaturationIsPartOfTheSumOrProductBefore) {
  const std::string load = "ld.shared.f32 %f1, [s]; ";
  EXPECT_EQ(
      fold_at(load + "fma.rn.f32 %f2, %f1, %f1, %f1; cvt.sat.f32.f32 %f3, %f2; st.shared.f32 [s], %f3;", 2),
      operand);
  EXPECT_EQ(fold_at(load + "add.f32 %f2, %f1, %f1; cvt.ftz.sat.f32.f32 %f3, %f2; st.shared.f32 [s], %f3;", 2),
            operand);
  EXPECT_EQ(fold_at(load + "add.f32 %f2, %f1, %f1; cvt.sat.f32.f32 %f3, %f2; st.shared.f32 [s], %f2; "
                           "st.shared.f32 [s+4], %f3;",
                    2),
            none)
      << "the sum is looked at, too";
  EXPECT_EQ(fold_at(load + "cvt.sat.f32.f32 %f3, %f1; st.shared.f32 [s], %f3;", 1), none)
      << "a load has no modifier";
  EXPECT_EQ(fold_at(load + "ex2.approx.f32 %f2, %f1; cvt.sat.f32.f32 %f3, %f2; st.shared.f32 [s], %f3;", 2),
            none);
}

TEST(Fold, ProductsByPowersOfTwoAreShifts) {
  const auto shifts = [](const std::string& body, std::size_t pc) {
    return folded("mov.u32 %r1, %tid.x; " + body + " st.shared.u32 [s], %r2;")->functions[0].code[pc].shifts;
  };
  EXPECT_TRUE(shifts("mul.lo.s32 %r2, %r1, 8;", 1));
  EXPECT_TRUE(shifts("mul.lo.u32 %r2, 1073741824, %r1;", 1));
  EXPECT_TRUE(shifts("mov.u32 %r3, 8; mad.lo.s32 %r2, %r1, %r3, %r1;", 2));
  EXPECT_FALSE(shifts("mul.lo.s32 %r2, %r1, 12;", 1));
  EXPECT_FALSE(shifts("mul.lo.s32 %r2, %r1, 0;", 1));
  EXPECT_FALSE(shifts("mul.wide.s32 %d1, %r1, -2147483648; cvt.u32.u64 %r2, %d1;", 1)) << "the sign";
  EXPECT_FALSE(shifts("mul.lo.s32 %r2, %r1, %r1;", 1));
  EXPECT_EQ(
      fold_at("mov.u32 %r1, %tid.x; mul.lo.s32 %r2, %r1, 8; add.s32 %r3, %r2, %r1; st.shared.u32 [s], %r3;",
              1),
      shift);
}

TEST(Fold, AnOffsetThatNoAccessCanHoldStays) {
  EXPECT_EQ(fold_at("ld.param.u64 %d1, [p]; add.s64 %d2, %d1, 8388608; ld.global.f32 %f1, [%d2]; "
                    "st.shared.f32 [s], %f1;",
                    1),
            none);
  EXPECT_EQ(fold_at("ld.param.u64 %d1, [p]; add.s64 %d2, %d1, 8388607; ld.global.f32 %f1, [%d2]; "
                    "st.shared.f32 [s], %f1;",
                    1),
            address);
}

TEST(Fold, AnAddressThatIsMoreThanAnAddressStays) {
  EXPECT_EQ(fold_at("ld.param.u64 %d1, [p]; add.s64 %d2, %d1, 8; st.global.u64 [%d2], %d2;", 1), none);
}

TEST(Fold, AnAddressWhoseBaseMovesOnIsComputed) {
  const std::string body =
      "ld.param.u64 %d1, [p]; add.s64 %d2, %d1, 8; %s ld.global.f32 %f1, [%d2]; st.shared.f32 [s], %f1;";
  std::string moved = body;
  moved.replace(moved.find("%s"), 2, "add.s64 %d1, %d1, 64;");
  EXPECT_EQ(fold_at(moved, 1), none);
}

TEST(Fold, SharedAddressesHaveNoUpperHalf) {
  const auto module = folded(
      "mov.u64 %d1, s; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.shared.f32 "
      "%f1, [%d3]; st.shared.f32 [s], %f1;");
  EXPECT_TRUE(module->functions[0].code[2].low_half);
  EXPECT_TRUE(module->functions[0].code[3].low_half);
  const auto global = folded(
      "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; "
      "ld.global.f32 %f1, [%d3]; st.shared.f32 [s], %f1;");
  EXPECT_FALSE(global->functions[0].code[3].low_half);
}

TEST(Fold, AllOfARealNumberIsConverted) {
  const auto leaves_half_out = [](const std::string& cvt) {
    return folded("mov.u32 %r1, %tid.x; mov.b64 %d1, {%r1, %r1}; " + cvt +
                  " %r2, %d1; st.shared.u32 [s], %r2;")
        ->functions[0]
        .code[1]
        .low_half;
  };
  EXPECT_TRUE(leaves_half_out("cvt.u32.u64"));
  EXPECT_FALSE(leaves_half_out("cvt.rzi.s32.f64"));
}

TEST(Fold, ThreeOperands) {
  const std::string loads =
      "ld.shared.u32 %r1, [s]; ld.shared.u32 %r2, [s+4]; ld.shared.u32 %r3, [s+8]; ld.shared.u32 %r4, "
      "[s+12];";
  EXPECT_EQ(fold_at(loads + "add.s32 %r5, %r1, %r2; add.s32 %r6, %r5, %r3; st.shared.u32 [s], %r6;", 4), sum);
  EXPECT_EQ(fold_at(loads + "and.b32 %r5, %r1, %r2; xor.b32 %r6, %r5, %r3; st.shared.u32 [s], %r6;", 4),
            logic);
  EXPECT_EQ(fold_at(loads + "shl.b32 %r5, %r1, 3; add.s32 %r6, %r5, %r3; st.shared.u32 [s], %r6;", 4), shift);
  EXPECT_EQ(fold_at(loads + "mul.lo.s32 %r5, %r1, %r2; add.s32 %r6, %r5, %r3; st.shared.u32 [s], %r6;", 4),
            product);
  const std::string four =
      loads + "add.s32 %r5, %r1, %r2; add.s32 %r6, %r5, %r3; add.s32 %r7, %r6, %r4; st.shared.u32 [s], %r7;";
  EXPECT_EQ(fold_at(four, 4), sum);
  EXPECT_EQ(fold_at(four, 5), none) << "it has three operands already";
}

// As ptxas has it: a step of a loop that is a product is a multiply-add of each round.
TEST(Fold, ProductsGoToTheSumsOfOtherBlocks) {
  const auto body = [](const std::string& factor, const std::string& sums) {
    return "ld.shared.u32 %r1, [s]; mul.lo.s32 %r2, " + factor +
           "; ld.shared.u32 %r4, [s]; setp.eq.s32 %p1, %r4, 0; @%p1 bra L; st.shared.u32 [s], %r1; L: " +
           sums;
  };
  const std::string sum = "add.s32 %r3, %r2, %r1; st.shared.u32 [s], %r3;";
  EXPECT_EQ(fold_at(body("%r1, %r1", sum), 1), product);
  EXPECT_EQ(fold_at(body("%r1, %r1", sum + "add.s32 %r5, %r2, %r4; st.shared.u32 [s], %r5;"), 1), product);
  EXPECT_EQ(fold_at(body("%r1, %r1", sum + "st.shared.u32 [s], %r2;"), 1), none) << "somebody needs it";
  EXPECT_EQ(fold_at(body("%r1, %r1", "sub.s32 %r3, %r1, %r2; st.shared.u32 [s], %r3;"), 1), none);
  EXPECT_EQ(fold_at(body("%r1, %r1", "mov.u32 %r1, 7; " + sum), 1), none) << "a factor changes";
}

TEST(Fold, GuardedInstructionsStay) {
  EXPECT_EQ(fold_at("ld.shared.u32 %r1, [s]; setp.eq.s32 %p1, %r1, 0; mov.u32 %r2, 1; @%p1 mov.u32 %r2, 2; "
                    "st.shared.u32 [s], %r2;",
                    2),
            none);
  EXPECT_EQ(fold_at("ld.shared.u32 %r1, [s]; setp.eq.s32 %p1, %r1, 0; mov.u32 %r2, 1; @%p1 mov.u32 %r2, 2; "
                    "st.shared.u32 [s], %r2;",
                    3),
            none);
}

TEST(Fold, CopiesThatKeepTheirRegister) {
  EXPECT_EQ(
      fold_at("ld.shared.u32 %r1, [s]; mov.u32 %r2, %r1; add.s32 %r3, %r2, %r1; st.shared.u32 [s], %r3;", 1),
      operand)
      << "another name";
  // A loop that carries a value on and still needs the old one.
  const std::string loop =
      "ld.shared.u32 %r1, [s]; L: mov.u32 %r2, %r1; add.s32 %r1, %r1, 1; add.s32 %r3, %r1, %r2; "
      "st.shared.u32 [s], %r3;"
      "setp.lt.s32 %p1, %r1, 9; @%p1 bra L;";
  EXPECT_EQ(fold_at(loop, 1), none);
}

TEST(Fold, PredicatesJoinTheComparisonBefore) {
  EXPECT_EQ(fold_at("ld.shared.u32 %r1, [s]; setp.gt.s32 %p1, %r1, 0; setp.lt.s32 %p2, %r1, 9; and.pred %p3, "
                    "%p1, %p2; selp.b32 %r2, 1, 2, %p3; st.shared.u32 [s], %r2;",
                    3),
            predicate);
}

TEST(Fold, JumpsThatALayoutSaves) {
  const std::string body =
      "ld.shared.u32 %r1, [s]; setp.eq.s32 %p1, %r1, 0; @%p1 bra A; bra.uni B; A: st.shared.u32 [s], %r1; "
      "bra.uni C; B: st.shared.u32 [s+4], %r1; C: bar.sync 0;";
  EXPECT_EQ(fold_at(body, 3), operand) << "B has no other way in";
  EXPECT_EQ(fold_at(body, 5), none) << "B falls into C";
  EXPECT_EQ(fold_at(body, 2), none) << "a branch that may or may not be taken";
}

TEST(Fold, ConversionsBetweenIntegersThatLeaveTheRegister) {
  EXPECT_EQ(fold_at("ld.shared.u8 %h1, [s]; cvt.u32.u16 %r1, %h1; st.shared.u32 [s], %r1;", 1), operand)
      << "the load has extended it";
  EXPECT_EQ(fold_at("ld.shared.u64 %d1, [s]; cvt.u32.u64 %r1, %d1; st.shared.u32 [s], %r1;", 1), operand);
  EXPECT_EQ(fold_at("ld.shared.s32 %r1, [s]; cvt.s64.s32 %d1, %r1; st.shared.u64 [s], %d1;", 1), none)
      << "the upper half is stored";
}

}  // namespace
}  // namespace simtlab::ptx
