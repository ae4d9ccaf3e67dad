// Bad input: where, what, and what to do about it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "helpers.h"

namespace simtlab::ptx {
namespace {

using namespace test;

struct Case {
  const char* name;
  std::string text;
  std::uint32_t line, column;
  const char* message;  // part of it
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string body(const std::string& s) { return kernel(s); }  // the body starts on line 6

class BadInput : public testing::TestWithParam<Case> {};

TEST_P(BadInput, IsReportedWithItsPlace) {
  const Case& c = GetParam();
  const Failure f = failure(c.text);
  EXPECT_EQ(f.code, ExitCode::bad_input);
  EXPECT_NE(f.message.find(c.message), std::string::npos) << f.message;
  EXPECT_EQ(f.line, c.line) << f.message;
  EXPECT_EQ(f.column, c.column) << f.message;
}

const Case cases[] = {
    {"Empty", "", 1, 1, "the text is empty"},
    {"OnlyComments", "// nothing\n/* at all */\n", 3, 1, "there is no code"},
    {"OnlyNul", std::string(1000, static_cast<char>(0)), 1, 1001,
     "nothing but blanks, comments or NUL bytes"},
    {"NotPtx", "#include <stdio.h>\nint main() { return 0; }\n", 2, 1, "this is not PTX"},
    {"Binary",
     std::string("\x7f"
                 "ELF\x02\x01\x01",
                 7),
     1, 1, "byte 0x7f is not PTX text"},
    {"NoVersion", ".target sm_70\n", 1, 1, "expected .version"},
    {"VersionIsAWord", ".version new\n", 1, 10, "expected a version"},
    {"UnknownDirective", head + ".frob x;\n", 4, 1, "unknown directive '.frob'"},
    {"InstructionOutside", head + "add.u32 %r1, %r2, %r3;\n", 4, 1, "expected a directive"},
    {"BraceTooMany", head + ".entry k() { ret; }\n}\n", 5, 1, "expected a directive"},
    {"Truncated", head + ".entry k() {\n  ret;\n", 6, 1, "is never closed; it starts on line 4"},
    {"NoSemicolon", body("add.u32 %r1, %r2, %r3\nret;"), 7, 1, "expected ';' after 'add.u32'"},
    {"NoComma", body("add.u32 %r1 %r2, %r3;"), 6, 13, "expected ';'"},
    {"UndeclaredRegister", body("add.u32 %r1, %r2, %x3;"), 6, 19, "register '%x3' is not declared"},
    {"RegisterBeyondItsRange", body("add.u32 %r1, %r2, %r10;"), 6, 19, "register '%r10' is not declared"},
    {"LeadingZero", body("add.u32 %r1, %r2, %r03;"), 6, 19, "is not declared"},
    {"UndeclaredSymbol", body("ld.global.u32 %r1, [nowhere];"), 6, 21, "'nowhere' is not declared"},
    {"UndefinedLabel", body("bra NOWHERE;"), 6, 5, "label 'NOWHERE' is not defined"},
    {"LabelOfAnotherScope", body("bra L; { L: ret; }"), 6, 5, "label 'L' is not defined"},
    {"LabelTwice", body("L: ret; L: ret;"), 6, 9, "label 'L' is defined twice"},
    {"TooFewOperands", body("add.u32 %r1, %r2;"), 6, 1, "takes 3 operands, found 2"},
    {"TooManyOperands", body("ret 1;"), 6, 1, "takes 0 operands, found 1"},
    {"WrongWidth", body("add.u32 %r1, %rd2, %r3;"), 6, 14,
     "register of 64 bits where a value of type .u32 is needed"},
    {"NarrowResult", body("add.u64 %r1, %rd2, %rd3;"), 6, 9,
     "register of 32 bits where a value of type .u64"},
    {"LoadIntoANarrowRegister", body("ld.global.u64 %r1, [%rd1];"), 6, 15, "register of 32 bits"},
    {"PredicateAsValue", body("add.u32 %r1, %p1, 1;"), 6, 14, "predicate register where a value"},
    {"ValueAsPredicate", body("selp.u32 %r1, 1, 2, %r3;"), 6, 21, "a predicate register is needed"},
    {"GuardIsNoPredicate", body("@%r1 ret;"), 6, 2, "'%r1' is not a predicate register"},
    {"ConstantResult", body("add.u32 5, %r1, %r2;"), 6, 9, "a register is needed for the result"},
    {"IntegerForFloat", body("add.f32 %f1, %f2, 1;"), 6, 19, "integer constant where a value of type .f32"},
    {"FloatForInteger", body("add.u32 %r1, %r2, 1.5;"), 6, 19,
     "floating-point constant where a value of type .u32"},
    {"ShortFloat", body("add.f32 %f1, %f2, 0f3F8;"), 6, 19, "'0f3F8' has 3 hexadecimal digits; 0f needs 8"},
    {"NumberTooLarge", body("mov.u64 %rd1, 99999999999999999999;"), 6, 15, "does not fit in 64 bits"},
    {"BadNumber", body("mov.u32 %r1, 0x12G;"), 6, 14, "'0x12G' is not a number"},
    {"AddressWithoutBrackets", body("ld.global.u32 %r1, %rd1;"), 6, 20, "an address in brackets is needed"},
    {"UnclosedAddress", body("ld.global.u32 %r1, [%rd1;"), 6, 25, "expected ']'"},
    {"NarrowAddress", body("ld.global.u32 %r1, [%r2];"), 6, 21, "must be a 64-bit register"},
    {"VectorSize", body("ld.global.v4.f32 {%f1, %f2}, [%rd1];"), 6, 18, "a vector of 4 registers is needed"},
    {"VectorForScalar", body("add.u32 %r1, {%r1, %r2}, 3;"), 6, 14, "a vector can't stand here"},
    {"ReadOfSink", body("add.u32 %r1, _, 3;"), 6, 14, "'_' can't be read"},
    {"WrongSpace", head + ".shared .u32 s;\n.entry k() { .reg .u32 %r; ld.global.u32 %r, [s]; ret; }\n", 5,
     47, "'s' is in .shared memory, the instruction accesses .global"},
    {"BarrierNumber", body("bar.sync 16;"), 6, 10, "the barrier is 16; it must be at most 15"},
    {"LutTooLarge", body("lop3.b32 %r1, %r2, %r3, %r4, 256;"), 6, 30, "it must be at most 255"},
    {"CopySize", body("cp.async.cg.shared.global [%r1], [%rd1], 8;"), 6, 42,
     "size 8 of cp.async.cg is not 16"},
    {"RegisterTwice", body(".reg .u32 %a; .reg .f32 %a;"), 6, 25, "declared twice in this scope"},
    {"FunctionTwice", head + ".entry k() { ret; }\n.entry k() { ret; }\n", 5, 8,
     "'k' is defined twice; the first definition is on line 4"},
    {"VariableTwice", head + ".global .u32 g;\n.global .u32 g;\n", 5, 14, "'g' is defined twice"},
    {"TooManyInitialValues", head + ".global .u32 g[2] = {1, 2, 3};\n", 4, 21,
     "more values than the array has elements"},
    {"SharedInitialValue", head + ".shared .u32 g = 1;\n", 4, 14,
     "shared variables can't have an initialiser"},
    {"UnknownInitialSymbol", head + ".global .u64 g = nowhere;\n", 4, 18, "'nowhere' is not declared"},
    {"AlignmentNoPowerOfTwo", head + ".global .align 3 .b8 g[4];\n", 4, 16,
     "alignment 3 is not a power of two"},
    {"UnclosedComment", head + "/* open\n", 4, 1, "comment is never closed"},
    {"UnclosedString", head + ".file 1 \"abc\n", 4, 9, "string is never closed"},
    {"DivisionByZero", body("mov.u32 %r1, 4 / 0;"), 6, 16, "division by zero"},
    {"CallOfAKernel", head + ".entry a() { ret; }\n.entry k() { call a; ret; }\n", 5, 19,
     "a kernel can't be called"},
    {"ArgumentCount", head + ".func f(.param .b32 x) { ret; }\n.entry k() { call f; ret; }\n", 5, 14,
     "has 1 parameter, the call gives 0"},
    {"ArgumentSize",
     head + ".func f(.param .b32 x) { ret; }\n.entry k() { .param .b64 p; call f, (p); ret; }\n", 5, 38,
     "'p' has 8 bytes, the parameter has 4"},
    {"UndeclaredFunction", body("call nothing;"), 6, 6, "function 'nothing' is not declared"},
    {"IndirectWithoutPrototype", body("call %rd1;"), 6, 6, "needs a .callprototype"},
    {"StrangeByte", body("add.u32 %r1, \x01;"), 6, 14, "byte 0x01 is not PTX text"},
    {"AddressSize", ".version 7.0\n.target sm_70\n.address_size 16\n", 3, 15, "neither 32 nor 64"},
    {"StoreToParameter", head + ".entry k(.param .u32 a) { st.param.u32 [a], 1; ret; }\n", 4, 27,
     "kernel parameters can't be written"},
    {"BlankInOpcode", body("add .u32 %r1, %r2, %r3;"), 6, 5, "unexpected '.u32' after 'add'"},
    {"MovOfAddressTooNarrow", head + ".global .u32 g;\n.entry k() { .reg .u32 %r; mov.u32 %r, g; ret; }\n", 5,
     40, "needs a 64-bit register"},
};

INSTANTIATE_TEST_SUITE_P(Cases, BadInput, testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BadInputMessage, ShowsTheLineAndAHint) {
  const Failure f = failure(body("  add.u32 %r1, %r2, %y7;"));
  EXPECT_EQ(f.text, "  add.u32 %r1, %r2, %y7;");
  EXPECT_NE(f.hint.find(".reg"), std::string::npos);
  EXPECT_EQ(f.id, "ptx-undeclared");
}

TEST(Hostile, HugeRegisterCountsCostNothing) {
  const auto k = load_kernel(".reg .b64 %big<4000000000>; add.u64 %big3999999999, %big1, 2; ret;");
  EXPECT_LE(k.fn.reg_rows, 8u);
  EXPECT_EQ(failure(kernel(".reg .b64 %big<99999999999>; ret;")).id, "ptx-limit");
}

TEST(Hostile, HugeArraysAreBounded) {
  const auto m = load(head + ".global .u32 g[1000000000] = {1, 2, 3};\n");
  EXPECT_EQ(m->find_variable("g")->bytes, 4'000'000'000u);
  EXPECT_EQ(m->find_variable("g")->initial.size(), 12u);
  EXPECT_EQ(failure(head + ".global .u64 g[4000000000][4000000000][4000000000];\n").id, "ptx-limit");
  EXPECT_EQ(failure(head + ".global .u32 g[1000000000][1000000000] = {{{}}, {{1}}};\n").code,
            ExitCode::bad_input);
  EXPECT_EQ(failure(head + ".global .u8 g[4000000000] = {{1}, 2};\n").code, ExitCode::ok);
  EXPECT_EQ(failure(head + ".global .u8 g[2][3000000000] = {{1}, {2}};\n").id, "ptx-limit");
  EXPECT_EQ(failure(head + ".shared .b8 s[3000000000];\n.entry k() { .reg .u32 %r; mov.u32 %r, s; ret; }").id,
            "ptx-limit");
  EXPECT_EQ(failure(kernel(".local .b8 d[99999999]; ret;")).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("ret;", ".param .b8 p[100000]")).id, "ptx-limit");
  EXPECT_EQ(failure(head + ".func f(.param .b8 a[600000]) { ret; }").id, "ptx-limit");
}

TEST(Hostile, LocalMemoryOfCallChainsIsBounded) {
  std::string text = head + ".func f0() { .local .b8 d[400000]; ret; }\n";
  text += ".func f1() { .local .b8 d[400000]; call f0; ret; }\n.entry k() { call f1; ret; }";
  EXPECT_EQ(failure(text).id, "ptx-limit");
}

TEST(Hostile, DeepNestingIsBounded) {
  auto repeat = [](const std::string& s, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += s;
    return out;
  };
  EXPECT_EQ(failure(kernel(repeat("{", 100000))).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("mov.u32 %r1, " + repeat("(", 100000) + "1;")).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("mov.u32 %r1, " + repeat("-", 100000) + "1;")).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("mov.u32 %r1, " + repeat("1?", 100000) + "1;")).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("mov.b64 %rd1, " + repeat("{", 100000) + "1;")).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("ld.global.u32 %r1, " + repeat("[", 100000) + "1;")).id, "ptx-limit");
  EXPECT_EQ(failure(head + ".global .u32 g = " + repeat("{", 100000) + "1;").id, "ptx-limit");
  EXPECT_NE(failure(head + ".section .x " + repeat("{", 100000)).code, ExitCode::ok);
}

