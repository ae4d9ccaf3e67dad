// The issue stage alone: its instructions do nothing, and its warps wake up when the test says so.
#include "timing/issue_stage.h"

#include <gtest/gtest.h>

#include <functional>

#include "unit_bench.h"

namespace simtlab::timing {
namespace {

constexpr const char* body = ".visible .entry k() { .reg .b32 %r<3>; add.s32 %r1, %r1, %r2; ret; }";

struct Issuer final : InstructionIssuer {
  bool issue(WarpScheduler& scheduler, unsigned warp, Cycle now) override {
    issued.emplace_back(now, warp);
    scheduler.ready &= ~warp_bit(warp);
    scheduler.last = static_cast<std::uint8_t>(warp);
    return true;
  }
  std::vector<std::pair<Cycle, unsigned>> issued;
};

// Lets warps go that are in `allowed`, and writes down what it hears.
struct Picky final : WarpPolicy {
  unsigned select_warp(const WarpScheduler&, WarpMask eligible, Cycle) override {
    ++asked;
    const WarpMask warps = eligible & allowed;
    return warps == 0 ? nobody : static_cast<unsigned>(std::countr_zero(warps));
  }
  Cycle ask_again(Cycle) const override { return again; }
  void begin() override {
    allowed = ~WarpMask{0};
    again = never;
    heard.clear();
    asked = 0;
  }
  void issued(unsigned warp, Cycle now) override {
    heard += "issued " + std::to_string(warp) + "@" + std::to_string(now) + " ";
  }
  void load_missed(unsigned warp, std::uint64_t line, std::uint8_t, Cycle) override {
    heard += "missed " + std::to_string(warp) + ":" + std::to_string(line) + " ";
  }
  void data_returned(unsigned warp, Cycle) override { heard += "returned " + std::to_string(warp) + " "; }
  void block_started(WarpMask warps, Cycle) override { heard += "started " + std::to_string(warps) + " "; }
  void block_ended(WarpMask warps, Cycle) override { heard += "ended " + std::to_string(warps) + " "; }

  inline static WarpMask allowed = 0;
  inline static Cycle again = never;
  inline static std::string heard;
  inline static unsigned asked = 0;
};

struct IssueStageTest : testing::Test {
  IssueStageTest() : bench(body, 8) {
    stage.begin();
    for (WarpScheduler& scheduler : schedulers) scheduler.resident = 3;
  }
  WarpScheduler& first() { return schedulers[0]; }
  void run(Cycle end) {
    for (Cycle now = stage.next_try(); now < end; now = stage.next_try()) stage.run(now);
  }
  std::uint64_t slots(Stall stall) { return bench.tenant.counters.slots[static_cast<std::size_t>(stall)]; }

  UnitBench bench;
  SchedulerPolicy policy = policy_entry<Picky>("for tests");
  Issuer issuer;
  UnitPorts ports{bench.simulator.device};
  LaunchAccounts accounts;
  std::vector<WarpScheduler> schedulers{bench.simulator.device.sm.schedulers};
  WarpPolicies policies{policy, bench.simulator.device, schedulers};
  IssueStage stage{bench.sm, {bench.warps, schedulers, ports, accounts, policies, issuer}};
};

TEST_F(IssueStageTest, AWarpIssuesInTheCycleInWhichItIsReady) {
  first().wake(1, 25);
  first().wake(0, 40);
  run(100);
  EXPECT_EQ(issuer.issued, (std::vector<std::pair<Cycle, unsigned>>{{25, 1}, {40, 0}}));
  EXPECT_EQ(stage.next_try(), never);
}

TEST_F(IssueStageTest, TwoReadyWarpsIssueOneAfterTheOther) {
  first().wake(0, 7);
  first().wake(1, 7);
  run(100);
  EXPECT_EQ(issuer.issued, (std::vector<std::pair<Cycle, unsigned>>{{7, 0}, {8, 1}}));
}

TEST_F(IssueStageTest, ABusyPipelineHoldsAWarpUpUntilItIsFree) {
  first().next_pipe[static_cast<std::size_t>(Pipe::fp64)] = warp_bit(0);
  first().pipe_free[static_cast<std::size_t>(Pipe::fp64)] = Cycle{30} << memory::fixed_bits;
  first().busy_pipes = 1u << static_cast<unsigned>(Pipe::fp64);
  first().wake(0, 7);
  run(100);
  EXPECT_EQ(issuer.issued, (std::vector<std::pair<Cycle, unsigned>>{{30, 0}}));
}

TEST_F(IssueStageTest, APolicyThatLetsNobodyGoIsAskedAgainWhenItSaysSo) {
  Picky::allowed = 0;
  Picky::again = 50;
  first().wake(0, 10);
  run(50);
  EXPECT_TRUE(first().held_back);
  EXPECT_EQ(first().slots.reason(), Stall::dispatch);
  EXPECT_EQ(Picky::asked, 1u);
  EXPECT_EQ(stage.next_try(), 50u);
  Picky::allowed = 1;
  run(60);
  EXPECT_EQ(issuer.issued, (std::vector<std::pair<Cycle, unsigned>>{{50, 0}}));
  EXPECT_FALSE(first().held_back);
}

TEST_F(IssueStageTest, APolicyThatLetsNobodyGoIsAskedAgainAfterAnEvent) {
  Picky::allowed = 0;
  first().wake(0, 10);
  run(100);
  EXPECT_EQ(stage.next_try(), never);
  policies.data_returned(bench.warps[1], 100);  // of another scheduler
  EXPECT_EQ(stage.next_try(), never);
  Picky::allowed = 1;
  policies.data_returned(bench.warps[0], 100);
  run(200);
  EXPECT_EQ(issuer.issued, (std::vector<std::pair<Cycle, unsigned>>{{101, 0}}));
}

TEST_F(IssueStageTest, PoliciesHearOfTheirOwnWarpsOnly) {
  first().wake(1, 5);
  run(100);
  policies.load_missed(bench.warps[4], 77, 15, 9);  // the second warp of the first scheduler
  policies.block_started(bench.warps, 0, 5,
                         10);  // warps 0 and 1 of the first scheduler, warp 0 of the others
  policies.block_ended(bench.warps, 4, 1, 11);
  EXPECT_EQ(Picky::heard, "issued 1@5 missed 1:77 started 3 started 1 started 1 started 1 ended 2 ");
}

TEST(PolicyEvents, APolicyListensToWhatItOverrides) {
  struct Deaf : WarpPolicy {
    unsigned select_warp(const WarpScheduler&, WarpMask, Cycle) override { return 0; }
  };
  struct Curious : Deaf {
    void data_returned(unsigned, Cycle) override {}
  };
  constexpr PolicyEvents none = PolicyEvents::of<Deaf>();
  EXPECT_FALSE(none.issued || none.load_missed || none.data_returned || none.block_started ||
               none.block_ended);
  constexpr PolicyEvents one = PolicyEvents::of<Curious>();
  EXPECT_TRUE(one.data_returned);
  EXPECT_FALSE(one.issued || one.load_missed || one.block_started || one.block_ended);
  constexpr PolicyEvents all = PolicyEvents::of<Picky>();
  EXPECT_TRUE(all.issued && all.load_missed && all.data_returned && all.block_started && all.block_ended);
}

}  // namespace
}  // namespace simtlab::timing
