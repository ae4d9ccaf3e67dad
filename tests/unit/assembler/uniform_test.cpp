// Values of a warp in uniform registers, and where they may not be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "assembler/assemble.h"
#include "assembler/clean.h"
#include "assembler/converge.h"
#include "assembler/forward.h"
#include "assembler/select.h"
#include "assembler/simplify.h"
#include "assembler/uniform_constants.h"
#include "assembler/uniform_offsets.h"
#include "assembler/uniform_registers.h"
#include "assembler/update.h"
#include "machine/code.h"
#include "ptx/fold.h"
#include "ptx/module.h"

namespace simtlab::assembler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string kernel_of(const std::string& body) {
  return ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
         "  .shared .align 16 .b8 kept[4096];\n"
         "  .reg .b64 %a, %d<8>;\n  .reg .b32 %r<12>, %t;\n  .reg .f32 %f<4>;\n  .reg .pred %p<4>;\n"
         "  ld.param.u64 %a, [p];\n  ld.param.u32 %r1, [n];\n  mov.u32 %t, %tid.x;\n  mov.u32 %r2, "
         "%ctaid.x;\n"
         "  mul.wide.u32 %d0, %t, 4;\n  add.u64 %d0, %a, %d0;\n" +
         body + "\n  ret;\n}\n";
}

std::string uniform_code(const std::string& body, unsigned generation = 80,
                         void (&use)(Program&) = use_uniform_registers) {
  std::string out;
  ptx::LoadOptions options;
  options.assemble = [&](ptx::VirtualFunction& f, const ptx::Module& module, std::string& why) {
    ptx::fold(f.fn, ptx::build_cfg(f.fn), f.registers);
    Program program;
    if (!select(f, module, generation, program, why)) {
      out = why;
      return false;
    }
    forward_copies(program);
    clean(program);
    simplify(program);
    converge(program);
    update_in_place(program);
    clean(program);
    use(program);
    out = text_of(program);
    return false;
  };
  ptx::load_module("test.ptx", kernel_of(body), options)->complete_all();
  return out;
}

// A sum over a loop that reads %r3 each time, so that a register for it is worth something.
std::string loop_that_reads(const std::string& before, const std::string& end = "%r4, %r1") {
  return before +
         "  mov.u32 %r4, 0;\n  mov.u32 %r5, 0;\nLOOP:\n  ld.global.u32 %r6, [%d0];\n  mad.lo.u32 %r5, %r6, "
         "%r3, "
         "%r5;\n  add.u32 %r4, %r4, 1;\n  st.global.u32 [%d0+4], %r5;\n  setp.lt.u32 %p1, " +
         end + ";\n  @%p1 bra LOOP;\n  st.global.u32 [%d0], %r5;";
}

TEST(UniformRegisters, ABlockNumberIsMultipliedOnceForTheWarp) {
  const std::string body = loop_that_reads("  mul.lo.u32 %r3, %r2, %r1;\n");
  for (const unsigned generation : {75u, 80u, 86u, 90u}) {
    const std::string text = uniform_code(body, generation);
    EXPECT_THAT(text, HasSubstr("S2UR"));
    EXPECT_THAT(text, HasSubstr("ULDC"));
    EXPECT_THAT(text, HasSubstr("UIMAD =%ur"));
    EXPECT_THAT(text, HasSubstr("IMAD =%r"));
  }
}

