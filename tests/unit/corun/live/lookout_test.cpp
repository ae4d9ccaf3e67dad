// When it pays to look before sleeping, and when it is given up.
#include "corun/live/lookout.h"

#include <gtest/gtest.h>

namespace simtlab::corun::live {
namespace {

std::uint64_t lookout_now = 0;
std::uint64_t lookout_clock() { return lookout_now; }

// A wait for something that comes after `after_ns`; each try takes `step_ns`. What it found, and how often it
// tried.
struct Wait {
  bool found = false;
  int tries = 0;
};
Wait wait_for(Lookout& lookout, std::uint64_t after_ns, std::uint64_t step_ns = 500) {
  Wait out;
  const std::uint64_t at = lookout_now + after_ns;
  out.found = lookout.look(
      [&] {
        ++out.tries;
        const bool there = lookout_now >= at;
        lookout_now += step_ns;
        return there;
      },
      lookout_clock);
  return out;
}

TEST(Lookout, FindsWhatComesSoonEachTime) {
  Lookout lookout;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(wait_for(lookout, 5000).found);
}

TEST(Lookout, LooksForFiftyMicroseconds) {
  Lookout lookout;
  const std::uint64_t begin = lookout_now;
  EXPECT_FALSE(wait_for(lookout, 1'000'000).found);
  EXPECT_NEAR(static_cast<double>(lookout_now - begin), Lookout::longest_ns, 1500);
}

TEST(Lookout, LooksEverMoreRarelyWhereNothingComes) {
  Lookout lookout;
  int looks = 0;
  for (int i = 0; i < 10'000; ++i) looks += wait_for(lookout, 1'000'000).tries != 0;
  // 1, 2, 4, ... 512 of them pass after each, then always 512
  EXPECT_EQ(looks, 10 + (10'000 - 1023) / 513 + 1);
}

TEST(Lookout, OneFindMakesUpForAllMisses) {
  Lookout lookout;
  for (int i = 0; i < 5000; ++i) wait_for(lookout, 1'000'000);
  while (wait_for(lookout, 5000).tries == 0) {}
  EXPECT_TRUE(wait_for(lookout, 5000).found);
}

// Its processor was somebody else's for 20 us, who may have been the one to prepare it: that was no gain.
TEST(Lookout, AFindAfterTheProcessorWasAwayIsAMiss) {
  Lookout lookout;
  EXPECT_TRUE(wait_for(lookout, 20'000, 20'000).found);
  EXPECT_EQ(wait_for(lookout, 5000).tries, 0);
}

TEST(Lookout, WhatIsThereAtOnceSaysNothing) {
  Lookout lookout;
  wait_for(lookout, 1'000'000);
  wait_for(lookout, 5000);  // passed
  EXPECT_EQ(wait_for(lookout, 0).tries, 1);
  wait_for(lookout, 1'000'000);
  EXPECT_EQ(wait_for(lookout, 5000).tries, 0);
  EXPECT_EQ(wait_for(lookout, 5000).tries, 0);  // the second miss: two pass
  EXPECT_TRUE(wait_for(lookout, 5000).found);
}

}  // namespace
}  // namespace simtlab::corun::live
