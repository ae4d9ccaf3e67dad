#include "cli/rerun.h"

#include <gtest/gtest.h>

namespace simtlab::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Rerun, OutputsOfTheFirstRunAreLeftOut) {
  EXPECT_EQ(repeatable_arguments({"simtlab", "run", "k.cu", "-o", "report", "--json=r.json", "--lines",
                                  "--timeline", "t", "--gpu", "v100", "-q", "--what-if=perfect-l1", "-ofile",
                                  "--series=10", "-DN=3"}),
            (Words{"run", "k.cu", "--gpu", "v100", "-DN=3"}));
}

TEST(Rerun, WhatBelongsToTheProgramStays) {
  EXPECT_EQ(repeatable_arguments({"simtlab", "run", "--json", "--", "./app", "-o", "x", "--json"}),
            (Words{"run", "--", "./app", "-o", "x", "--json"}));
}

TEST(Rerun, LiveCommandsAreNotRepeated) {
  for (const char* live : {"exec", "serve", "top"})
    EXPECT_TRUE(same_arguments({"simtlab", "corun", live, "--", "./app"}).empty()) << live;
  EXPECT_EQ(same_arguments({"simtlab", "corun", "interfere", "HW", "--json=x"}),
            (Words{"corun", "interfere", "HW"}));
}

TEST(Rerun, OtherCommandsAreNotRepeated) {
  EXPECT_TRUE(repeatable_arguments({"simtlab", "dram", "t"}).empty());
  EXPECT_TRUE(repeatable_arguments({}).empty());
}

}  // namespace
}  // namespace simtlab::cli