// Of the number and the size of a block ptxas has in a uniform register what the PTX reads first.
TEST(UniformConstants, TheFirstFactorOfABlocksBeginIsUniform) {
  const std::string product = "  mad.lo.u32 %r4, %r5, %r3, %t;\n  st.global.u32 [%d0], %r4;";
  const std::string number = "  mov.u32 %r5, %ctaid.y;\n", size = "  mov.u32 %r3, %ntid.y;\n";
  const auto code = [](const std::string& body, unsigned generation) {
    return uniform_code(body, generation, use_uniform_constants);
  };
  const std::string by_number = code(number + size + product, 90),
                    by_size = code(size + number + product, 90);
  EXPECT_THAT(by_number, AllOf(HasSubstr("S2UR"), HasSubstr(" LDC"))) << by_number;
  EXPECT_THAT(by_size, AllOf(HasSubstr("ULDC"), Not(HasSubstr("S2UR"))));
  EXPECT_THAT(code(number + size + product, 80), AllOf(Not(HasSubstr("ULDC")), Not(HasSubstr("S2UR"))));
  // Who needs it for more than that has it in a register of lanes.
  EXPECT_THAT(code(number + size + product + "\n  st.global.u32 [%d0+4], %r5;", 90), Not(HasSubstr("S2UR")));
}

TEST(UniformRegisters, VoltaHasNone) {
  const std::string text = uniform_code(loop_that_reads("  mul.lo.u32 %r3, %r2, %r1;\n"), 70);
  EXPECT_THAT(text, Not(HasSubstr("%ur")));
  EXPECT_THAT(text, Not(HasSubstr("S2UR")));
}

TEST(UniformRegisters, NumbersAreOperands) {
  const std::string text = uniform_code(loop_that_reads("  and.b32 %r3, %r1, 3;\n"));
  EXPECT_THAT(text, HasSubstr("ULOP3"));
  EXPECT_THAT(text, Not(HasSubstr("UMOV")));
}

TEST(UniformRegisters, WhatAThreadNumberIsPartOfStays) {
  const std::string text = uniform_code(loop_that_reads("  add.u32 %r3, %r2, %t;\n"));
  EXPECT_THAT(text, Not(HasSubstr("UIADD3")));
}

// Some lanes change it while others still need it.
TEST(UniformRegisters, NothingIsWrittenWhereLanesAreApart) {
  const std::string text = uniform_code(loop_that_reads(
      "  mov.u32 %r3, 7;\n  setp.lt.u32 %p0, %t, 5;\n  @%p0 bra OTHER;\n  mul.lo.u32 %r3, %r2, "
      "%r1;\nOTHER:\n"));
  EXPECT_THAT(text, Not(HasSubstr("UIMAD")));
  EXPECT_THAT(text, HasSubstr("BSSY"));
}

TEST(UniformRegisters, ABranchThatTheWarpTakesTogetherIsNoObstacle) {
  const std::string text = uniform_code(
      loop_that_reads("  mov.u32 %r3, 7;\n  setp.lt.u32 %p0, %r1, 5;\n  @%p0 bra OTHER;\n  mul.lo.u32 %r3, "
                      "%r2, %r1;\nOTHER:\n"));
  EXPECT_THAT(text, HasSubstr("UIMAD"));
  EXPECT_THAT(text, Not(HasSubstr("BSSY")));
}

// Lanes leave the loop one by one: who has left would see what the others go on to compute.
TEST(UniformRegisters, ACounterOfALoopThatLanesLeaveApartIsTheirs) {
  const std::string text = uniform_code(loop_that_reads("  mul.lo.u32 %r3, %r2, %r1;\n", "%r4, %t"));
  EXPECT_THAT(text, HasSubstr("UIMAD"));  // before the loop
  EXPECT_THAT(text, Not(HasSubstr("UIADD3")));
}

// %r3 = the block's number, doubled each time all lanes come by; some lanes skip a part of the loop.
TEST(UniformRegisters, LanesThatMeetInALoopGoOnTogether) {
  const std::string text = uniform_code(
      "  mov.u32 %r3, %r2;\n  mov.u32 %r4, 0;\nLOOP:\n  setp.lt.u32 %p0, %t, %r4;\n  @%p0 bra SKIP;\n"
      "  bar.warp.sync 1;\n  atom.global.add.u32 %r6, [%a], %t;\n  st.global.u32 [%d0+4], %r6;\nSKIP:\n"
      "  shl.b32 %r3, %r3, 1;\n  add.u32 %r7, %r3, %t;\n  st.global.u32 [%d0], %r7;\n"
      "  st.global.u32 [%d0+8], %r4;\n  add.u32 %r4, %r4, 1;\n  setp.lt.u32 %p1, %r4, %r1;\n  @%p1 bra "
      "LOOP;");
  EXPECT_THAT(text, HasSubstr("BSYNC"));
  EXPECT_THAT(text, HasSubstr("USHF"));
}

