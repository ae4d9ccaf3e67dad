// The names of the device layer and the texts of reports, which don't know that layer.
#include "report/because.h"

#include <gtest/gtest.h>

#include <map>

#include "device/what_if.h"

namespace simtlab::studies {
namespace {

TEST(Because, EveryLimitHasASentenceOfItsOwn) {
  result::Metrics nothing, something;
  for (const char* share :
       {"stall.no_instruction", "stall.lg_throttle", "stall.drain", "stall.long_scoreboard",
        "stall.math_pipe_throttle", "l1.utilisation", "sol.compute", "gpu.overlap"})
    something.set(share, 0.1);
  for (const result::Metrics& metrics : {nothing, something}) {
    std::map<std::string, std::string> limits;  // by their sentence
    for (const device::WhatIfName& w : device::what_ifs()) {
      const std::string text = report::because(metrics, w.name);
      EXPECT_FALSE(text.empty()) << w.name << " lacks a row in src/report/because.cpp";
      const auto [other, is_new] = limits.emplace(text, w.name);
      EXPECT_TRUE(is_new) << w.name << " has the sentence of " << other->second << ": " << text;
      EXPECT_EQ(text.find("nan"), std::string::npos) << text;
      EXPECT_EQ(text.find("launching") != std::string::npos, w.name == "zero-launch-cost") << text;
    }
  }
  EXPECT_EQ(report::because(nothing, "perfect-l2"), "");
}

}  // namespace
}  // namespace simtlab::studies