// Mangled names of nested templates have thousands of characters; what is longer than the limit is named as
// that.
TEST(Hostile, LongNamesAreBounded) {
  const std::string long_name(65536, 'k'), longer(65537, 'k');
  EXPECT_NE(load(head + ".visible .entry " + long_name + "() { ret; }")->find_function(long_name), nullptr);
  EXPECT_EQ(failure(head + ".visible .entry " + longer + "() { ret; }").id, "ptx-limit");
  EXPECT_EQ(failure(head + "." + longer + "\n").id, "ptx-limit");
  EXPECT_EQ(failure(kernel("mov.f32 %f1, 1." + std::string(65536, '0') + ";")).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("add" + longer + ".u32 %r1;")).id, "ptx-limit");
  std::string modifiers;
  for (int i = 0; i < 2000; ++i) modifiers += ".u32";
  EXPECT_EQ(failure(kernel("add" + modifiers + " %r1, %r2, %r3; ret;")).code, ExitCode::unsupported);
}

TEST(Hostile, ManyOperandsAreBounded) {
  std::string many = "%r1";
  for (int i = 0; i < 10000; ++i) many += ", %r1";
  EXPECT_EQ(failure(kernel("add.u32 " + many + ";")).id, "ptx-limit");
  EXPECT_EQ(failure(kernel("mov.b64 %rd1, {" + many + "};")).code, ExitCode::bad_input);
  EXPECT_EQ(failure(kernel("call f, (" + many + ");")).code, ExitCode::bad_input);
}

