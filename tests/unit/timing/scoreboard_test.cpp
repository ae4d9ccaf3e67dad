// The scoreboard alone, on the instructions of a small function.
#include "timing/scoreboard.h"

#include <gtest/gtest.h>

#include "unit_bench.h"

namespace simtlab::timing {
namespace {

// r1 = r2 + r3; r4 = r1 + r2
constexpr const char* adds = R"(.visible .entry k() {
  .reg .b32 %r<5>;
  add.s32 %r1, %r2, %r3;
  add.s32 %r4, %r1, %r2;
  ret;
})";

struct ScoreboardTest : testing::Test {
  UnitBench bench{adds};
  const Program& program = bench.program();
  Scoreboard board;
  void SetUp() override {
    board.begin(4);
    board.widen(bench.slots());
    board.clear(0, 4);
  }
};

TEST_F(ScoreboardTest, TheLatestOperandDecidesWhenAndWhy) {
  EXPECT_EQ(board.latest(1, program, program[1], entry(5, Stall::dispatch)), entry(5, Stall::dispatch));
  board.set_destinations(1, program, program[0], entry(12, Stall::wait));
  EXPECT_EQ(board.latest(1, program, program[1], entry(5, Stall::dispatch)), entry(12, Stall::wait));
  EXPECT_EQ(board.latest(1, program, program[1], entry(20, Stall::dispatch)), entry(20, Stall::dispatch));
  EXPECT_EQ(board.latest(2, program, program[1], entry(5, Stall::dispatch)), entry(5, Stall::dispatch))
      << "of another warp";
}

TEST_F(ScoreboardTest, ARegisterUnderWayHasNoCycle) {
  board.set_destinations(0, program, program[0], open_entry(Stall::long_scoreboard));
  const std::uint64_t latest = board.latest(0, program, program[1], entry(1000000, Stall::dispatch));
  EXPECT_EQ(cycle_of(latest), no_cycle);
  EXPECT_EQ(reason_of(latest), Stall::long_scoreboard);
}

TEST_F(ScoreboardTest, EntriesStayWhenAWiderLaunchComesAndGoWhenAWarpBegins) {
  board.set_destinations(3, program, program[0], entry(9, Stall::wait));
  board.widen(bench.slots() + 7);
  board.widen(1);  // never narrower
  EXPECT_EQ(cycle_of(board.latest(3, program, program[1], 0)), 9u);
  board.clear(2, 2);
  EXPECT_EQ(cycle_of(board.latest(3, program, program[1], 0)), 0u);
}

TEST_F(ScoreboardTest, AFoldedInstructionIsReadyWithItsOperands) {
  board.set_destinations(0, program, program[0], entry(30, Stall::wait));
  const auto folded = board.fold(0, program, program[1], false);
  ASSERT_TRUE(folded);
  EXPECT_EQ(*folded, entry(30, Stall::wait));
}

TEST_F(ScoreboardTest, AFoldedInstructionWaitsForALoadAndIsResolvedWhenItCame) {
  board.set_destinations(0, program, program[0], open_entry(Stall::long_scoreboard));
  const auto folded = board.fold(0, program, program[1], false);
  ASSERT_TRUE(folded);
  EXPECT_EQ(cycle_of(*folded), no_cycle);
  board.set_destinations(0, program, program[1], *folded);
  board.resolve_folded(0);
  EXPECT_EQ(cycle_of(board.latest(0, program, program[1], 0)), no_cycle) << "the load has not come";
  board.set_destinations(0, program, program[0], entry(77, Stall::long_scoreboard));
  board.resolve_folded(0);
  EXPECT_EQ(board.latest(0, program, program[1], 0), entry(77, Stall::long_scoreboard));
}

TEST_F(ScoreboardTest, OnlyFourInstructionsOfAWarpMayWaitFolded) {
  board.set_destinations(0, program, program[0], open_entry(Stall::long_scoreboard));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(board.fold(0, program, program[1], false));
  EXPECT_FALSE(board.fold(0, program, program[1], false));
  EXPECT_TRUE(board.fold(1, program, program[1], false)) << "of another warp";
  board.clear(0, 1);
  board.set_destinations(0, program, program[0], open_entry(Stall::long_scoreboard));
  EXPECT_TRUE(board.fold(0, program, program[1], false)) << "of the next block's warp";
}

TEST_F(ScoreboardTest, NothingIsFoldedOnTheAnswerOfAnAtomic) {
  board.set_destinations(0, program, program[0], open_entry(Stall::long_scoreboard));
  EXPECT_FALSE(board.fold(0, program, program[1], true));
  board.set_destinations(0, program, program[0], entry(8, Stall::long_scoreboard));
  EXPECT_TRUE(board.fold(0, program, program[1], true));
}

// Three loads and a DEPBAR.LE that lets one be under way.
TEST(CounterHolders, TheFirstOnesLetGoFirst) {
  CounterHolders holders;
  holders.begin(2);
  EXPECT_EQ(holders.all_but(0, 0), 0u);
  constexpr std::uint64_t open = open_entry(Stall::long_scoreboard);
  const int first = 0, second = 0, third = 0;
  for (const int* load : {&first, &second, &third}) holders.hold(0, load, open, true);
  holders.let_go(0, &first, entry(50, Stall::long_scoreboard));
  holders.let_go(0, &third, entry(40, Stall::long_scoreboard));
  EXPECT_EQ(holders.all_but(0, 1), open) << "the second is under way";
  EXPECT_EQ(holders.all_but(0, 2), entry(50, Stall::long_scoreboard));
  EXPECT_EQ(holders.all_but(0, 3), 0u);
  holders.let_go(0, &second, entry(90, Stall::long_scoreboard));
  EXPECT_EQ(holders.all_but(0, 1), entry(90, Stall::long_scoreboard));
  EXPECT_EQ(holders.all_but(0, 0), entry(90, Stall::long_scoreboard));
  EXPECT_EQ(holders.all_but(1, 0), 0u) << "another counter";
  holders.clear(0, 1);
  EXPECT_EQ(holders.all_but(0, 0), 0u);
}

TEST(CounterHolders, TheSameLoadMayHoldItAgain) {
  CounterHolders holders;
  holders.begin(1);
  const int load = 0;
  for (std::uint64_t k = 0; k < 100; ++k) {
    holders.hold(0, &load, open_entry(Stall::long_scoreboard), true);
    holders.let_go(0, &load, entry(k, Stall::long_scoreboard));
  }
  EXPECT_EQ(holders.all_but(0, 1), entry(98, Stall::long_scoreboard));
}

}  // namespace
}  // namespace simtlab::timing
