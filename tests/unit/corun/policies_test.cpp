// Each policy on a few launches whose order can be told by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "corun/scheduler.h"

namespace simtlab::corun {
namespace {

using testing::ElementsAre;

Profile demanding(double l2_gb, double time = 1000, double stall = 0.5, double dram_gb = 1) {
  Profile p;
  p.time_ns = time;
  p.l2_bandwidth = l2_gb * 1e9;
  p.dram_bandwidth = dram_gb * 1e9;
  p.memory_stall = stall;
  return p;
}

struct Bench {
  Bench(std::string_view name, Settings settings) : scheduler(policy(name), settings) {}

  // A client of its own that launches a kernel with the profile.
  Sequence add(const std::optional<Profile>& profile, std::int32_t priority = 0, std::uint32_t slots = 1) {
    scheduler.join(time, ++clients, priority);
    return again(clients, profile, slots);
  }
  Sequence again(ClientId client, const std::optional<Profile>& profile, std::uint32_t slots = 1,
                 StreamId stream = 0) {
    const KernelId k = scheduler.kernel(time, "k" + std::to_string(++kernels), profile ? &*profile : nullptr);
    return scheduler.launch(time, client, stream, k, slots);
  }
  std::vector<Sequence> decide() {
    std::vector<Sequence> out;
    for (const Grant& g : scheduler.decide()) out.push_back(g.sequence);
    ++time;
    return out;
  }
  std::vector<Sequence> end(Sequence s, Time gpu = 1000) {
    scheduler.end(time, s, gpu);
    return decide();
  }

