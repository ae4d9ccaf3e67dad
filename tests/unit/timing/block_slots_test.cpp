// Places of blocks, without anything that runs in them.
#include "timing/block_slots.h"

#include <gtest/gtest.h>

#include "unit_bench.h"

namespace simtlab::timing {
namespace {

struct BlockSlotsTest : testing::Test {
  UnitBench bench{".visible .entry k() { ret; }", 24};  // two blocks of 24 warps fit an SM of 64
  BlockSlots blocks{bench.simulator.device};
  void SetUp() override {
    bench.context.blocks_per_sm = bench.context.occupancy.blocks_per_sm;
    blocks.begin();
    blocks.set_warps(bench.simulator.device.sm.max_warps);
    blocks.divide_storage(bench.context);
  }
  bool room() const { return blocks.has_room(bench.context, &bench.tenant); }
};

TEST_F(BlockSlotsTest, TakesAsManyBlocksAsTheOccupancySays) {
  ASSERT_EQ(bench.context.occupancy.blocks_per_sm, 2u);
  EXPECT_TRUE(blocks.empty());
  blocks.reserve(bench.tenant, 0, 10);
  EXPECT_FALSE(blocks.empty());
  EXPECT_TRUE(room());
  blocks.reserve(bench.tenant, 1, 20);
  EXPECT_FALSE(room());
}

TEST_F(BlockSlotsTest, BlocksStartInTheirOrderAndGetConsecutiveWarps) {
  blocks.reserve(bench.tenant, 7, 10);
  blocks.reserve(bench.tenant, 8, 20);
  EXPECT_EQ(blocks.next_start(), 10u);
  const std::uint32_t first = blocks.pop_start();
  EXPECT_EQ(blocks.next_start(), 20u);
  const std::uint32_t second = blocks.pop_start();
  EXPECT_EQ(blocks.next_start(), never);
  EXPECT_EQ(blocks[first].number, 7u);
  EXPECT_EQ(blocks[second].number, 8u);
  EXPECT_EQ(blocks[first].first_warp, 0u);
  EXPECT_EQ(blocks[second].first_warp, 24u);
}

TEST_F(BlockSlotsTest, TheEndOfABlockMakesRoomForTheNext) {
  for (std::uint64_t block = 0; block < 2; ++block) {
    blocks.reserve(bench.tenant, block, 0);
    blocks.start(blocks.pop_start(), 0);
  }
  EXPECT_EQ(bench.tenant.resident_warps, 48u);
  EXPECT_EQ(bench.tenant.counters.blocks, 2u);
  blocks.begin_quantum();
  EXPECT_EQ(blocks.freed_at(70), 70u) << "no place became free";
  blocks.end(0, 60);
  EXPECT_EQ(blocks.freed_at(70), 60u);
  EXPECT_EQ(bench.tenant.ended, 1u);
  EXPECT_TRUE(room());
  blocks.reserve(bench.tenant, 2, 0);
  const std::uint32_t slot = blocks.pop_start();
  EXPECT_EQ(slot, 0u);
  EXPECT_EQ(blocks[slot].first_warp, 0u);
  EXPECT_FALSE(room());
}

TEST_F(BlockSlotsTest, BesideAnotherLaunchABlockNeedsAGapOfItsSize) {
  // 16 free warps lie behind the two blocks; a block of 24 of another launch finds no room, one of 16 does.
  blocks.reserve(bench.tenant, 0, 0);
  blocks.reserve(bench.tenant, 1, 0);
  LaunchContext other;
  other.blocks_per_sm = 2;
  other.warps_per_block = 24;
  other.occupancy = bench.context.occupancy;
  EXPECT_FALSE(blocks.has_room(other, nullptr));
  other.warps_per_block = 16;
  other.occupancy = device::occupancy(bench.simulator.device, 16 * 32, 16, 0);
  EXPECT_TRUE(blocks.has_room(other, nullptr));
}

TEST_F(BlockSlotsTest, ALaunchThatMayHaveNoBlockHereFindsNoRoom) {
  bench.context.blocks_per_sm = 0;
  EXPECT_FALSE(room());
}

}  // namespace
}  // namespace simtlab::timing
