// What holds for every policy, on random traces: each launch granted once, streams in order, the limit kept,
// nothing forgotten, and the same decisions when the log is replayed.
#include <gmock/gmock.h>

#include "corun/log.h"
#include "random_host.h"

namespace simtlab::corun {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> out;
  for (const Policy* p : policies()) out.emplace_back(p->name);
  return out;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  std::ranges::replace(out, '-', '_');
  return out;
}

class EveryPolicy : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Corun, EveryPolicy, testing::ValuesIn(policy_names()), test_name);

Settings settings_for(std::uint64_t seed) {
  Settings s;
  s.limit = static_cast<std::uint32_t>(1 + seed % 7);
  s.aging = 5 + seed % 20;
  s.quantum = 500;
  if (seed % 3 == 0) s.light = static_cast<std::uint32_t>(seed % (s.limit + 1));
  return s;
}

TEST_P(EveryPolicy, GrantsEachLaunchOnceInOrderWithinTheLimit) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomHost host(policy(GetParam()), settings_for(seed), seed);
    for (int i = 0; i < 300 && !HasFailure(); ++i) host.step(true);
    EXPECT_GT(host.grants, 30u);
    EXPECT_TRUE(host.drain()) << "launches wait although the GPU is idle, seed " << seed;
    for (const auto& [s, seen] : host.launches) EXPECT_TRUE(seen.over) << s;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, RepeatsItsLogWhenReplayed) {
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    RandomHost host(policy(GetParam()), settings_for(seed), seed);
    for (int i = 0; i < 200; ++i) host.step(true);
    const Replayed again = replay(host.log, "log");
    EXPECT_TRUE(again.had_grants);
    EXPECT_EQ(again.difference, "");
    EXPECT_EQ(again.log, host.log);
    EXPECT_EQ(again.grants, host.grants);
  }
}

// Policy, limit and parameters change while launches wait and run: from this policy to others and back.
TEST_P(EveryPolicy, MayTakeOverFromAnyOther) {
  for (std::uint64_t seed = 200; seed < 215; ++seed) {
    RandomHost host(policy(GetParam()), settings_for(seed), seed);
    for (std::uint64_t part = 0; part < 30 && !HasFailure(); ++part) {
      for (int i = 0; i < 10; ++i) host.step(true);
      const auto all = policies();
      const Policy& next = part % 2 == 0 ? *all[(seed + part) % all.size()] : policy(GetParam());
      host.set(next, settings_for(seed * 7 + part * 3));
    }
    EXPECT_TRUE(host.drain()) << "launches wait although the GPU is idle, seed " << seed;
    const Replayed again = replay(host.log, "log");
    EXPECT_EQ(again.difference, "");
    EXPECT_EQ(again.log, host.log);
    EXPECT_GT(again.grants, 30u);
    EXPECT_EQ(again.policy, &host.scheduler.policy());
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST_P(EveryPolicy, DecidesTheSameFromTheEventsAlone) {
  RandomHost host(policy(GetParam()), settings_for(3), 7);
  for (int i = 0; i < 200; ++i) host.step(true);
  std::string events;
  for (std::size_t at = 0; at < host.log.size();) {
    const std::size_t end = host.log.find('\n', at);
    const std::string line = host.log.substr(at, end - at + 1);
    if (line.find(" grant ") == std::string::npos) events += line;
    at = end + 1;
  }
  const Replayed again = replay(events, "trace");
  EXPECT_FALSE(again.had_grants);
  EXPECT_EQ(again.log, host.log);
}

// What the daemon builds on when it lets clients go without asking (live/ring.h).
TEST_P(EveryPolicy, GrantsAtOnceWhileNoMoreAreActiveThanItSays) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Settings settings = settings_for(seed);
    RandomHost host(policy(GetParam()), settings, seed);
    const std::uint32_t most = host.scheduler.all_go();
    ASSERT_GE(most, 1u);
    ASSERT_LE(most, settings.limit);
    const auto busy = [&](ClientId client) {
      return std::ranges::any_of(host.running,
                                 [&](Sequence s) { return host.launches.at(s).client == client; });
    };
    for (int i = 0; i < 400; ++i) {
      host.time += host.rng.below(400);
      const std::uint64_t dice = host.rng.below(100);
      if (host.clients.empty() || (dice < 5 && host.clients.size() < 12)) {
        host.clients.push_back(++host.last_client);
        host.scheduler.join(host.time, host.last_client, static_cast<std::int32_t>(host.rng.below(3)));
      } else if (dice < 7) {
        host.leave(host.clients[host.rng.below(host.clients.size())], false);
      } else if (dice < 60 && host.running.size() < most) {
        const ClientId client = host.clients[host.rng.below(host.clients.size())];
        if (!busy(client))
          host.launches.emplace(host.scheduler.launch(host.time, client, host.rng.below(2),
                                                      static_cast<KernelId>(1 + host.rng.below(6))),
                                RandomHost::Seen{client});
      } else if (!host.running.empty()) {
        host.end(host.running[host.rng.below(host.running.size())]);
      }
      for (const Grant& g : host.scheduler.decide()) host.granted(g);
      ASSERT_EQ(host.scheduler.waiting(), 0u) << "seed " << seed << " limit " << settings.limit;
    }
    EXPECT_GT(host.grants, 20u);
  }
}

