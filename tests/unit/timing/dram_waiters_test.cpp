#include "timing/dram_waiters.h"

#include <gtest/gtest.h>

namespace simtlab::timing {
namespace {

std::vector<std::uint32_t> asked(DramWaiters& waiters, std::uint32_t partition) {
  std::vector<std::uint32_t> out;
  waiters.retry_all(partition, [&](std::uint32_t slice) { out.push_back(slice); });
  return out;
}
using Slices = std::vector<std::uint32_t>;

TEST(DramWaiters, SlicesAreAskedInTurnBeginningAfterTheOneThatWasFirst) {
  DramWaiters waiters(100, 2);
  for (const std::uint32_t slice : {3u, 70u, 99u}) waiters.add(1, slice);
  EXPECT_EQ(asked(waiters, 0), Slices{}) << "of the other partition";
  EXPECT_EQ(asked(waiters, 1), (Slices{3, 70, 99}));
  EXPECT_EQ(asked(waiters, 1), Slices{}) << "nobody waits any more";
  for (const std::uint32_t slice : {3u, 70u, 99u}) waiters.add(1, slice);
  EXPECT_EQ(asked(waiters, 1), (Slices{70, 99, 3}));
  for (const std::uint32_t slice : {3u, 99u}) waiters.add(1, slice);
  EXPECT_EQ(asked(waiters, 1), (Slices{99, 3}));
  for (const std::uint32_t slice : {0u, 99u}) waiters.add(1, slice);
  EXPECT_EQ(asked(waiters, 1), (Slices{0, 99})) << "after the last slice comes the first";
}

TEST(DramWaiters, ASliceThatFindsNoRoomAgainIsAskedNextTime) {
  DramWaiters waiters(8, 1);
  for (const std::uint32_t slice : {2u, 5u}) waiters.add(0, slice);
  Slices seen;
  waiters.retry_all(0, [&](std::uint32_t slice) {
    seen.push_back(slice);
    waiters.add(0, slice);
  });
  EXPECT_EQ(seen, (Slices{2, 5}));
  EXPECT_EQ(asked(waiters, 0), (Slices{5, 2}));
}

TEST(DramWaiters, ClearForgetsWhoWaitsAndWhoseTurnItIs) {
  DramWaiters waiters(8, 1);
  waiters.add(0, 5);
  asked(waiters, 0);
  waiters.add(0, 2);
  waiters.clear();
  EXPECT_EQ(asked(waiters, 0), Slices{});
  for (const std::uint32_t slice : {2u, 7u}) waiters.add(0, slice);
  EXPECT_EQ(asked(waiters, 0), (Slices{2, 7}));
}

}  // namespace
}  // namespace simtlab::timing
