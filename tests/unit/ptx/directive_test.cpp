// Directives of modules and kernels: .version, .target, .alias, limits of registers and of constant memory,
// byte order marks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "helpers.h"

namespace simtlab::ptx {
namespace {

using namespace test;

void expect_failure(const std::string& text, const std::string& id, const std::string& message,
                    std::uint32_t line, std::uint32_t column) {
  const Failure f = failure(text);
  EXPECT_EQ(f.id, id) << text;
  EXPECT_NE(f.message.find(message), std::string::npos) << text << "\n" << f.message;
  EXPECT_EQ(f.line, line) << text << "\n" << f.message;
  EXPECT_EQ(f.column, column) << text << "\n" << f.message;
}

TEST(Directive, VersionIsOneNumberWithAPoint) {
  for (const char* bad : {"7", "7.8e3", "123.0", "7.123", "1e5", "0.1"})
    expect_failure(fmt::format(".version {}\n.target sm_70\n", bad), "ptx-syntax",
                   "expected a version such as 7.8", 1, 10);
  expect_failure(".version 7.0\n.version 7.0\n.target sm_70\n", "ptx-redefined", "a second .version", 2, 1);
}

TEST(Directive, TargetIsNeededAndKnown) {
  expect_failure(".version 7.0\n.address_size 64\n.entry k() { ret; }\n", "ptx-syntax", "expected .target", 3,
                 1);
  expect_failure(".version 7.0\n", "ptx-syntax", "expected .target", 2, 1);
  for (const char* bad : {"foo", "sm_", "sm_7", "sm_70x", "sm_7000", "compute_70"})
    expect_failure(fmt::format(".version 7.0\n.target {}\n", bad), "ptx-syntax", "is no target", 2, 9);
  expect_failure(".version 7.0\n.target sm_70, nonsense\n", "ptx-syntax", "is no target", 2, 16);
  expect_failure(".version 7.0\n.target debug\n", "ptx-syntax", "expected .target", 3, 1);
}

// The manual lets later directives add options and architectures: the highest counts.
TEST(Directive, SeveralTargets) {
  const auto m = load(
      ".version 7.0\n.target sm_70, texmode_unified, debug\n.target sm_90a\n.target sm_80, "
      "map_f64_to_f32\n.entry k() { ret; }\n");
  EXPECT_EQ(m->target, "sm_90a");
  EXPECT_EQ(m->capability(), 90u);
}

TEST(Directive, ByteOrderMarkIsSkipped) {
  EXPECT_EQ(load("\xef\xbb\xbf" + head + ".entry k() { ret; }\n")->functions.size(), 1u);
  const Failure f = failure("\xef\xbb\xbf.version new\n");
  EXPECT_EQ(f.column, 10u);
  EXPECT_EQ(f.text, ".version new");
}

TEST(Directive, AliasesNeedADeclarationAndADefinition) {
  const std::string f = head + ".visible .func f() { ret; }\n";
  expect_failure(f + ".alias a, f;\n", "ptx-undeclared", "'a' is not declared", 5, 8);
  expect_failure(f + ".visible .func a();\n.alias a, b;\n", "ptx-undeclared", "'b' is not defined", 6, 11);
  expect_failure(f + ".visible .func a();\n.extern .func b();\n.alias a, b;\n", "ptx-undeclared",
                 "'b' is not defined", 7, 11);
  EXPECT_EQ(failure(f + ".visible .func a();\n.alias a, f;\n.entry k() { call a; ret; }\n").message, "");
}

TEST(Directive, ConstantMemoryIsBounded) {
  expect_failure(head + ".const .b8 a[65536];\n.const .b8 b[1];\n", "ptx-limit",
                 "more than 65536 bytes with 'b'", 5, 12);
  expect_failure(head + ".const .b8 a[65537];\n", "ptx-limit", "more than 65536 bytes with 'a'", 4, 12);
  EXPECT_EQ(load(head + ".const .b8 a[65536];\n.extern .const .b8 c[8];\n")->variables.size(), 2u);
}

TEST(Directive, LimitsOnSharedAndLocalMemoryNameTheirPlace) {
  expect_failure(head +
                     ".shared .b8 a[2147483648];\n.shared .b8 b[16];\n.entry k() { .reg .b32 %r; mov.u32 %r, "
                     "a; mov.u32 %r, b; ret; }\n",
                 "ptx-limit", "shared variables need more than 2048 MiB with 'b'", 5, 13);
  expect_failure(
      head + ".func f() { .local .b8 x[400000]; ret; }\n.entry k() { .local .b8 x[400000]; call f; ret; }\n",
      "ptx-limit", "local memory of 'k' and the functions it calls", 5, 8);
}

const std::string many_values = [] {
  std::string body = ".reg .b32 %r<100>;\n";
  for (int i = 0; i < 60; ++i) body += fmt::format("mov.u32 %r{}, %clock;\n", i);
  for (int i = 1; i < 60; ++i) body += fmt::format("add.u32 %r0, %r0, %r{};\n", i);
  return body + "st.global.u32 [0], %r0; ret; }\n";
}();

TEST(Directive, RegisterLimitsLowerTheEstimate) {
  auto registers = [](const std::string& directives) {
    return load(head + ".entry k() " + directives + " {\n" + many_values)->functions[0].registers;
  };
  EXPECT_GE(registers(""), 60u);
  EXPECT_EQ(registers(".maxnreg 16"), 16u);
  EXPECT_EQ(registers(".maxnreg 255"), registers(""));
  EXPECT_EQ(registers(".maxntid 512 .minnctapersm 4"), 32u);
  EXPECT_EQ(registers(".reqntid 16, 32 .minnctapersm 3"), 40u);
  EXPECT_EQ(registers(".maxntid 1024 .minnctapersm 3"), registers(""))
      << "3072 threads are never resident: the assembler ignores it";
  EXPECT_EQ(registers(".minnctapersm 4"), registers("")) << "without the size of a block it says nothing";
  EXPECT_EQ(load(head + ".entry k() .maxnreg 16 {\n" + many_values)->functions[0].unlimited_registers,
            registers(""));
}

TEST(Directive, RegisterLimitsHaveARange) {
  expect_failure(head + ".entry k() .maxnreg 0 { ret; }\n", "ptx-syntax", "0 is out of range", 4, 21);
  expect_failure(head + ".entry k() .maxnreg 100000 { ret; }\n", "ptx-syntax", "100000 is out of range", 4,
                 21);
  expect_failure(head + ".entry k() .maxnreg -1 { ret; }\n", "ptx-syntax", "-1 is out of range", 4, 21);
}

TEST(Directive, NumbersAreShownAsWritten) {
  expect_failure(kernel(".reg .b32 %x<-1>;"), "ptx-syntax", "-1 is no number of registers", 6, 14);
  expect_failure(kernel("bar.sync -1;"), "ptx-operand", "the barrier is -1;", 6, 10);
  expect_failure(kernel("bar.sync 18446744073709551615;"), "ptx-operand",
                 "the barrier is 18446744073709551615;", 6, 10);
  expect_failure(head + ".global .align -4 .b8 g[4];\n", "ptx-syntax", "alignment -4", 4, 16);
}

TEST(Directive, UndefinedFunctionsAreExplained) {
  auto hint = [](const std::string& name) {
    return failure(head + ".extern .func " + name + "();\n.entry k() { call " + name + "; ret; }\n").hint;
  };
  EXPECT_NE(hint("helper").find("-rdc"), std::string::npos);
  EXPECT_NE(hint("cudaMalloc").find("run-time calls"), std::string::npos);
  EXPECT_NE(hint("__nv_sinf").find("mathematics"), std::string::npos);
}

TEST(Number, DoublesHaveARange) {
  expect_failure(kernel("mov.f64 %d1, 1e999;"), "ptx-syntax", "'1e999' is out of range", 6, 14);
  expect_failure(head + ".global .f64 x = 1e99999;\n", "ptx-syntax", "'1e99999' is out of range", 4, 18);
  expect_failure(head + ".global .f64 x = 0.00001e99999999999999999999;\n", "ptx-syntax", "is out of range",
                 4, 18);
  expect_failure(head + fmt::format(".global .f64 x = 1{}.0;\n", std::string(400, '0')), "ptx-syntax",
                 "is out of range", 4, 18);
}

double initial(const std::string& type, const std::string& number) {
  const auto m = load(head + ".global ." + type + " x = " + number + ";\n");
  double d = 0;
  float f = 0;
  const auto& bytes = m->variables.at(0).initial;
  if (type == "f32") return bytes.empty() ? 0 : (std::memcpy(&f, bytes.data(), 4), f);
  return bytes.empty() ? 0 : (std::memcpy(&d, bytes.data(), 8), d);
}

TEST(Number, SmallDoublesAreRounded) {
  EXPECT_EQ(initial("f64", "1e-999"), 0.0);
  EXPECT_EQ(initial("f64", "0e999"), 0.0);
  EXPECT_EQ(initial("f64", "123456789.0e-99999999999999999999"), 0.0);
  EXPECT_EQ(initial("f64", fmt::format("0.{}1", std::string(400, '0'))), 0.0);
  EXPECT_EQ(initial("f64", "5e-324"), 5e-324);
  EXPECT_EQ(initial("f64", "1.7976931348623157e308"), 1.7976931348623157e308);
}

TEST(Number, UnsignedIntegersInitialiseFloats) {
  EXPECT_EQ(initial("f64", "18446744073709551615"), 18446744073709551615.0);
  EXPECT_EQ(initial("f64", "9223372036854775808U"), 9223372036854775808.0);
  EXPECT_EQ(initial("f32", "18446744073709551615"), 18446744073709551616.0);
  EXPECT_EQ(initial("f64", "-1"), -1.0);
}

// Branches through one table: time and memory grow with their number plus that of the targets.
TEST(Hostile, ManyBranchesThroughOneTable) {
  constexpr int labels = 20'000, branches = 2'000;
  std::string body = "ld.global.u32 %r1, [0];\n";
  for (int i = 0; i < branches; ++i)
    body += fmt::format("setp.eq.u32 %p1, %r1, {};\n@%p1 brx.idx %r1, T;\n", i);
  for (int i = 0; i < labels; ++i) body += fmt::format("L{}: add.u32 %r1, %r1, 1;\n", i);
  body += "ret;\nT: .branchtargets L0";
  for (int i = 1; i < labels; ++i) body += fmt::format(", L{}", i);
  const auto begin = std::chrono::steady_clock::now();
  const auto k = load_kernel(body + ";");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(k.fn.branch_tables.size(), 1u);
}

}  // namespace
}  // namespace simtlab::ptx
