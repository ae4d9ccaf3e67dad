// What is shown of a compiler that failed.
#include "compile/compiler_messages.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace simtlab::compile {
namespace {

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string many_errors(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i)
    out += "a.cu:" + std::to_string(i) + ":3: error: unknown name\n  x();\n  ^\n";
  return out + std::to_string(count) + " errors generated when compiling for sm_70.\n";
}

TEST(CompilerMessages, FewAreShownWholeAndManyFromTheirBeginning) {
  const Diagnosis few = diagnose(many_errors(3), 20);
  EXPECT_EQ(few.shown, many_errors(3));
  EXPECT_EQ(few.left_out, 0u);
  const Diagnosis many = diagnose(many_errors(30), 20);
  EXPECT_EQ(lines(many.shown), 20u);
  EXPECT_EQ(many.left_out, 71u);
  EXPECT_EQ(many.first, "a.cu:1:3: error: unknown name");
  EXPECT_TRUE(many.lacking.empty());
}

TEST(CompilerMessages, WhatSimtlabLacksExplainsTheRest) {
  const std::string before = "In file included from a.cu:1:\nb.h:7:1: warning: odd\n  odd\n";
  const std::string own =
      "In file included from a.cu:2:\n/usr/share/simtlab/thrust/sort.h:2:2: error: \"simtlab has no Thrust: "
      "write a kernel\"\n    2 | #error\n      |  ^\n";
  const Diagnosis d = diagnose(before + own + many_errors(20), 20);
  EXPECT_EQ(d.shown, own);
  EXPECT_EQ(d.lacking, "simtlab has no Thrust: write a kernel");
  EXPECT_EQ(d.left_out, 64u);
}

TEST(CompilerMessages, EveryWayOfSayingThatSomethingIsAbsentIsFound) {
  for (const char* line :
       {"a.cu:1:1: error: \"simtlab has no CUB: write\"",
        "a.cu:1:1: error: simtlab: __managed__ variables are not supported",
        "a.cu:1:1: error: 'cuCtxCreate' is unavailable: simtlab build has no driver API: use the runtime API",
        "c.h:9:2: error: static assertion failed due to requirement 'never<T>::value': simtlab cannot "
        "synchronise a whole grid: split",
        "a.cu:3:5: error: reference to __global__ function 'k' in __global__ function",
        "a.cu:1:10: fatal error: 'thrust/iterator/zip_iterator.h' file not found",
        "a.cu:1:10: fatal error: 'cub/block/block_scan.cuh' file not found",
        "\x1b[1ma.cu:1:1: \x1b[0;31merror: \x1b[0m\"simtlab has no CUB: write\""})
    EXPECT_EQ(diagnose(line, 20).lacking.substr(0, 7), "simtlab") << line;
  for (const char* line :
       {"/home/me/simtlab/a.cu:1:1: error: unknown name", "a.cu:1:10: fatal error: 'mine.h' file not found",
        "a.cu:1:1: error: no member named 'x' in 'simtlab_thing'"})
    EXPECT_EQ(diagnose(line, 20).lacking, "") << line;
}

TEST(CompilerMessages, AllOfThemAreShownWithoutALimit) {
  for (const std::string& text :
       {many_errors(30), std::string("a.cu:1:10: fatal error: 'cub/cub.cuh' file not found\n")}) {
    const Diagnosis d = diagnose(text, std::string::npos);
    EXPECT_EQ(d.shown, text);
    EXPECT_EQ(d.left_out, 0u);
  }
}

TEST(CompilerMessages, AFullDiskIsNoFaultOfTheSource) {
  EXPECT_TRUE(
      diagnose(
          "LLVM ERROR: IO failure on output stream: No space left on device\nPLEASE submit a bug report\n",
          20)
          .no_room);
  EXPECT_FALSE(diagnose(many_errors(1), 20).no_room);
  EXPECT_EQ(diagnose("", 20).first, "");
}

}  // namespace
}  // namespace simtlab::compile
