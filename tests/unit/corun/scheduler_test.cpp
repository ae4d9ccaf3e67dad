// The scheduler's bookkeeping, and traces that are not what they should be.
#include "corun/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "corun/launch_shape.h"
#include "corun/log.h"

namespace simtlab::corun {
namespace {

struct Logged {
  explicit Logged(std::uint32_t limit)
      : scheduler(policy("mps"), {.limit = limit},
                  [this](std::string_view line) { log.append(line) += '\n'; }) {}
  std::string log;
  Scheduler scheduler;
};

TEST(Scheduler, WritesWhatHappensAndWhatItDecides) {
  Logged l(2);
  Profile p;
  p.time_ns = 60000;
  p.l2_bandwidth = 20.94e9;
  const KernelId k = l.scheduler.kernel(0, "IMGVF kernel", &p);
  l.scheduler.join(5, 3, 1);
  l.scheduler.launch(5, 3, 0, k);
  EXPECT_EQ(l.scheduler.decide().size(), 1u);
  l.scheduler.end(9, 1, 4);
  l.scheduler.decide();
  l.scheduler.leave(12, 3);
  EXPECT_EQ(l.log,
            "simtlab-corun 1\n"
            "policy mps limit=2 light=1 aging=64 quantum=30000000 l2-cap=380000000000 dram-cap=250000000000 "
            "memory-class=0.3 best-effort=1\n"
            "0 kernel 1 known time=60000 l2=20940000000 name=IMGVF kernel\n"
            "0 join 3 priority=1\n"
            "0 launch 1 client=3 stream=0 kernel=1 slots=1\n"
            "0 grant 1\n"
            "9 end 1 gpu=4\n"
            "12 leave 3\n");
}

TEST(Scheduler, AnotherLimitHoldsFromTheNextDecisionAndWhoWaitsStays) {
  Logged l(1);
  const KernelId k = l.scheduler.kernel(0, "k", nullptr);
  l.scheduler.join(0, 1);
  for (StreamId stream = 0; stream < 6; ++stream) l.scheduler.launch(0, 1, stream, k, stream == 0 ? 4 : 1);
  ASSERT_EQ(l.scheduler.decide().size(), 1u);  // of four kernels: it takes the one slot
  Settings more = l.scheduler.settings();
  more.limit = 6;
  l.scheduler.set(10, policy("mps"), more);
  EXPECT_EQ(l.scheduler.used_slots(), 4u);
  EXPECT_EQ(l.scheduler.decide().size(), 2u);
  Settings fewer = more;
  fewer.limit = 2;
  l.scheduler.set(20, policy("fair"), fewer);
  EXPECT_EQ(l.scheduler.decide().size(), 0u);
  EXPECT_EQ(l.scheduler.waiting(), 3u);
  l.scheduler.end(30, 1, 1);
  EXPECT_EQ(l.scheduler.used_slots(), 2u);
  EXPECT_EQ(l.scheduler.decide().size(), 0u);
  l.scheduler.end(40, 2, 1);
  EXPECT_EQ(l.scheduler.decide().size(), 1u);
  EXPECT_THAT(l.log, testing::HasSubstr("\n20 policy fair limit=2 light=1 "));
  const std::string before = l.log;
  l.scheduler.set(50, policy("fair"), fewer);
  EXPECT_EQ(l.log, before) << "what changes nothing is no event";
  EXPECT_THROW(l.scheduler.set(60, policy("mps"), {.limit = 0}), Error);
  EXPECT_EQ(l.scheduler.policy().name, "fair");
  EXPECT_EQ(replay(l.log, "log").log, l.log);
}

// What a policy of one's own may decide by: the launch's shape, and values that only its file knows.
TEST(Scheduler, PoliciesSeeTheShapeAndValuesOfOnesOwn) {
  static std::vector<std::string> seen;
  seen.clear();
  const Policy mine{.name = "mine", .doc = "", .decide = [](const View& view, Grants& grants) {
                      for (std::size_t i = 0; i < view.waiting.size(); ++i) {
                        const Launch& l = view.waiting[i];
                        seen.push_back(l.shape == nullptr ? "none" : text_of(*l.shape));
                        if (l.profile != nullptr && l.profile->more.contains("tensor"))
                          seen.back() += " tensor=" + std::to_string(l.profile->more.at("tensor"));
                        grants.take(i);
                      }
                    }};
  Scheduler s(mine, {.limit = 8});
  Profile with, other;
  with.grid = {3, 2, 1}, with.block = {64, 1, 1}, with.shared_bytes = 512;
  with.more["tensor"] = 2;
  other = with;
  other.nearest = true;
  s.join(0, 1);
  s.launch(0, 1, 1, s.kernel(0, "app/k <<<4x2, 128, 1024>>>", &with));
  s.launch(0, 1, 2, s.kernel(0, "app/own", &with));
  s.launch(0, 1, 3, s.kernel(0, "app/far", &other));
  s.launch(0, 1, 4, s.kernel(0, "app/(graph)", nullptr));
  s.launch(0, 1, 5, s.kernel(0, "app/odd <<<4, 0, 1>>>", nullptr));
  s.decide();
  EXPECT_THAT(
      seen, testing::ElementsAre("<<<4x2, 128, 1024>>> tensor=2.000000", "<<<3x2, 64, 512>>> tensor=2.000000",
                                 "none tensor=2.000000", "none", "none"));
}

TEST(Scheduler, ValuesOfOnesOwnAreInTheLogAndReplayed) {
  Logged l(2);
  Profile p;
  p.time_ns = 10;
  p.more = {{"a", 0.25}, {"b", 7}};
  l.scheduler.join(0, 1);
  l.scheduler.launch(0, 1, 0, l.scheduler.kernel(0, "k", &p));
  l.scheduler.decide();
  l.scheduler.end(5, 1, 4);
  l.scheduler.decide();
  EXPECT_THAT(l.log, testing::HasSubstr("known time=10 more.a=0.25 more.b=7 name=k"));
  EXPECT_EQ(replay(l.log, "log").difference, "");
  for (const char* bad :
       {"more.a name=k", "more.=1 name=k", "more.a= name=k", "more.a=-1 name=k", "more.a=x name=k"}) {
    std::string text = l.log;
    text.replace(text.find("more.a"), text.find('\n', text.find("more.a")) - text.find("more.a"), bad);
    EXPECT_THROW(replay(text, "log"), Error) << bad;
  }
}

TEST(LaunchShape, IsFoundInTheNamesThatItIsWrittenInto) {
  for (const LaunchShape& s : {LaunchShape{}, LaunchShape{{7, 1, 1}, {32, 8, 1}, 48},
                               LaunchShape{{1, 1, 65535}, {1, 1, 64}, 1ull << 40}})
    EXPECT_EQ(shape_in(key_of("p", "k<a, b>", s)), s);
  for (const char* none :
       {"", "k", "k <<<>>>", "k <<<1, 2>>>", "k <<<1x, 2, 3>>>", "k <<<1x1x1x1, 2, 3>>>", "k <<<0, 2, 3>>>",
        "k <<<1, 2, 3>>> ", "k <<<1, 2, -3>>>", "k <<<99999999999, 2, 3>>>"})
    EXPECT_EQ(shape_in(none), std::nullopt) << none;
}

TEST(Scheduler, EventsAfterADecisionAreLaterThanIt) {
  Logged l(1);
  l.scheduler.join(10, 1);
  l.scheduler.decide();
  l.scheduler.join(10, 2);
  l.scheduler.decide();
  l.scheduler.join(4, 3);
  EXPECT_THAT(l.log, testing::EndsWith("10 join 1 priority=0\n11 join 2 priority=0\n12 join 3 priority=0\n"));
}

TEST(Scheduler, ADeadClientFreesItsSlotsAtOnce) {
  Logged l(1);
  const KernelId k = l.scheduler.kernel(0, "k", nullptr);
  for (const ClientId c : {1u, 2u}) l.scheduler.join(0, c), l.scheduler.launch(0, c, 0, k);
  EXPECT_EQ(l.scheduler.decide()[0].sequence, 1u);
  l.scheduler.leave(5, 1);
  EXPECT_EQ(l.scheduler.decide()[0].sequence, 2u);
  EXPECT_THROW(l.scheduler.end(6, 1, 1), Error);
}

// Two devices in one scheduler, and each in one of its own that is told of nothing else.
struct TwoDevices {
  explicit TwoDevices(const Policy& policy)
      : both(policy, {.limit = 3}),
        alone{std::make_unique<Scheduler>(policy, Settings{.limit = 3}),
              std::make_unique<Scheduler>(policy, Settings{.limit = 3})} {
    Profile light, heavy;
    light.l2_bandwidth = 1e9, light.dram_bandwidth = 1e9, light.memory_stall = 0.1, light.time_ns = 10;
    heavy.l2_bandwidth = 300e9, heavy.dram_bandwidth = 200e9, heavy.memory_stall = 0.9, heavy.time_ns = 900;
    for (Scheduler* s : {&both, alone[0].get(), alone[1].get()}) {
      s->kernel(0, "light", &light), s->kernel(0, "heavy", &heavy), s->kernel(0, "unknown", nullptr);
      for (ClientId c = 1; c <= 5; ++c) s->join(0, c, c == 2 ? 1 : 0);
      s->decide();
    }
  }

