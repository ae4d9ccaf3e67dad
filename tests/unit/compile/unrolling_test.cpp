// Pragmas that nvcc ignores.
#include "compile/unrolling.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace simtlab::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Blanked {
  std::string text;
  Unrolling found;
  std::vector<std::size_t> lines() const {
    std::vector<std::size_t> out;
    for (const Unrolling::Ignored& i : found.ignored) out.push_back(i.line);
    return out;
  }
};
Blanked blanked(const std::string& text, std::int64_t most = any_copies) {
  Blanked out{text, {}};
  Numbers numbers({text});
  numbers.define("GIVEN", "7000");
  out.found = blank_unrolling(out.text, numbers, most);
  EXPECT_EQ(out.text.size(), text.size());
  EXPECT_EQ(std::ranges::count(out.text, '\n'), std::ranges::count(text, '\n'));
  return out;
}
// A loop behind the pragma: of four instructions, 14 tokens.
std::string loop(const std::string& pragma) {
  return fmt::format("{}\n  for (int i = 0; i < n; ++i) a[i] = a[i] * 2.0f + i;\n", pragma);
}

TEST(Unrolling, WhatIsNoNumberOfCopiesIsIgnored) {
  for (const char* value : {"0", "-1", "(-5)", "4000000000", "18446744073709551616", "- 3", "-0x10"})
    EXPECT_THAT(blanked(loop(fmt::format("#pragma unroll {}", value))).lines(), ElementsAre(1u)) << value;
}

TEST(Unrolling, UsualPragmasStay) {
  for (const char* pragma :
       {"#pragma unroll", "#pragma unroll 1", "#pragma unroll 4", "#pragma unroll(16)",
        "#  pragma unroll 0x10", "#pragma unroll 4u // copies", "#pragma nounroll", "#pragma unroll 2000",
        "#pragma unroll N", "#pragma unroll sizeof(int)", "#pragma unroll 2 + 2", "_Pragma(\"unroll 8\")",
        "#pragma unrolled 90000", "// #pragma unroll 90000", "/* #pragma unroll 90000 */",
        "x = \"#pragma unroll 90000\";"}) {
    const std::string text = loop(pragma);
    EXPECT_EQ(blanked(text).text, text);
  }
}

TEST(Unrolling, CopiesAreCountedByTheirSize) {
  EXPECT_THAT(blanked(loop("#pragma unroll 4000")).lines(), IsEmpty());
  EXPECT_TRUE(blanked(loop("#pragma unroll 4000")).found.many);
  EXPECT_FALSE(blanked(loop("#pragma unroll 400")).found.many);
  EXPECT_THAT(blanked(loop("#pragma unroll 8000")).lines(), ElementsAre(1u));
  EXPECT_THAT(blanked("#pragma unroll 5000\nfor (;;) { if (x) { y = 1; } else { z = 2; } w(); }").lines(),
              ElementsAre(1u));
  EXPECT_THAT(blanked("#pragma unroll 5000\nfor (;;) { x(); }\n" + std::string(100, ';')).lines(), IsEmpty());
  // The inner loop has 300 copies, the outer one would have 300 of them.
  const std::string nest =
      "#pragma unroll 300\nfor (int j = 0; j < n; ++j) {\n" + loop("#pragma unroll 300") + "}\n";
  EXPECT_THAT(blanked(nest).lines(), ElementsAre(1u));
}

TEST(Unrolling, NumbersHaveNames) {
  const std::string text = "#define MANY (9000)\n#define SAME MANY\nconstexpr int few = 8, none = -1;\n" +
                           loop("#pragma unroll SAME") + loop("#pragma unroll few") +
                           loop("#pragma unroll none") + loop("#pragma unroll GIVEN") +
                           "template <int N> void f() {\n" + loop("#pragma unroll N") +
                           "}\nconstexpr int N = 9000;\n";
  const Blanked out = blanked(text);
  EXPECT_THAT(out.lines(), ElementsAre(4u, 8u, 10u));
  EXPECT_THAT(out.text, HasSubstr("#pragma unroll few"));
  EXPECT_THAT(out.text, HasSubstr("#pragma unroll N"));
  EXPECT_TRUE(out.found.counts);
  EXPECT_FALSE(blanked(loop("#pragma unroll 1") + loop("#pragma unroll")).found.counts);
  EXPECT_THAT(blanked("#define A B\n#define B A\n" + loop("#pragma unroll A")).lines(), IsEmpty());
}

TEST(Unrolling, OtherSpellingsAreKnown) {
  EXPECT_THAT(blanked("#define U _Pragma(\"unroll 90000\")\n" + loop("U")).text,
              testing::StartsWith("#define U " + std::string(23, ' ') + "\n"));
  EXPECT_THAT(blanked(loop("__attribute__((opencl_unroll_hint(90000)))")).lines(), ElementsAre(1u));
  EXPECT_THAT(blanked(loop("#pragma unroll \\\n  90000")).lines(), ElementsAre(1u));
  // A comment that begins on the line goes on.
  EXPECT_THAT(blanked(loop("#pragma unroll 90000 /* why\n */")).text, HasSubstr("/* why\n */"));
}

TEST(Unrolling, ALimitTakesWhatNobodyKnows) {
  const std::string text = loop("#pragma unroll N") + loop("#pragma unroll 32") + loop("#pragma unroll 8") +
                           loop("#pragma unroll") + loop("#pragma unroll 1");
  EXPECT_TRUE(blanked(text).found.counts);
  EXPECT_THAT(blanked(text, few_copies).lines(), ElementsAre(1u, 3u));
  EXPECT_FALSE(blanked(text, few_copies).found.counts) << "clang may take as long as it does for the rest";
  EXPECT_FALSE(blanked(loop("#pragma unroll 16")).found.counts);
}

TEST(Unrolling, UnfinishedTextEndsQuietly) {
  for (const char* text : {"#", "#pragma", "#pragma unroll", "#pragma unroll (", "#pragma unroll -",
                           "_Pragma", "_Pragma(\"unroll", "_Pragma(\"unroll 9\"", "#pragma unroll 9\nfor (",
                           "", "#pragma unroll 9\n}", "#pragma unroll 9\nfor (;;) { \"", "#pragma unroll )(",
                           "__attribute__((opencl_unroll_hint(", "#pragma unroll \\"})
    blanked(text);
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "#pragma unroll 2\nfor (;;) {";
  blanked(deep);
}

}  // namespace
}  // namespace simtlab::compile