  Scheduler scheduler;
  Time time = 1;
  ClientId clients = 0;
  int kernels = 0;
};

Settings limit_of(std::uint32_t limit) {
  Settings s;
  s.limit = limit;
  return s;
}

TEST(Mps, GoesByArrival) {
  Bench b("mps", limit_of(2));
  for (const double l2 : {10.0, 300.0, 1.0, 200.0}) b.add(demanding(l2));
  EXPECT_THAT(b.decide(), ElementsAre(1, 2));
  EXPECT_THAT(b.end(2), ElementsAre(3));
}

TEST(Shark, RunsTheHeaviestBesideTheLightest) {
  Bench b("shark", limit_of(3));
  for (const double l2 : {100.0, 300.0, 10.0, 200.0, 20.0, 30.0}) b.add(demanding(l2));
  EXPECT_THAT(b.decide(), ElementsAre(2, 3, 5));  // 300 beside 10 and 20
  EXPECT_THAT(b.end(3), ElementsAre(6));          // now 20 and 30 are the lightest
  EXPECT_THAT(b.end(2), ElementsAre(4));          // and 200 the heaviest
}

TEST(Shark, AKernelInTheMiddleWaitsEvenIfASlotIsFree) {
  Settings s = limit_of(4);
  s.light = 1;
  Bench b("shark", s);
  for (const double l2 : {10.0, 300.0, 100.0}) b.add(demanding(l2));
  EXPECT_THAT(b.decide(), ElementsAre(2, 1));
  EXPECT_THAT(b.end(1), ElementsAre(3));
}

TEST(Shark, TiesGoByArrivalSoThatEqualApplicationsTakeTurns) {
  Bench b("shark", limit_of(1));
  for (int i = 0; i < 3; ++i) b.add(demanding(344));
  EXPECT_THAT(b.decide(), ElementsAre(1));
  b.again(1, demanding(344));  // the first application comes again, behind the others
  EXPECT_THAT(b.end(1), ElementsAre(2));
  EXPECT_THAT(b.end(2), ElementsAre(3));
  EXPECT_THAT(b.end(3), ElementsAre(4));
}

TEST(Shark, AnUnknownKernelCountsAsTheMedian) {
  Bench b("shark", limit_of(3));
  b.add(std::nullopt);  // the median of 10, 50, 60, 300 is 50
  for (const double l2 : {300.0, 10.0, 60.0, 50.0}) b.add(demanding(l2));
  EXPECT_THAT(b.decide(), ElementsAre(2, 3, 1));  // and it came before the 50
}

TEST(Shark, WithNoMoreThanTheLimitOnlyTheOrderDiffers) {
  Bench b("shark", limit_of(8));
  for (const double l2 : {100.0, 300.0, 10.0}) b.add(demanding(l2));
  EXPECT_THAT(b.decide(), ElementsAre(2, 3, 1));
}

TEST(Shark, AClientHasOneKernelOutstanding) {
  Bench b("shark", limit_of(4));
  b.add(demanding(10));
  b.again(1, demanding(20), 1, 7);  // another stream of the same client
  EXPECT_THAT(b.decide(), ElementsAre(1));
  EXPECT_THAT(b.end(1), ElementsAre(2));
}

TEST(Shark, LimitOneTakesTheHeaviest) {
  Bench b("shark", limit_of(1));
  for (const double l2 : {10.0, 300.0, 20.0}) b.add(demanding(l2));
  EXPECT_THAT(b.decide(), ElementsAre(2));
  EXPECT_THAT(b.end(2), ElementsAre(3));
}

// The definition, step by step: sort, mark the allowed, grant those that wait.
std::vector<Sequence> shark_by_definition(std::vector<std::pair<double, Sequence>> waiting,
                                          std::vector<std::pair<double, Sequence>> running,
                                          std::uint32_t limit, std::uint32_t m) {
  std::vector<std::pair<double, Sequence>> active = waiting;
  active.insert(active.end(), running.begin(), running.end());
  if (active.empty()) return {};
  const auto heaviest = *std::ranges::min_element(active, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::erase(active, heaviest);
  std::ranges::sort(active);
  active.resize(std::min<std::size_t>(active.size(), m));
  active.insert(active.begin(), heaviest);
  std::vector<Sequence> out;
  for (const auto& a : active)
    if (running.size() + out.size() < limit && std::ranges::find(waiting, a) != waiting.end())
      out.push_back(a.second);
  return out;
}

TEST(Shark, AgreesWithItsDefinitionOnRandomSets) {
  Rng rng(5);
  for (int round = 0; round < 400; ++round) {
    Settings s = limit_of(static_cast<std::uint32_t>(1 + rng.below(9)));
    s.light = static_cast<std::uint32_t>(rng.below(s.limit));
    Bench b("shark", s);
    std::vector<std::pair<double, Sequence>> waiting, running;
    for (std::uint64_t i = 0; i < 1 + rng.below(20); ++i) {
      const double l2 = static_cast<double>(rng.below(8));
      waiting.emplace_back(l2 * 1e9, b.add(demanding(l2)));
    }
    for (int step = 0; step < 12; ++step) {
      const auto expected = shark_by_definition(waiting, running, s.limit, *s.light);
      std::vector<Sequence> got;
      if (step == 0) {
        got = b.decide();
      } else if (!running.empty()) {
        const auto victim = running[rng.below(running.size())];
        std::erase(running, victim);
        const auto then = shark_by_definition(waiting, running, s.limit, *s.light);
        got = b.end(victim.second);
        ASSERT_EQ(got, then);
        for (const Sequence g : then) {
          const auto at = std::ranges::find(waiting, g, &std::pair<double, Sequence>::second);
          running.push_back(*at);
          waiting.erase(at);
        }
        continue;
      }
      ASSERT_EQ(got, expected);
      for (const Sequence g : expected) {
        const auto at = std::ranges::find(waiting, g, &std::pair<double, Sequence>::second);
        running.push_back(*at);
        waiting.erase(at);
      }
    }
  }
}

TEST(SharkAging, ServesTheMiddleOnceItWasOvertakenOftenEnough) {
  Settings s = limit_of(2);
  s.aging = 4;
  Bench b("shark-aging", s);
  b.add(demanding(300)), b.add(demanding(10)), b.add(demanding(100));
  EXPECT_THAT(b.decide(), ElementsAre(1, 2));  // two grants pass the 100 by
  b.again(2, demanding(10));
  EXPECT_THAT(b.end(2), ElementsAre(4));
  b.again(2, demanding(10));
  EXPECT_THAT(b.end(4), ElementsAre(5));
  b.again(2, demanding(10));
  EXPECT_THAT(b.end(5), ElementsAre(3));
}

TEST(ShortestFirst, GoesByTheTimeAlone) {
  Bench b("shortest-first", limit_of(2));
  for (const double time : {500.0, 100.0, 300.0}) b.add(demanding(1, time));
  EXPECT_THAT(b.decide(), ElementsAre(2, 3));
}

TEST(RoundRobin, ServesEveryClientInTurn) {
  Bench b("round-robin", limit_of(1));
  b.add(demanding(1));
  // One client with four streams
  for (StreamId stream = 1; stream < 4; ++stream) b.again(1, demanding(1), 1, stream);
  b.add(demanding(1)), b.add(demanding(1));
  EXPECT_THAT(b.decide(), ElementsAre(1));
  EXPECT_THAT(b.end(1), ElementsAre(5));
  EXPECT_THAT(b.end(5), ElementsAre(6));
  EXPECT_THAT(b.end(6), ElementsAre(2));
}

TEST(Exclusive, OneClientAtATimeUntilItsQuantumIsOver) {
  Settings s = limit_of(4);
  s.quantum = 100;
  Bench b("exclusive", s);
  b.add(demanding(1));
  b.again(1, demanding(1), 1, 1);
  b.add(demanding(1));
  EXPECT_THAT(b.decide(), ElementsAre(1, 2));
  b.again(1, demanding(1));
  EXPECT_THAT(b.end(1), ElementsAre(4));  // still its turn
  b.time += 200;
  b.again(1, demanding(1));
  EXPECT_THAT(b.end(4), ElementsAre());  // over; but the second stream still runs
  EXPECT_THAT(b.end(2), ElementsAre(3));
  EXPECT_THAT(b.end(3), ElementsAre(5));
}

TEST(Complementary, MixesTheClasses) {
  Bench b("complementary", limit_of(4));
  for (int i = 0; i < 4; ++i) b.add(demanding(1, 1000, 0.8));
  for (int i = 0; i < 3; ++i) b.add(demanding(1, 1000, 0.1));
  EXPECT_THAT(b.decide(), ElementsAre(1, 5, 2, 6));
  EXPECT_THAT(b.end(5), ElementsAre(7));
}

TEST(Complementary, OneClassAloneHoldsHalfOfTheSlots) {
  Bench b("complementary", limit_of(4));
  for (int i = 0; i < 4; ++i) b.add(demanding(1, 1000, 0.8));
  EXPECT_THAT(b.decide(), ElementsAre(1, 2));
  b.add(std::nullopt);
  EXPECT_THAT(b.decide(), ElementsAre(5));  // of neither class
}

TEST(Priority, ThrottlesBestEffortWhileSomebodyElseIsActive) {
  Bench b("priority", limit_of(4));
  for (int i = 0; i < 4; ++i) b.add(demanding(1));
  b.add(demanding(1), 1);
  b.add(demanding(1), 2);
  EXPECT_THAT(b.decide(), ElementsAre(6, 5, 1));
  EXPECT_THAT(b.end(6), ElementsAre());
  EXPECT_THAT(b.end(5), ElementsAre(2, 3, 4));  // only best effort is left: no reason to hold it back
}

TEST(BandwidthBudget, KeepsTheSumUnderTheCapAndNeverStops) {
  Settings s = limit_of(4);
  s.l2_cap = 400e9;
  s.aging = 2;
  Bench b("bandwidth-budget", s);
  for (const double l2 : {300.0, 200.0, 50.0, 40.0, 20.0}) b.add(demanding(l2));
  EXPECT_THAT(b.decide(), ElementsAre(1, 3, 4));  // 390
  EXPECT_THAT(b.end(3), ElementsAre());           // the 200 has been overtaken twice: nobody passes it now
  EXPECT_THAT(b.end(1), ElementsAre(2, 5));
  Bench alone("bandwidth-budget", s);
  alone.add(demanding(900));
  EXPECT_THAT(alone.decide(), ElementsAre(1));  // more than the cap, but nothing else runs
}

TEST(Fair, ServesWhoIsSlowedDownMost) {
  Bench b("fair", limit_of(1));
  b.add(demanding(1, 1000));
  EXPECT_THAT(b.decide(), ElementsAre(1));
  b.add(demanding(1, 1000));
  b.again(1, demanding(1, 1000));
  EXPECT_THAT(b.end(1, 5000), ElementsAre(2));  // nothing of the second has ended yet: it goes first
  b.again(2, demanding(1, 1000));
  EXPECT_THAT(b.end(2, 1000), ElementsAre(3));  // 5 times slower against once
}

TEST(Units, AreGrantedTogetherAndNotOvertaken) {
  Bench b("mps", limit_of(4));
  b.add(demanding(1)), b.add(demanding(1));
  b.add(demanding(1), 0, 3);
  b.add(demanding(1));
  EXPECT_THAT(b.decide(), ElementsAre(1, 2));  // two slots are left and the third needs three
  EXPECT_THAT(b.end(1), ElementsAre(3));
  EXPECT_EQ(b.scheduler.used_slots(), 4u);
  b.end(2), b.end(3), b.end(4);
  b.add(demanding(1), 0, 100);  // more than there are: alone
  EXPECT_THAT(b.decide(), ElementsAre(5));
  EXPECT_EQ(b.scheduler.used_slots(), 4u);
}

TEST(Policies, AnUnknownNameIsAnErrorWithTheNearest) {
  try {
    policy("sharc");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.id(), "corun-policy");
    EXPECT_THAT(e.format(), testing::HasSubstr("did you mean shark?"));
  }
}

}  // namespace
}  // namespace simtlab::corun
