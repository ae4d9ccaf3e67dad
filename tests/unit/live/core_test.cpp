// The rules of the daemon, message by message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "corun/log.h"
#include "live/core.h"

namespace simtlab::live {
namespace {

// A daemon and what it said.
struct Daemon {
  explicit Daemon(const char* policy = "mps", std::uint32_t limit = 8, Caps caps = {}) : core(corun::policy(policy), settings(limit), caps) {
    core.on_decision = [this](std::string_view line) { log += std::string(line) + "\n"; };
    log = core.log(0).text;
  }
  static corun::Settings settings(std::uint32_t limit) {
    corun::Settings out;
    out.limit = limit;
    return out;
  }
  ClientId join(const char* kernel = "k") {
    const ClientId id = core.connect(100 + static_cast<std::int32_t>(next++), ++now);
    say(id, Hello{protocol_version, protocol_version, false, "app"});
    say(id, Register{0, 0, 0, kernel});
    core.take();
    return id;
  }
  void say(ClientId id, const Message& message) { core.receive(id, message, ++now); }
  void ask(ClientId id, std::uint64_t sequence, std::uint64_t stream = 0) {
    Request request;
    request.sequence = sequence;
    request.stream = stream;
    say(id, request);
  }
  // Grants since the last call: client and sequence.
  std::vector<std::pair<ClientId, std::uint64_t>> granted() {
    std::vector<std::pair<ClientId, std::uint64_t>> out;
    for (const Core::Output& one : core.take())
      if (const auto* grant = std::get_if<Grant>(&one.message)) out.emplace_back(one.client, grant->sequence);
    return out;
  }
  std::optional<Refusal> refused(ClientId id) {
    for (const Core::Output& one : core.take())
      if (const auto* refusal = std::get_if<Refused>(&one.message); refusal != nullptr && one.client == id && one.close) return refusal->reason;
    return std::nullopt;
  }
  Totals totals() { return core.stats(0, now).totals; }
  Core core;
  std::uint64_t now = 0, next = 0;
  std::string log;
};

using Granted = std::vector<std::pair<ClientId, std::uint64_t>>;

TEST(LiveCore, HelloIsAnsweredAndComesFirst) {
  Daemon d;
  const ClientId id = d.core.connect(1, 0);
  d.say(id, Hello{1, 4, false, "app"});
  const std::vector<Core::Output> out = d.core.take();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(std::get<Welcome>(out[0].message).client, id);
  const ClientId rude = d.core.connect(2, 0);
  d.say(rude, Register{0, 0, 0, "k"});
  EXPECT_EQ(d.refused(rude), Refusal::out_of_order);
  EXPECT_FALSE(d.core.knows(rude));
}

TEST(LiveCore, AnotherVersionIsRefused) {
  Daemon d;
  const ClientId id = d.core.connect(1, 0);
  d.say(id, Hello{3, 9, false, "app"});
  EXPECT_EQ(d.refused(id), Refusal::version);
}

TEST(LiveCore, EachDeviceHasTheLimitForItself) {
  Daemon d("mps", 1);
  const ClientId a = d.join(), b = d.join();
  std::map<ClientId, std::uint64_t> sequence;
  const auto ask_on = [&](ClientId id, std::uint32_t device, std::uint64_t stream) {
    Request request;
    request.sequence = ++sequence[id];
    request.device = device;
    request.stream = stream;
    d.say(id, request);
  };
  // Where a device is on the bus is its number; the order of their coming is that of the log.
  ask_on(a, 0x3b00, 0), ask_on(b, 0x3c00, 1), ask_on(b, 0x3b00, 0), ask_on(a, 0x3c00, 1);
  EXPECT_EQ(d.granted(), (Granted{{a, 1}, {b, 1}}));
  d.say(b, Done{1, 10, false});
  EXPECT_EQ(d.granted(), (Granted{{a, 2}}));
  d.say(a, Done{1, 10, false});
  EXPECT_EQ(d.granted(), (Granted{{b, 2}}));
  EXPECT_THAT(d.log, testing::HasSubstr("launch 2 client=2 stream=1 kernel=1 slots=1 device=1\n"));
  // More devices than can be kept apart share the last number: nobody is refused.
  for (std::uint32_t device = 1; device < 200; ++device) ask_on(a, device, 100 + device);
  EXPECT_TRUE(d.core.knows(a));
}

TEST(LiveCore, LaunchesOfAStreamGoOneAfterAnotherAndOthersMeanwhile) {
  Daemon d;
  const ClientId id = d.join();
  d.ask(id, 1), d.ask(id, 2), d.ask(id, 3, 7);
  EXPECT_EQ(d.granted(), (Granted{{id, 1}, {id, 3}}));
  d.say(id, Done{1, 50, false});
  EXPECT_EQ(d.granted(), (Granted{{id, 2}}));
}

TEST(LiveCore, TheLimitHoldsAndTheEndOfOneLetsTheNextGo) {
  Daemon d("mps", 2);
  const ClientId a = d.join(), b = d.join(), c = d.join();
  d.ask(a, 1), d.ask(b, 1), d.ask(c, 1);
  EXPECT_EQ(d.granted(), (Granted{{a, 1}, {b, 1}}));
  d.say(a, Done{1, 50, false});
  EXPECT_EQ(d.granted(), (Granted{{c, 1}}));
}

TEST(LiveCore, AClientThatDiesFreesItsSlotsAtOnce) {
  Daemon d("mps", 1);
  const ClientId a = d.join(), b = d.join();
  d.ask(a, 1), d.ask(a, 2, 9), d.ask(b, 1);
  EXPECT_EQ(d.granted(), (Granted{{a, 1}}));
  d.core.disconnect(a, ++d.now);
  EXPECT_EQ(d.granted(), (Granted{{b, 1}}));
  const Totals t = d.totals();
  EXPECT_EQ(t.lost, 1u);
  EXPECT_EQ(t.cancelled, 1u);
  EXPECT_EQ(t.running, 1u);
  EXPECT_EQ(t.waiting, 0u);
}

TEST(LiveCore, WhoCancelsLetsOthersGo) {
  Daemon d("mps", 1);
  const ClientId a = d.join(), b = d.join(), c = d.join();
  d.ask(a, 1), d.ask(b, 1), d.ask(c, 1);
  d.granted();
  d.say(b, Cancel{1});                 // it waited
  d.say(a, Cancel{1});                 // it was granted, but does not want it any more
  EXPECT_EQ(d.granted(), (Granted{{c, 1}}));
  d.say(b, Cancel{77});                // nothing of the kind: late, not wrong
  d.say(b, Done{77, 0, false});
  EXPECT_TRUE(d.core.knows(b));
}

TEST(LiveCore, WhatIsOutOfOrderEndsTheClientAndNobodyElse) {
  Daemon d("mps", 1);
  const ClientId good = d.join();
  d.ask(good, 1);
  const auto ends = [&](auto&& wrong) {
    const ClientId id = d.join();
    d.ask(id, 5);
    d.core.take();
    wrong(id);
    return d.refused(id);
  };
  EXPECT_EQ(ends([&](ClientId id) { d.ask(id, 5); }), Refusal::out_of_order);                            // a number again
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Done{5, 0, false}); }), Refusal::out_of_order);             // it only waits
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Register{3, 0, 0, "x"}); }), Refusal::out_of_order);        // a number left out
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Hello{}); }), Refusal::out_of_order);
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Grant{5, 0}); }), Refusal::out_of_order);                   // the daemon's own words
  EXPECT_EQ(ends([&](ClientId id) {
    Request request;
    request.sequence = 6;
    request.kernel = 1;
    d.say(id, request);
  }), Refusal::out_of_order);
  EXPECT_EQ(ends([&](ClientId id) { d.core.malformed(id, "garbage", d.now); }), Refusal::malformed);
  d.say(good, Done{1, 1, false});
  EXPECT_EQ(d.totals().done, 1u);
  EXPECT_EQ(d.totals().clients, 1u);
}

