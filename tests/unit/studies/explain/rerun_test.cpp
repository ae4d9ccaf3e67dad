#include "studies/explain/rerun.h"

#include <gtest/gtest.h>

#include "studies/common/studies.h"

namespace simtlab::studies {
namespace {

using Words = std::vector<std::string>;

struct RerunTest : testing::Test {
  RerunTest() {
    add_run(tool);
    tool.add_subcommand("corun", "")
        ->add_subcommand("interfere", "")
        ->add_option("--json", json)
        ->check(output_file());
  }
  Command tool{"simtlab", ""};
  std::string json;
};

TEST_F(RerunTest, OutputsOfTheFirstRunAreLeftOut) {
  EXPECT_EQ(repeatable_arguments(
                tool, {"simtlab", "run", "k.cu", "-o", "report", "--json=r.json", "--lines", "--timeline",
                       "t", "--gpu", "v100", "-q", "--what-if=perfect-l1", "-ofile", "--series=10", "-DN=3"}),
            (Words{"run", "k.cu", "--gpu", "v100", "-DN=3"}));
}

TEST_F(RerunTest, WhatBelongsToTheProgramStays) {
  EXPECT_EQ(repeatable_arguments(tool, {"simtlab", "run", "--json", "--", "./app", "-o", "x", "--json"}),
            (Words{"run", "--", "./app", "-o", "x", "--json"}));
}

TEST_F(RerunTest, LiveCommandsAreNotRepeated) {
  for (const char* live : {"exec", "serve", "top"})
    EXPECT_TRUE(same_arguments(tool, {"simtlab", "corun", live, "--", "./app"}).empty()) << live;
  EXPECT_EQ(same_arguments(tool, {"simtlab", "corun", "interfere", "HW", "--json=x"}),
            (Words{"corun", "interfere", "HW"}));
}

TEST_F(RerunTest, OtherCommandsAreNotRepeated) {
  EXPECT_TRUE(repeatable_arguments(tool, {"simtlab", "dram", "t"}).empty());
  EXPECT_TRUE(repeatable_arguments(tool, {}).empty());
}

}  // namespace
}  // namespace simtlab::studies