TEST(UniformRegisters, AddressesAreUniform) {
  const std::string text = uniform_code(
      "  shl.b32 %r3, %r2, 4;\n  and.b32 %r3, %r3, 255;\n  mov.u32 %r7, kept;\n  add.u32 %r3, %r3, %r7;\n"
      "  mov.u32 %r4, 0;\n  mov.u32 %r5, 0;\nLOOP:\n  ld.shared.u32 %r6, [%r3+4];\n  add.u32 %r5, %r6, %r5;\n"
      "  add.u32 %r3, %r3, 4;\n  st.global.u32 [%d0+4], %r5;\n  add.u32 %r4, %r4, 1;\n"
      "  setp.lt.u32 %p1, %r4, %r1;\n  @%p1 bra LOOP;");
  EXPECT_THAT(text, HasSubstr("LDS =%r"));
  EXPECT_THAT(text, HasSubstr("[%ur"));
}

// What is added to a wide product has two words, so has the constant.
TEST(UniformRegisters, AnAddressIsAddedAsAWhole) {
  const std::string text = uniform_code(
      "  mul.lo.u32 %r3, %r2, %r1;\n  ld.param.u64 %d1, [p];\n  mul.wide.u32 %d2, %r3, 4;\n"
      "  add.u64 %d3, %d1, %d2;\n  mov.u32 %r4, 0;\nLOOP:\n  ld.global.u32 %r6, [%d3];\n"
      "  st.global.u32 [%d0+4], %r6;\n  add.u64 %d3, %d3, 64;\n  add.u32 %r4, %r4, 1;\n"
      "  setp.lt.u32 %p1, %r4, %r1;\n  @%p1 bra LOOP;");
  EXPECT_THAT(text, HasSubstr("UIMAD.WIDE"));
  EXPECT_THAT(text, HasSubstr("ULDC.64"));
}

// Where a condition decides a branch, lanes need a predicate of theirs.
TEST(UniformRegisters, ABranchReadsACopy) {
  const std::string text = uniform_code(
      "  mul.lo.u32 %r3, %r2, %r1;\n  xor.b32 %r7, %r3, 12345;\n  setp.eq.u32 %p2, %r3, 77;\n  @%p2 ret;\n"
      "  mov.u32 %r4, 0;\n  mov.u32 %r5, 0;\nLOOP:\n  ld.global.u32 %r6, [%d0];\n"
      "  mad.lo.u32 %r5, %r6, %r3, %r5;\n  mad.lo.u32 %r5, %r5, %r7, %r6;\n  add.u32 %r4, %r4, 1;\n"
      "  st.global.u32 [%d0+4], %r5;\n  setp.lt.u32 %p1, %r4, %r1;\n  @%p1 bra LOOP;");
  EXPECT_THAT(text, HasSubstr("UISETP"));
  EXPECT_THAT(text, HasSubstr("PLOP3 =%p"));
  EXPECT_THAT(text, HasSubstr("EXIT"));
}