  void launch(Rng& rng) {
    const std::uint32_t device = static_cast<std::uint32_t>(rng.below(2));
    const ClientId client = 1 + static_cast<ClientId>(rng.below(5));
    const StreamId stream = device + 2 * rng.below(2);
    const KernelId kernel = 1 + static_cast<KernelId>(rng.below(3));
    const Sequence in_both = both.launch(time, client, stream, kernel, 1, device);
    places[in_both] = {device, alone[device]->launch(time, client, stream, kernel)};
  }
  void end(Rng& rng) {
    if (running.empty()) return;
    const auto at = running.begin() + static_cast<std::ptrdiff_t>(rng.below(running.size()));
    const auto [device, own] = places.at(*at);
    both.end(time, *at, 100);
    alone[device]->end(time, own, 100);
    running.erase(at);
  }
  void decide() {
    std::vector<std::pair<std::uint32_t, Sequence>> together, apart;
    for (const Grant& g : both.decide())
      together.push_back(places.at(g.sequence)), running.push_back(g.sequence);
    for (std::uint32_t device = 0; device < 2; ++device)
      for (const Grant& g : alone[device]->decide()) apart.emplace_back(device, g.sequence);
    EXPECT_EQ(together, apart) << "at " << time;
    EXPECT_EQ(both.used_slots(), alone[0]->used_slots() + alone[1]->used_slots());
    time += 10;
  }

