#include "timing/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "device/policy_names.h"

namespace simtlab::timing {
namespace {

unsigned pick(std::string_view policy, const WarpScheduler& scheduler, WarpScheduler::Mask eligible) {
  const device::Device device;
  const SchedulerPolicy& entry = *find_named(scheduler_policies(), policy);
  return entry.make({device, policy})->select_warp(scheduler, eligible, 0);
}

TEST(WarpScheduler, AWarpIsNotReadyOneCycleBeforeItsTimeAndReadyOnIt) {
  for (const Cycle at : {1u, 5u, 63u, 64u, 65u, 200u, 100000u}) {
    WarpScheduler scheduler;
    scheduler.wake(3, at);
    scheduler.collect(at - 1);
    EXPECT_EQ(scheduler.ready, 0u) << at;
    EXPECT_EQ(scheduler.wake_ups.next().at, at);
    EXPECT_EQ(scheduler.wake_ups.next().warp, 3u);
    scheduler.collect(at);
    EXPECT_EQ(scheduler.ready, WarpScheduler::bit(3)) << at;
    EXPECT_EQ(scheduler.wake_ups.next().at, never);
  }
}

TEST(WarpScheduler, WakesEveryWarpOnItsCycleWhateverTheSteps) {
  std::mt19937_64 random(11);
  WarpScheduler scheduler;
  std::array<Cycle, 64> due{};
  WarpScheduler::Mask timed = 0;
  Cycle now = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto warp = static_cast<unsigned>(random() % 64);
    if (!(timed & WarpScheduler::bit(warp))) {
      due[warp] = now + 1 + (random() % 4 == 0 ? random() % 2000 : random() % 70);
      scheduler.ready &= ~WarpScheduler::bit(warp);
      scheduler.wake(warp, due[warp]);
      timed |= WarpScheduler::bit(warp);
    }
    if (random() % 8 != 0) continue;
    now = random() % 3 == 0 ? now + random() % 300 : scheduler.wake_ups.next().at;
    scheduler.collect(now);
    for (unsigned w = 0; w < 64; ++w) {
      if (!(timed & WarpScheduler::bit(w))) continue;
      ASSERT_EQ((scheduler.ready & WarpScheduler::bit(w)) != 0, due[w] <= now);
      if (due[w] <= now) timed &= ~WarpScheduler::bit(w);
    }
  }
}

TEST(SlotAccount, SlotsUpToNowGetTheReasonThatHeldAndAnIssueIsSelected) {
  SlotAccount account;
  SlotCounts slots{};
  account.set(Stall::long_scoreboard, slots);
  EXPECT_EQ(account.uncharged(10), 10u);
  account.charge(10);
  account.charge_issue(10, slots);
  account.set(Stall::wait, slots);
  account.charge(15);
  EXPECT_EQ(account.uncharged(15), 0u);
  EXPECT_EQ(account.charged_until(), 15u);
  EXPECT_EQ(slots[static_cast<std::size_t>(Stall::long_scoreboard)], 10u);
  EXPECT_EQ(slots[static_cast<std::size_t>(Stall::selected)], 1u);
  EXPECT_EQ(slots[static_cast<std::size_t>(Stall::wait)], 4u);
}

TEST(SlotAccount, SlotsOfTwoOwnersAreKeptApart) {
  SlotAccount account;
  SlotCounts first{}, second{};
  account.set(Stall::wait, first);
  account.charge(3);
  EXPECT_TRUE(account.belongs_to(first));
  account.set_owner(second);
  account.charge(10);
  EXPECT_EQ(first[static_cast<std::size_t>(Stall::wait)], 3u);
  EXPECT_EQ(second[static_cast<std::size_t>(Stall::wait)], 7u);
}

TEST(LooseRoundRobin, TakesTheNextWarpAfterTheLastAndWrapsAround) {
  WarpScheduler scheduler;
  scheduler.last = 5;
  EXPECT_EQ(pick("lrr", scheduler, 0b11100001), 6u);
  scheduler.last = 7;
  EXPECT_EQ(pick("lrr", scheduler, 0b11100001), 0u);
  scheduler.last = 63;
  EXPECT_EQ(pick("lrr", scheduler, WarpScheduler::bit(63)), 63u);
}

TEST(GreedyThenOldest, StaysWithItsWarpElseTakesTheOldest) {
  WarpScheduler scheduler;
  scheduler.age = {7, 3, 9, 1};
  scheduler.last = 2;
  EXPECT_EQ(pick("gto", scheduler, 0b0111), 2u);
  EXPECT_EQ(pick("gto", scheduler, 0b0011), 1u);
  EXPECT_EQ(pick("gto", scheduler, 0b1011), 3u);
}

TEST(Policies, OldestTakesTheOldestWhoeverIssuedLast) {
  WarpScheduler scheduler;
  for (unsigned w = 0; w < 64; ++w) scheduler.age[w] = 100 - w;
  scheduler.last = 3;
  EXPECT_EQ(pick("oldest", scheduler, WarpScheduler::bit(3) | WarpScheduler::bit(9) | WarpScheduler::bit(5)),
            9u);
}

TEST(Policies, TwoLevelTakesTurnsInAGroupAndLeavesItOnlyWhenNobodyInItCan) {
  WarpScheduler scheduler;
  const WarpScheduler::Mask all = ~WarpScheduler::Mask{0};
  std::string order;
  for (int i = 0; i < 10; ++i) {
    scheduler.last = static_cast<std::uint8_t>(pick("two_level", scheduler, all));
    order += std::to_string(scheduler.last);
  }
  EXPECT_EQ(order, "1234567012");
  EXPECT_EQ(pick("two_level", scheduler, all & ~WarpScheduler::Mask{0xff}), 8u);
  EXPECT_EQ(pick("two_level", scheduler, WarpScheduler::bit(40) | WarpScheduler::bit(20)), 20u);
  scheduler.last = 63;
  EXPECT_EQ(pick("two_level", scheduler, WarpScheduler::bit(2) | WarpScheduler::bit(57)), 57u);
  EXPECT_EQ(pick("two_level", scheduler, WarpScheduler::bit(2)), 2u);
}

TEST(Policies, EveryNameOfTheDeviceFileIsAFileAndHasASentence) {
  std::vector<std::string_view> names;
  for (const auto& [name, id] : device::names_of(static_cast<const device::Scheduler*>(nullptr))) {
    EXPECT_EQ(find_named(scheduler_policies(), name), &scheduler_policy(id));
    EXPECT_GT(scheduler_policy(id).doc.size(), 10u) << name;
    names.push_back(name);
  }
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(names.size(), scheduler_policies().size());
  for (const device::Scheduler known : {device::Scheduler::lrr, device::Scheduler::gto,
                                        device::Scheduler::oldest, device::Scheduler::two_level})
    EXPECT_NE(scheduler_policy(known).make({device::Device{}, device::name_of(known)}), nullptr);
}

}  // namespace
}  // namespace simtlab::timing