// More values than there are registers: then those of lanes do.
TEST(UniformRegisters, TooManyAreLeftToTheLanes) {
  std::string body, sums;
  constexpr unsigned many = 90;
  for (unsigned k = 0; k < many; ++k) {
    body += "  .reg .b32 %u" + std::to_string(k) + ";\n";
    body += "  mad.lo.u32 %u" + std::to_string(k) + ", %r2, " + std::to_string(3 * k + 5) + ", " +
            std::to_string(7 * k + 1) + ";\n";
    sums += "  mad.lo.u32 %r5, %r6, %u" + std::to_string(k) + ", %r5;\n";
  }
  body += "  mov.u32 %r4, 0;\n  mov.u32 %r5, 0;\nLOOP:\n  ld.global.u32 %r6, [%d0];\n" + sums +
          "  add.u32 %r4, %r4, 1;\n  st.global.u32 [%d0+4], %r5;\n  setp.lt.u32 %p1, %r4, %r1;\n"
          "  @%p1 bra LOOP;";
  ptx::LoadOptions options;
  make_code(options, 80, false);
  const auto module = ptx::load_module("test.ptx", kernel_of(body), options);
  module->complete_all();
  ASSERT_EQ(module->functions.size(), 1u);
  EXPECT_NE(module->functions[0].machine, nullptr);
}

// The executor keeps rows for thousands of warps: those that the code names, and all of them.
TEST(Rows, AreThoseThatTheCodeNames) {
  for (const unsigned generation : {35u, 50u, 70u, 80u, 90u}) {
    ptx::LoadOptions options;
    make_code(options, generation, false);
    const auto module = ptx::load_module(
        "test.ptx",
        kernel_of("ld.global.u32 %r3, [%d0]; mad.lo.u32 %r4, %r3, %r1, %r2; st.global.u32 [%d0], %r4;"),
        options);
    module->complete_all();
    const ptx::Function& f = module->functions[0];
    ASSERT_NE(f.machine, nullptr) << generation;
    std::uint32_t named = 0;
    for (const ptx::Inst& i : f.machine->operations) {
      for (const ptx::Operand& o : std::span(i.dst).first(i.dst_count))
        if (o.kind == ptx::OperandKind::reg) named = std::max(named, o.index + (o.bytes + 3u) / 4);
      for (const ptx::Operand& o : std::span(i.src).first(i.src_count))
        if (o.kind == ptx::OperandKind::reg) named = std::max(named, o.index + (o.bytes + 3u) / 4);
    }
    EXPECT_GT(named, 0u) << generation;
    EXPECT_LE(named, f.reg_rows) << generation;
    EXPECT_LE(f.reg_rows, 40u) << generation;  // 112 and more with all uniform registers and all room
  }
}

// Accesses to two arrays by one index of 64 bits
std::string two_arrays(const std::string& behind = "") {
  return "  mov.b64 %d1, {%r2, %t};\n  add.u64 %d2, %a, %d1;\n  ld.global.u32 %r5, [%d2+4];\n"
         "  st.global.u32 [%d2], %r5;\n" +
         behind;
}

TEST(UniformOffsets, AccessesAddTheParameterOnTuring) {
  const std::string text = uniform_code(two_arrays(), 75, use_uniform_offsets);
  EXPECT_THAT(text, HasSubstr("ULDC.64 =%ur"));
  EXPECT_THAT(text, HasSubstr("+%ur"));
  EXPECT_THAT(text, Not(HasSubstr("IADD3.X")));
  EXPECT_THAT(uniform_code(two_arrays(), 80, use_uniform_offsets), Not(HasSubstr("+%ur")));
}

TEST(UniformOffsets, ASumThatIsNeededItselfStays) {
  const std::string text = uniform_code(two_arrays("  st.global.u64 [%d0], %d2;\n"), 75, use_uniform_offsets);
  EXPECT_THAT(text, Not(HasSubstr("+%ur")));
}

TEST(UniformOffsets, AnIndexThatChangesBetweenStays) {
  const std::string changed =
      "  add.u32 %r2, %r2, 1;\n  mov.b64 %d1, {%r2, %t};\n  st.global.u32 [%d2+8], %r5;\n"
      "  st.global.u64 [%d0], %d1;\n";
  EXPECT_THAT(uniform_code(two_arrays(changed), 75, use_uniform_offsets), Not(HasSubstr("+%ur")));
}

}  // namespace
}  // namespace simtlab::assembler