TEST(LiveCore, MemoryOfAClientIsBounded) {
  Caps caps;
  caps.clients = 3;
  caps.kernels = 4;
  caps.waiting = 5;
  caps.names = 3;
  Daemon d("exclusive", 1, caps);
  const ClientId many = d.join();
  for (std::uint32_t i = 1; i < 5; ++i) d.say(many, Register{i, 0, 0, "k" + std::to_string(i)});
  EXPECT_EQ(d.refused(many), Refusal::no_memory);
  const ClientId holder = d.join(), eager = d.join();
  d.ask(holder, 1);
  for (std::uint64_t i = 1; i <= 6; ++i) d.ask(eager, i, i);
  EXPECT_EQ(d.refused(eager), Refusal::too_many);
  const ClientId third = d.join();
  d.join();
  EXPECT_EQ(d.core.connect(9, d.now), 0u) << "three are there";
  d.core.disconnect(third, d.now);
  EXPECT_NE(d.core.connect(9, d.now), 0u);
}

TEST(LiveCore, KernelsThatRanAloneAreLearnt) {
  Daemon d;
  const ClientId a = d.join("slow"), b = d.join("quick");
  d.ask(a, 1), d.say(a, Done{1, 5000, false});
  d.ask(a, 2), d.ask(b, 1), d.say(b, Done{1, 10, false}), d.say(a, Done{2, 9999, false});   // together: nothing learnt
  EXPECT_THAT(d.log, testing::HasSubstr("time=5000"));
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("time=10 ")));
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("time=9999")));
}

