// The sequencer alone: a block starts, its warps wait and end, and nothing issues.
#include "timing/sequencer.h"

#include <gtest/gtest.h>

#include "unit_bench.h"

namespace simtlab::timing {
namespace {

// A load and an instruction that needs its data.
constexpr const char* load_and_add = R"(.visible .entry k() {
  .reg .b64 %rd<2>; .reg .b32 %r<4>;
  ld.global.u32 %r1, [%rd1];
  add.s32 %r2, %r1, %r3;
  ret;
})";

struct SequencerTest : testing::Test {
  SequencerTest() {
    bench.context.blocks_per_sm = 1;
    blocks.begin();
    blocks.set_warps(bench.simulator.device.sm.max_warps);
    blocks.divide_storage(bench.context);
    bench.warps.resize(bench.simulator.device.sm.max_warps);
    sequencer.begin();
    board.begin(static_cast<std::uint32_t>(bench.warps.size()));
    board.widen(bench.slots());
    blocks.reserve(bench.tenant, 0, 5);
    sequencer.start_block(blocks.pop_start(), 5);
  }
  WarpScheduler& scheduler_of(std::uint32_t warp) { return schedulers[bench.warps[warp].scheduler]; }

  UnitBench bench{load_and_add};
  BlockSlots blocks{bench.simulator.device};
  Scoreboard board;
  FrontEnd front_end{bench.simulator.device};
  std::vector<WarpScheduler> schedulers{bench.simulator.device.sm.schedulers};
  WarpPolicies policies{bench.config.policy, bench.simulator.device, schedulers};
  Sequencer sequencer{bench.sm, {bench.warps, schedulers, board, blocks, front_end, policies}};
};

TEST_F(SequencerTest, TheWarpsOfABlockAreReadyWhenItStarts) {
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    EXPECT_EQ(bench.warps[warp].state, WarpState::running);
    EXPECT_EQ(scheduler_of(warp).resident, 1u) << "one warp for each of four schedulers";
    EXPECT_EQ(scheduler_of(warp).next_try, 5u);
    scheduler_of(warp).collect(5);
    EXPECT_EQ(scheduler_of(warp).ready, 1u);
    EXPECT_EQ(scheduler_of(warp).age[0], warp);
  }
  EXPECT_EQ(bench.tenant.resident_warps, 4u);
}

TEST_F(SequencerTest, AWarpWhoseOperandHasACycleWakesUpThen) {
  board.set_destinations(0, bench.program(), bench.program()[1], entry(40, Stall::wait));
  board.set_destinations(0, bench.program(), bench.program()[0], entry(60, Stall::short_scoreboard));
  sequencer.advance(0, 30,
                    Stall::dispatch);  // the block has executed nothing: still the load, which writes r1
  EXPECT_EQ(bench.warps[0].state, WarpState::running);
  EXPECT_EQ(scheduler_of(0).why[0], Stall::short_scoreboard);
  scheduler_of(0).collect(5);
  scheduler_of(0).ready = 0;
  EXPECT_EQ(scheduler_of(0).wake_ups.next().at, 60u);
}

TEST_F(SequencerTest, AWarpWhoseOperandIsUnderWayWaitsForTheLoad) {
  board.set_destinations(0, bench.program(), bench.program()[0], open_entry(Stall::long_scoreboard));
  sequencer.advance(0, 30, Stall::dispatch);
  EXPECT_EQ(bench.warps[0].state, WarpState::on_register);
  EXPECT_EQ(scheduler_of(0).waiting, 1u);
  sequencer.load_done({.info = &bench.program()[0], .program = &bench.program(), .warp = 0}, 200);
  EXPECT_EQ(bench.warps[0].state, WarpState::running);
  EXPECT_EQ(scheduler_of(0).waiting, 0u);
  EXPECT_EQ(scheduler_of(0).why[0], Stall::long_scoreboard);
}

TEST_F(SequencerTest, AWarpThatExitsEndsWhenItsLoadsAreThroughAndItsStoresHaveLeft) {
  bench.warps[1].loads = bench.warps[1].held_stores = 1;
  bench.warps[1].stores = 2;
  sequencer.exit(1, 100);
  EXPECT_EQ(bench.warps[1].state, WarpState::drain);
  bench.warps[1].loads = 0;
  sequencer.load_done({.info = &bench.program()[0], .program = &bench.program(), .warp = 1}, 150);
  EXPECT_EQ(bench.warps[1].state, WarpState::drain) << "its store waits in the SM";
  bench.warps[1].held_stores = 0;
  sequencer.stores_left(1, 180);
  EXPECT_EQ(bench.warps[1].state, WarpState::empty);
  EXPECT_EQ(scheduler_of(1).resident, 0u);
  EXPECT_EQ(bench.tenant.finished_at, 180u);
}

TEST_F(SequencerTest, AWarpThatExitsEndsWhenItsStoresHaveLeft) {
  EXPECT_EQ(sequencer.next_drained(), never);
  bench.warps[1].stores_at = 180;
  bench.warps[2].stores_at = 160;
  sequencer.exit(1, 100);
  sequencer.exit(2, 110);
  EXPECT_EQ(bench.warps[1].state, WarpState::drain);
  EXPECT_EQ(sequencer.next_drained(), 160u);
  sequencer.end_drained(160);
  EXPECT_EQ(bench.warps[1].state, WarpState::drain);
  EXPECT_EQ(bench.warps[2].state, WarpState::empty);
  EXPECT_EQ(sequencer.next_drained(), 180u);
  sequencer.end_drained(180);
  EXPECT_EQ(bench.warps[1].state, WarpState::empty);
  EXPECT_EQ(bench.tenant.finished_at, 180u);
}

TEST_F(SequencerTest, ALaterWarpOfTheSameNumberHasALifeOfItsOwn) {
  const std::uint32_t life = bench.warps[0].life;
  for (std::uint32_t warp = 0; warp < 4; ++warp) sequencer.exit(warp, 100);
  blocks.reserve(bench.tenant, 1, 200);
  sequencer.start_block(blocks.pop_start(), 200);
  EXPECT_NE(bench.warps[0].life, life);
  const auto [number, of] = StoreTag::from(StoreTag::of(1234, life));
  EXPECT_EQ(number, 1234u);
  EXPECT_EQ(of, life);
}

TEST_F(SequencerTest, TheLastWarpOfABlockFreesItsPlace) {
  for (std::uint32_t warp = 0; warp < 4; ++warp) {
    EXPECT_FALSE(blocks.empty());
    sequencer.exit(warp, 100 + warp);
  }
  EXPECT_TRUE(blocks.empty());
  EXPECT_EQ(bench.tenant.ended, 1u);
  EXPECT_EQ(bench.tenant.finished_at, 104u);
  EXPECT_EQ(bench.tenant.counters.warp_cycles, 96u + 97 + 98 + 99);
}

TEST_F(SequencerTest, AFenceEndsWhenTheStoresAreAcknowledged) {
  bench.warps[2].floor = 70;
  sequencer.wait_for_event(2, WarpState::on_stores, Stall::membar);
  EXPECT_EQ(scheduler_of(2).waiting, 1u);
  EXPECT_EQ(scheduler_of(2).why[0], Stall::membar);
  sequencer.stores_done(2, 65);
  EXPECT_EQ(scheduler_of(2).waiting, 0u);
  EXPECT_EQ(bench.warps[2].floor, 70u);
}

}  // namespace
}  // namespace simtlab::timing