  Scheduler both;
  std::unique_ptr<Scheduler> alone[2];
  std::map<Sequence, std::pair<std::uint32_t, Sequence>> places;
  std::vector<Sequence> running;
  Time time = 10;
};

TEST(Scheduler, DevicesDoNotKnowOfEachOtherWhateverThePolicy) {
  for (const Policy* const policy : policies()) {
    SCOPED_TRACE(policy->name);
    TwoDevices d(*policy);
    Rng rng(7);
    std::size_t most = 0;
    for (int i = 0; i < 4000 && !testing::Test::HasFailure(); ++i) {
      if (rng.below(3) != 0 && d.both.waiting() < 40)
        d.launch(rng);
      else
        d.end(rng);
      d.decide();
      most = std::max(most, d.running.size());
    }
    if (policy->all_go != nullptr) { EXPECT_EQ(most, 6u) << "the limit is each one's"; }
  }
}

TEST(Scheduler, ALogNamesTheDeviceAndReplaysToItself) {
  Logged l(1);
  const KernelId k = l.scheduler.kernel(0, "k", nullptr);
  l.scheduler.join(0, 1);
  l.scheduler.launch(0, 1, 0, k);
  l.scheduler.launch(0, 1, 1, k, 1, 1);
  EXPECT_EQ(l.scheduler.decide().size(), 2u);
  l.scheduler.end(5, 2, 5);
  l.scheduler.decide();
  EXPECT_THAT(l.log, testing::HasSubstr("launch 1 client=1 stream=0 kernel=1 slots=1\n0 launch 2 client=1 "
                                        "stream=1 kernel=1 slots=1 device=1\n0 grant 1\n0 grant 2\n"));
  const Replayed again = replay(l.log, "log");
  EXPECT_EQ(again.log, l.log);
  EXPECT_EQ(again.difference, "");
  EXPECT_THROW(l.scheduler.launch(9, 1, 2, k, 1, Scheduler::most_devices), Error);
}

TEST(Scheduler, ADeadClientsKernelHoldsItsSlotWhileItDrains) {
  Logged l(1);
  const KernelId k = l.scheduler.kernel(0, "k", nullptr);
  for (const ClientId c : {1u, 2u}) l.scheduler.join(0, c), l.scheduler.launch(0, c, 0, k);
  l.scheduler.launch(0, 1, 0, k);
  l.scheduler.decide();
  l.scheduler.leave(5, 1, true);
  EXPECT_TRUE(l.scheduler.decide().empty());
  EXPECT_EQ(l.scheduler.waiting(), 1u);  // what it had queued is gone
  EXPECT_EQ(l.scheduler.find(1), nullptr);
  l.scheduler.end(9, 1, 9);
  EXPECT_EQ(l.scheduler.decide()[0].sequence, 2u);
  l.scheduler.join(10, 1);  // its number is free again
}

TEST(Scheduler, WhatIsLearntOfAKernelHoldsForThoseThatWait) {
  Logged l(1);
  const KernelId k = l.scheduler.kernel(0, "k", nullptr);
  EXPECT_EQ(l.scheduler.profile(k), nullptr);
  Profile p;
  p.time_ns = 5;
  EXPECT_EQ(l.scheduler.kernel(1, "k", &p), k);
  ASSERT_NE(l.scheduler.profile(k), nullptr);
  EXPECT_EQ(l.scheduler.profile(k)->time_ns, 5);
}

TEST(Scheduler, ImpossibleEventsAreRefusedAndChangeNothing) {
  Logged l(1);
  const KernelId k = l.scheduler.kernel(0, "k", nullptr);
  l.scheduler.join(0, 1);
  const std::string before = l.log;
  EXPECT_THROW(l.scheduler.join(1, 1), Error);
  EXPECT_THROW(l.scheduler.launch(1, 2, 0, k), Error);
  EXPECT_THROW(l.scheduler.launch(1, 1, 0, k + 1), Error);
  EXPECT_THROW(l.scheduler.launch(1, 1, 0, k, 0), Error);
  EXPECT_THROW(l.scheduler.end(1, 7, 1), Error);
  EXPECT_THROW(l.scheduler.cancel(1, 7), Error);
  EXPECT_THROW(l.scheduler.leave(1, 2), Error);
  EXPECT_THROW(l.scheduler.kernel(1, "", nullptr), Error);
  EXPECT_THROW(l.scheduler.kernel(1, std::string(5000, 'x'), nullptr), Error);
  EXPECT_EQ(l.log, before);
}

constexpr const char* heading =
    "simtlab-corun 1\npolicy mps limit=1 light=0 aging=64 quantum=1 l2-cap=1 dram-cap=1 memory-class=0.3 "
    "best-effort=1\n";

TEST(Replay, SaysWhereATraceIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"x", "no number"},
      {"5 jump 1", "no event"},
      {"5 policy sharc limit=1", "no policy"},
      {"5 policy mps limit=0 light=0", "limit of 0"},
      {"5 policy mps", "ends too early"},
      {"5 join 1", "ends too early"},
      {"5 join 1 priority=1 more", "nothing is expected"},
      {"5 join 1 priority=99999999999", "no number"},
      {"5 join -1 priority=0", "no number"},
      {"5 kernel 1 name=", "1 to 4096 bytes"},
      {"5 kernel 2 name=k", "count from 1"},
      {"5 kernel 1 known time=nan name=k", "no number"},
      {"5 end 3 gpu=1", "does not run"},
      {"5 join 1 priority=0\n4 join 2 priority=0", "backwards"},
      {"", "empty line"},
  };
  for (const auto& [text, message] : cases) {
    try {
      replay(std::string(heading) + text + "\n", "t");
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "corun-trace");
      EXPECT_THAT(e.format(), testing::HasSubstr(message)) << text;
    }
  }
  EXPECT_THROW(replay("", "t"), Error);
  EXPECT_THROW(replay("simtlab-corun 1\n", "t"), Error);
  EXPECT_THROW(replay("simtlab-corun 1\npolicy mps limit=0 light=0\n", "t"), Error);
}