TEST(LiveCore, KnownKernelsHaveTheirProfile) {
  const FindProfile find = [](const std::string& program, const std::string& kernel) -> std::optional<corun::Profile> {
    if (program != "app" || kernel != "known") return std::nullopt;
    corun::Profile out;
    out.l2_bandwidth = 5e9;
    return out;
  };
  Core core(corun::policy("shark"), {}, {}, find);
  const ClientId id = core.connect(1, 1);
  core.receive(id, Hello{protocol_version, protocol_version, false, "app"}, 1);
  core.receive(id, Register{0, 0, 0, "known"}, 1);
  core.receive(id, Register{1, 0, 0, "unknown"}, 1);
  EXPECT_THAT(core.log(0).text, testing::HasSubstr("l2=5000000000 name=known\n"));
  EXPECT_THAT(core.log(0).text, testing::Not(testing::HasSubstr("l2=5000000000 name=unknown")));
}

TEST(LiveCore, StatisticsComeInPagesAndTheLogInPieces) {
  Daemon d;
  std::vector<ClientId> ids;
  for (unsigned i = 0; i < most_rows + 3; ++i) ids.push_back(d.join());
  EXPECT_EQ(d.core.stats(0, 1).rows.size(), most_rows);
  EXPECT_EQ(d.core.stats(most_rows, 1).rows.size(), 3u);
  EXPECT_EQ(d.core.stats(1000, 1).rows.size(), 0u);
  for (std::uint64_t i = 1; i < 300; ++i) d.ask(ids[0], i), d.say(ids[0], Done{i, 1, false});
  std::string all;
  for (Log page = d.core.log(0); !page.text.empty(); page = d.core.log(page.next)) {
    EXPECT_LE(page.text.size(), most_text);
    all += page.text;
  }
  EXPECT_EQ(all, d.log);
}

TEST(LiveCore, NamesAreFitForLogsAndTerminals) {
  Daemon d;
  const ClientId id = d.core.connect(1, 0);
  d.say(id, Hello{protocol_version, protocol_version, false, "evil\n\x1b[2J"});
  d.say(id, Register{0, 0, 0, "k \n0 grant 1"});
  EXPECT_EQ(d.core.stats(0, 1).rows[0].program, "evil??[2J");
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("\n0 grant")));
}

// The log of the daemon, given to the policies again, gives the same log.
TEST(LiveCore, ADecisionLogReplaysToItself) {
  for (const corun::Policy* policy : corun::policies()) {
    Daemon d(std::string(policy->name).c_str(), 3);
    std::vector<ClientId> ids;
    for (const char* kernel : {"a", "b", "c", "d", "e"}) ids.push_back(d.join(kernel));
    std::vector<std::pair<ClientId, std::uint64_t>> running;
    std::uint64_t state = 12345;
    std::vector<std::uint64_t> next(ids.size(), 1);
    const auto random = [&](std::uint64_t below) { return (state = state * 6364136223846793005u + 1442695040888963407u, (state >> 33) % below); };
    for (int step = 0; step < 400; ++step) {
      d.now += random(3) == 0 ? 0 : random(100000);
      const std::size_t who = random(ids.size());
      if (random(2) == 0 || running.empty()) {
        d.ask(ids[who], next[who]++, random(2));
      } else if (random(20) == 0) {
        d.core.disconnect(ids[who], ++d.now);
        std::erase_if(running, [&](const auto& r) { return r.first == ids[who]; });
        ids[who] = d.join("z");
        next[who] = 1;
      } else {
        const std::size_t which = random(running.size());
        d.say(running[which].first, Done{running[which].second, 1 + random(90000), false});
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
      }
      for (const auto& grant : d.granted()) running.push_back(grant);
    }
    const corun::Replayed again = corun::replay(d.log, "log");
    EXPECT_TRUE(again.had_grants);
    EXPECT_EQ(again.difference, "") << policy->name;
    EXPECT_EQ(again.log, d.log) << policy->name;
    EXPECT_GT(again.grants, 20u);
  }
}

}  // namespace
}  // namespace simtlab::live
