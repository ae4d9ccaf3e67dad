// Instructions of Volta become those of Maxwell.
#include "assembler/bundled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assembler/assemble.h"
#include "assembler/clean.h"
#include "assembler/select.h"
#include "machine/code.h"
#include "ptx/decode.h"
#include "ptx/fold.h"
#include "ptx/module.h"

namespace simtlab::assembler {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned maxwell = 50;

std::string maxwell_kernel(const std::string& body) {
  return ".version 8.0\n.target sm_50\n.address_size 64\n.extern .func (.param .b32 r) vprintf (.param .b64 "
         "f, "
         ".param .b64 a);\n.visible .entry k(.param .u64 p)\n{\n  .reg .b64 %a, %b, %c;\n  .reg .b32 %r<4>;\n"
         "  .reg .pred %p;\n  ld.param.u64 %a, [p];\n" +
         body + "\n  ret;\n}\n";
}

// As selection leaves it.
Program program_of_volta(const std::string& body) {
  Program out;
  ptx::LoadOptions options;
  options.assemble = [&](ptx::VirtualFunction& f, const ptx::Module& module, std::string& why) {
    ptx::fold(f.fn, ptx::build_cfg(f.fn), f.registers);
    EXPECT_TRUE(select(f, module, selected_as(maxwell), out, why)) << why;
    return false;
  };
  ptx::load_module("test.ptx", maxwell_kernel(body), options)->complete_all();
  return out;
}

// A comparison of 64 bits whose two instructions stand so far apart.
Program apart(std::size_t distance) {
  Program program = program_of_volta(
      "ld.global.u64 %b, [%a]; ld.global.u64 %c, [%a+8]; ld.global.u32 %r1, [%a+16]; mul.lo.u32 %r2, %r1, "
      "%r1;\n"
      "setp.lt.u64 %p, %b, %c; @%p st.global.u32 [%a], %r2;");
  for (Block& block : program.blocks)
    for (std::size_t k = 0; k + 1 < block.code.size(); ++k)
      if (block.code[k].code.mnemonic() == "ISETP") {
        EXPECT_NE(block.code[k + 1].code.field("ex"), 0) << text_of(program);
        // Whatever has nothing to do with it
        const Instruction between = block.code[k - 1];
        block.code.insert(block.code.begin() + static_cast<std::ptrdiff_t>(k) + 1, distance - 1, between);
        return program;
      }
  ADD_FAILURE() << text_of(program);
  return program;
}

// Who looks from the first and who looks from the second agree on how far.
TEST(Bundled, WordsOfAComparisonAreJoinedWithinADistance) {
  for (const std::size_t distance : {1u, 2u, 255u, 256u, 257u, 258u, 600u}) {
    Program program = apart(distance);
    to_bundles(program, maxwell);
    const std::string text = text_of(program);
    std::set<std::uint32_t> written, read;
    for (const Block& block : program.blocks)
      for (const Instruction& i : block.code)
        for_each_ref(i, [&](const Ref& r, bool writes) {
          if (program.registers[r.reg].file == File::predicate) (writes ? written : read).insert(r.reg);
        });
    EXPECT_EQ(written, read) << "distance " << distance;
    if (distance <= 256)
      EXPECT_THAT(text, HasSubstr("ISETP.LT.U32.X.AND")) << "distance " << distance;
    else
      EXPECT_THAT(text, Not(HasSubstr(".X"))) << "distance " << distance;
  }
}

// PRET says that it returns behind JMX, with the address in front of the arguments.
TEST(Bundled, ACallOfTheDriverReturnsBehindItsJump) {
  ptx::LoadOptions options;
  make_code(options, maxwell, false);
  const auto module = ptx::load_module(
      "test.ptx",
      maxwell_kernel(
          "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %a; st.param.b64 [y], %a;\n"
          "  call.uni (z), vprintf, (x, y); ld.param.b32 %r1, [z]; }\n  st.global.u32 [%a], %r1;"),
      options);
  module->complete_all();
  ASSERT_NE(module->functions.back().machine, nullptr);
  const machine::Code& code = *module->functions.back().machine;
  std::size_t at = 0;
  while (at < code.instructions.size() && code.instructions[at].mnemonic() != "PRET") ++at;
  ASSERT_LT(at + 2, code.instructions.size());
  EXPECT_EQ(code.instructions[at].operands[0].value,
            static_cast<std::int64_t>((at + 2) * machine::word_bytes));
  EXPECT_EQ(code.instructions[at + 1].mnemonic(), "JMX");
  EXPECT_EQ(code.instructions[at + 1].operands[0].number, 2);
  EXPECT_EQ(code.instructions[at + 1].operands[1].value, 0);
  EXPECT_EQ(code.actions[at].flow, machine::Flow::set_return);
  EXPECT_EQ(code.actions[at + 1].flow, machine::Flow::call_register);
}

// An exit or a barrier of assembled code: cycles by stall counts since the last one.
struct WayEnd {
  bool guarded = false;
  unsigned cycles = 0;
};
std::vector<WayEnd> ways_of(const std::string& body, std::uint8_t& first_stall) {
  ptx::LoadOptions options;
  make_code(options, maxwell, false);
  const auto module = ptx::load_module("test.ptx", maxwell_kernel(body), options);
  module->complete_all();
  const auto& code = module->functions.back().machine;
  EXPECT_NE(code, nullptr);
  std::vector<WayEnd> out;
  WayEnd now;
  first_stall = code->instructions.front().control.stall;
  for (const machine::Instruction& i : code->instructions) {
    if (i.mnemonic().starts_with("EXIT") || i.mnemonic().starts_with("BAR")) {
      now.guarded = !i.always();
      out.push_back(std::exchange(now, {}));
      continue;
    }
    now.cycles += i.control.stall;
  }
  return out;
}

// Straight code: each way begins where the last one ended.
TEST(ShortWays, ExitsAndBarriersDoNotComeTooSoon) {
  std::uint8_t first = 0;
  const std::vector<WayEnd> ways = ways_of(
      "mov.u32 %r1, %tid.x; setp.gt.u32 %p, %r1, 40; @%p ret; st.global.u32 [%a], %r1; bar.sync 0; "
      "bar.sync 0; st.global.u32 [%a+4], %r1;",
      first);
  EXPECT_EQ(first, 6u);
  ASSERT_EQ(ways.size(), 4u);
  EXPECT_TRUE(ways[0].guarded);
  EXPECT_EQ(ways[0].cycles, 58u);
  for (std::size_t k = 1; k < ways.size(); ++k) EXPECT_EQ(ways[k].cycles, 49u) << k;
}

TEST(ShortWays, LongOnesStayAsTheyAre) {
  std::string sums = "ld.global.u32 %r1, [%a];\n";
  for (unsigned k = 0; k < 20; ++k) sums += "mul.lo.u32 %r1, %r1, %r1; add.u32 %r1, %r1, 77;\n";
  std::uint8_t first = 0;
  const std::vector<WayEnd> ways = ways_of(sums + "st.global.u32 [%a], %r1;", first);
  ASSERT_EQ(ways.size(), 1u);
  EXPECT_GT(ways[0].cycles, 58u);
}

}  // namespace
}  // namespace simtlab::assembler