// Grants of a random trace whose kernels are known only as far as `known` says.
std::string grants_with(const Policy& policy, std::uint64_t seed, unsigned known) {
  RandomHost host(policy, settings_for(seed), seed);
  for (KernelId k = 1; k <= 6; ++k) {
    Profile p = host.scheduler.profile(k) == nullptr ? Profile{} : *host.scheduler.profile(k);
    if ((known & knows_time) == 0) p.time_ns.reset();
    if ((known & knows_l2) == 0) p.l2_bandwidth.reset();
    if ((known & knows_dram) == 0) p.dram_bandwidth.reset();
    if ((known & knows_stalls) == 0) p.memory_stall.reset();
    host.scheduler.kernel(0, "kernel " + std::to_string(k), &p);
  }
  host.log.clear();
  for (int i = 0; i < 300; ++i) host.step(false);
  return host.log;
}

// What a policy says that it needs to know is what its decisions depend on: all of it, and nothing else.
TEST_P(EveryPolicy, NeedsToKnowWhatItSays) {
  const Policy& p = policy(GetParam());
  constexpr unsigned all = knows_time | knows_l2 | knows_dram | knows_stalls;
  EXPECT_EQ(p.needs == knows_nothing, p.unknown.empty());
  for (const unsigned value : {knows_time, knows_l2, knows_dram, knows_stalls}) {
    bool matters = false;
    for (std::uint64_t seed = 0; seed < 30 && !matters; ++seed)
      matters = grants_with(p, seed, all) != grants_with(p, seed, all & ~value);
    EXPECT_EQ(matters, (p.needs & value) != 0) << knowledge_text(value);
  }
}

// Grants that a launch saw given to others between the moment when it could go and its own.
std::uint64_t worst_overtaking(const std::string& log) {
  struct Waiting {
    Sequence sequence;
    std::uint64_t key, since;
  };
  // (client, stream) -> launches that have not ended
  std::map<std::uint64_t, std::vector<Sequence>> streams;
  std::map<Sequence, std::uint64_t> key_of, ready_at;
  std::uint64_t grants = 0, worst = 0;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = log.find('\n', at);
    const std::string line = log.substr(at, end - at);
    at = end + 1;
    unsigned long long time = 0, s = 0, client = 0, stream = 0;
    if (std::sscanf(line.c_str(), "%llu launch %llu client=%llu stream=%llu", &time, &s, &client, &stream) ==
        4) {
      const std::uint64_t key = client * 1000 + stream;
      key_of[s] = key;
      streams[key].push_back(s);
      if (streams[key].size() == 1) ready_at[s] = grants;
    } else if (std::sscanf(line.c_str(), "%llu grant %llu", &time, &s) == 2) {
      worst = std::max(worst, grants - ready_at.at(s));
      ++grants;
    } else if (std::sscanf(line.c_str(), "%llu end %llu", &time, &s) == 2) {
      auto& queue = streams[key_of.at(s)];
      std::erase(queue, s);
      if (!queue.empty() && !ready_at.contains(queue.front())) ready_at[queue.front()] = grants;
    }
  }
  return worst;
}

TEST(Aging, BoundsHowOftenALaunchIsOvertaken) {
  std::uint64_t shark_worst = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Settings s;
    s.limit = 3;
    s.aging = 10;
    RandomHost with(policy("shark-aging"), s, seed), without(policy("shark"), s, seed);
    for (int i = 0; i < 600; ++i) with.step(false), without.step(false);
    // Others that were ready before may go first, each once: at most 12 clients with 2 streams each.
    EXPECT_LE(worst_overtaking(with.log), s.aging + 24) << "seed " << seed;
    shark_worst = std::max(shark_worst, worst_overtaking(without.log));
  }
  EXPECT_GT(shark_worst, 60u);  // or the bound above would prove nothing
}

}  // namespace
}  // namespace simtlab::corun
