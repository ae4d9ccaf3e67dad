#include "compile/limited.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"

namespace simtlab::compile {
namespace {

LimitedResult shell(const std::string& command, double seconds = 20) {
  return run_limited({{"/bin/sh", "-c", command}, "/", {{"SIMTLAB_TEST_WORD", "seven"}}, seconds, 0});
}

TEST(RunLimited, StatusErrorsFolderAndEnvironment) {
  const LimitedResult r = shell("pwd >&2; echo $SIMTLAB_TEST_WORD >&2; echo lost; read x || exit 3");
  EXPECT_EQ(r.status, 3);
  EXPECT_FALSE(r.timed_out);
  EXPECT_EQ(r.errors, "/\nseven\n");
}

TEST(RunLimited, KillsWhatDoesNotEndWithAllThatItStarted) {
  const auto begin = std::chrono::steady_clock::now();
  const LimitedResult r = shell("sleep 50 & sleep 50", 0.2);
  EXPECT_TRUE(r.timed_out);
  EXPECT_EQ(r.status, 128 + 9);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(RunLimited, ASignalIsAStatusAndOnlyTheEndOfErrorsIsKept) {
  EXPECT_EQ(shell("kill -SEGV $$").status, 128 + 11);
  const LimitedResult r = shell("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done");
  EXPECT_LE(r.errors.size(), 2000u);
  EXPECT_TRUE(r.errors.ends_with("line 1999\n"));
}

TEST(RunLimited, WhatIsNoProgramIsSaid) {
  EXPECT_THROW(run_limited({{"/nowhere/at/all"}, "/", {}, 1, 0}), Error);
  EXPECT_THROW(run_limited({{"/bin/true"}, "/nowhere/at/all", {}, 1, 0}), Error);
}

TEST(SplitWords, AsAShellDoes) {
  EXPECT_EQ(split_words("a  'b c' \"d 'e\" f\\ g ''"),
            (std::vector<std::string>{"a", "b c", "d 'e", "f g", ""}));
  EXPECT_TRUE(split_words("  ").empty());
  EXPECT_THROW(split_words("'open"), Error);
}

}  // namespace
}  // namespace simtlab::compile