TEST(Replay, ShowsTheFirstDifference) {
  const std::string log = std::string(heading) +
                          "0 kernel 1 name=k\n0 join 1 priority=0\n0 join 2 priority=0\n0 launch 1 client=1 "
                          "stream=0 kernel=1 slots=1\n"
                          "0 launch 2 client=2 stream=0 kernel=1 slots=1\n0 grant 2\n";
  const Replayed r = replay(log, "t");
  EXPECT_THAT(r.difference, testing::HasSubstr("t:8: \"0 grant 2\" became \"0 grant 1\""));
  EXPECT_EQ(r.waiting, 1u);
}

TEST(Replay, RunsAnotherPolicyOverTheSameEvents) {
  const std::string trace =
      std::string(heading) +
      "0 kernel 1 known l2=5 name=a\n0 kernel 2 known l2=50 name=b\n0 join 1 priority=0\n0 join 2 "
      "priority=0\n"
      "0 launch 1 client=1 stream=0 kernel=1 slots=1\n0 launch 2 client=2 stream=0 kernel=2 slots=1\n";
  const Settings one{.limit = 1};
  EXPECT_THAT(replay(trace, "t").log, testing::EndsWith("0 grant 1\n"));
  EXPECT_THAT(replay(trace, "t", find_policy("shark"), &one).log, testing::EndsWith("0 grant 2\n"));
}