TEST(Hostile, EveryTruncationOfARealFileIsAnError) {
  const std::string text = read_file("basic_nvcc.ptx");
  for (std::size_t n = 0; n < text.size(); n += 37) {
    const Failure f = failure(text.substr(0, n));
    EXPECT_TRUE(f.code == ExitCode::ok || f.code == ExitCode::bad_input) << n;
  }
}

TEST(Hostile, DamagedTextNeverDoesWorseThanAnError) {
  const std::string text = read_file("basic_clang.ptx");
  std::uint32_t seed = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (int k = 0; k < 3; ++k) {
      seed = seed * 1664525u + 1013904223u;
      damaged[seed % damaged.size()] = static_cast<char>(seed >> 16);
    }
    const Failure f = failure(damaged);
    EXPECT_TRUE(f.code == ExitCode::ok || f.code == ExitCode::bad_input || f.code == ExitCode::unsupported);
  }
}

TEST(Hostile, UnsupportedFindingsAreBounded) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "frob.u32 %r1;\n";
  const Failure f = failure(kernel(many));
  EXPECT_EQ(f.code, ExitCode::unsupported);
  EXPECT_EQ(f.count, 1000u);
}

// Processor seconds that a kernel of five times so many lines takes to load.
double seconds_to_load(int rounds) {
  std::string text;
  text.reserve(20u << 20);
  for (int i = 0; i < rounds; ++i)
    text += fmt::format(
        "add.s32 %v{}, %r1, {};\nmul.lo.s32 %r2, %v{}, %r1;\nsetp.lt.s32 %p1, %r2, %r1;\n@%p1 bra "
        "L{};\nL{}:\n",
        i, i, i, i, i);
  const std::clock_t start = std::clock();
  const auto k = load_kernel(fmt::format(".reg .b32 %v<{}>;", rounds) + text + "ret;");
  EXPECT_EQ(k.fn.code.size(), 4u * static_cast<unsigned>(rounds) + 1);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(Large, TimeGrowsLikeTheNumberOfLines) {
  const double some = seconds_to_load(12'500), ten_times = seconds_to_load(125'000);
  EXPECT_LT(ten_times, 40 * some);  // 10 if nothing else mattered, 100 if it grew like the square
}

}  // namespace
}  // namespace simtlab::ptx