// Another policy decides to the end: what the log set meanwhile is of the log alone.
TEST(Replay, UnderAnotherPolicyWhatTheLogSetCountsNoMore) {
  const std::string settings =
      "limit=1 light=0 aging=64 quantum=1 l2-cap=1 dram-cap=1 memory-class=0.3 best-effort=1";
  const std::string trace = std::string(heading) +
                            "0 kernel 1 known l2=5 name=a\n0 kernel 2 known l2=50 name=b\n0 join 1 "
                            "priority=0\n0 join 2 priority=0\n0 policy shark " +
                            settings +
                            "\n0 launch 1 client=1 stream=0 kernel=1 slots=1\n"
                            "0 launch 2 client=2 stream=0 kernel=2 slots=1\n";
  const Settings one{.limit = 1};
  EXPECT_THAT(replay(trace, "t").log, testing::EndsWith("0 grant 2\n"));
  const Replayed other = replay(trace, "t", find_policy("mps"), &one);
  EXPECT_THAT(other.log, testing::EndsWith("0 grant 1\n"));
  EXPECT_THAT(other.log, testing::Not(testing::HasSubstr("shark")));
}

// a takes 10, b 4. Under mps with one slot a goes first and b at 10; under shortest-first b goes first.
TEST(Replay, UnderAnotherPolicyLaunchesTakeAsLongAsBefore) {
  const std::string trace =
      std::string(heading) +
      "0 kernel 1 known time=10 name=a\n0 kernel 2 known time=4 name=b\n0 join 1 priority=0\n0 join 2 "
      "priority=0\n"
      "0 launch 1 client=1 stream=0 kernel=1 slots=1\n0 launch 2 client=2 stream=0 kernel=2 slots=1\n"
      "10 end 1 gpu=10\n14 end 2 gpu=4\n";
  const Settings one{.limit = 1};
  EXPECT_THAT(replay(trace, "t", find_policy("shortest-first"), &one).log,
              testing::EndsWith("0 grant 2\n4 end 2 gpu=4\n4 grant 1\n14 end 1 gpu=10\n"));
}

}  // namespace
}  // namespace simtlab::corun
