// The rules of the daemon, message by message.
#include "corun/live/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "corun/log.h"

namespace simtlab::corun::live {
namespace {

// A daemon and what it said.
struct Daemon {
  explicit Daemon(const char* policy = "mps", std::uint32_t limit = 8, Caps caps = {})
      : core(corun::policy(policy), settings(limit), caps) {
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
      if (const auto* refusal = std::get_if<Refused>(&one.message);
          refusal != nullptr && one.client == id && one.close)
        return refusal->reason;
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
  d.say(id, Hello{1, protocol_version, false, "app"});
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
  d.say(id, Hello{protocol_version + 1, protocol_version + 6, false, "app"});
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
  d.say(b, Cancel{1});  // it waited
  d.say(a, Cancel{1});  // it was granted, but does not want it any more
  EXPECT_EQ(d.granted(), (Granted{{c, 1}}));
  d.say(b, Cancel{77});  // nothing of the kind: late, not wrong
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
  // A number again
  EXPECT_EQ(ends([&](ClientId id) { d.ask(id, 5); }), Refusal::out_of_order);
  // It only waits
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Done{5, 0, false}); }), Refusal::out_of_order);
  // A number left out
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Register{3, 0, 0, "x"}); }), Refusal::out_of_order);
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Hello{}); }), Refusal::out_of_order);
  // The daemon's own words
  EXPECT_EQ(ends([&](ClientId id) { d.say(id, Grant{5, 0}); }), Refusal::out_of_order);
  EXPECT_EQ(ends([&](ClientId id) {
              Request request;
              request.sequence = 6;
              request.kernel = 1;
              d.say(id, request);
            }),
            Refusal::out_of_order);
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
  // Together: nothing learnt
  d.ask(a, 2), d.ask(b, 1), d.say(b, Done{1, 10, false}), d.say(a, Done{2, 9999, false});
  EXPECT_THAT(d.log, testing::HasSubstr("time=5000"));
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("time=10 ")));
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("time=9999")));
}

// A simulated GPU counts what each launch does: alone it counts for good, beside others until then.
TEST(LiveCore, WhatTheDeviceCountsIsLearnt) {
  Daemon d;
  double l2 = 0;
  d.core.gpu.profile = [&](std::int32_t, std::uint64_t begin,
                           std::uint64_t) -> std::optional<corun::Profile> {
    if (begin == 0) return std::nullopt;  // it knows nothing of it
    corun::Profile out;
    out.time_ns = 1, out.l2_bandwidth = l2, out.memory_stall = 0.5;
    return out;
  };
  EXPECT_TRUE(d.core.stats(0, 1).totals.learns);
  const ClientId a = d.join("slow"), b = d.join("quick");
  d.ask(a, 1), d.ask(b, 1);
  l2 = 3e9;
  d.say(a, Done{1, 5000, false, 100, 5100});
  EXPECT_THAT(d.log, testing::HasSubstr("known l2=3000000000 stall=0.5 name=app/slow"))
      << "beside another: no time";
  d.say(b, Done{1, 5000, false, 0, 5100});
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("known l2=3000000000 stall=0.5 name=app/quick")));
  d.ask(a, 2), d.ask(b, 2);
  l2 = 9e9;
  d.say(a, Done{2, 5000, false, 6000, 11000});
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("l2=9000000000 stall=0.5 name=app/slow")))
      << "as known as before";
  d.say(b, Done{2, 5000, true, 6000, 11000});
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("l2=9000000000"))) << "it failed";
  d.ask(a, 3), d.say(a, Done{3, 4000, false, 20000, 24000});
  EXPECT_THAT(d.log, testing::HasSubstr("known time=4000 l2=9000000000 stall=0.5 name=app/slow"));
  l2 = 8.5e9;
  d.ask(a, 4), d.say(a, Done{4, 4100, false, 30000, 34100});
  EXPECT_THAT(d.log, testing::Not(testing::HasSubstr("l2=8500000000"))) << "no news";
  EXPECT_EQ(corun::replay(d.log, "log").difference, "");
}

TEST(LiveCore, WhatAFileSaysOfAKernelStays) {
  const FindProfile find = [](const ProgramIdentity&, const std::string& kernel, const corun::LaunchShape&) {
    corun::Profile out;
    out.l2_bandwidth = 5e9;
    out.more["mine"] = 3;
    out.nearest = kernel == "near";
    return std::optional(out);
  };
  Core core(corun::policy("shark"), {}, {}, find);
  core.gpu.profile = [](std::int32_t, std::uint64_t, std::uint64_t) {
    corun::Profile out;
    out.l2_bandwidth = 1e9, out.dram_bandwidth = 2e9;
    return std::optional(out);
  };
  const ClientId id = core.connect(1, 1);
  core.receive(id, Hello{protocol_version, protocol_version, false, "app"}, 1);
  core.receive(id, Register{0, 0, 0, "own"}, 1);
  core.receive(id, Register{1, 0, 0, "near"}, 1);
  for (std::uint32_t k = 0; k < 2; ++k) {
    Request request;
    request.sequence = k + 1;
    request.kernel = k;
    core.receive(id, request, 10 * k + 2);
    core.receive(id, Done{k + 1, 7, false, 10 * k + 1, 10 * k + 8}, 10 * k + 9);
  }
  EXPECT_THAT(core.log(0).text,
              testing::HasSubstr("known time=7 l2=5000000000 dram=2000000000 more.mine=3 name=app/own"));
  EXPECT_THAT(core.log(0).text, testing::HasSubstr("known near l2=5000000000 more.mine=3 name=app/near"));
  EXPECT_THAT(core.log(0).text,
              testing::HasSubstr("known time=7 l2=1000000000 dram=2000000000 more.mine=3 name=app/near"));
}

TEST(LiveCore, KnownKernelsHaveTheirProfile) {
  const FindProfile find = [](const ProgramIdentity& program, const std::string& kernel,
                              const corun::LaunchShape&) -> std::optional<corun::Profile> {
    if (program.name != "app" || kernel != "known") return std::nullopt;
    corun::Profile out;
    out.l2_bandwidth = 5e9;
    return out;
  };
  Core core(corun::policy("shark"), {}, {}, find);
  const ClientId id = core.connect(1, 1);
  core.receive(id, Hello{protocol_version, protocol_version, false, "app"}, 1);
  core.receive(id, Register{0, 0, 0, "known"}, 1);
  core.receive(id, Register{1, 0, 0, "unknown"}, 1);
  for (std::uint32_t k = 0; k < 2; ++k) {
    Request request;
    request.sequence = k + 1;
    request.kernel = k;
    core.receive(id, request, 2 + k);
  }
  EXPECT_THAT(core.log(0).text, testing::HasSubstr("l2=5000000000 name=app/known <<<1, 1, 0>>>\n"));
  EXPECT_THAT(core.log(0).text, testing::HasSubstr("kernel 2 name=app/unknown <<<1, 1, 0>>>\n"));
  const Applications all = core.applications(0);
  ASSERT_EQ(all.rows.size(), 1u);
  EXPECT_EQ(all.rows[0].kernels, 2u);
  EXPECT_EQ(all.rows[0].unknown, 1u);
  EXPECT_EQ(all.rows[0].unknown_kernel, "app/unknown <<<1, 1, 0>>>");
  EXPECT_EQ(core.stats(0, 9).totals.unknown, 1u);
}

// What is learnt of a kernel is of its program, its name and its shape.
TEST(LiveCore, WhatIsLearntIsOfOneProgramAndOneShape) {
  const Identify identify = [](std::int32_t pid, const std::string& said) {
    return ProgramIdentity{said, pid == 1 ? "0123456789abcdef" : pid == 2 ? "fedcba9876543210" : ""};
  };
  std::string log;
  Core core(corun::policy("shortest-first"), {}, {}, {}, identify);
  core.on_decision = [&](std::string_view line) { log += std::string(line) + "\n"; };
  std::uint64_t now = 0;
  const auto run = [&](std::int32_t pid, const char* program, std::uint32_t blocks, std::uint64_t gpu_ns) {
    const ClientId id = core.connect(pid, ++now);
    core.receive(id, Hello{protocol_version, protocol_version, false, program}, ++now);
    core.receive(id, Register{0, 16, 128, "k"}, ++now);
    Request request;
    request.sequence = 1;
    request.grid[0] = blocks;
    request.block[1] = 4;
    request.shared_bytes = 64;
    core.receive(id, request, ++now);
    core.receive(id, Done{1, gpu_ns, false}, ++now);
    core.disconnect(id, ++now);
    core.take();
  };
  run(1, "app", 1, 1000), run(1, "app", 64, 9000);
  run(2, "app", 1, 70), run(3, "other", 1, 500), run(1, "app", 1, 1010);
  EXPECT_THAT(log, testing::HasSubstr("kernel 1 known time=1000 name=app/k <<<1, 1x4, 192>>>\n"));
  EXPECT_THAT(log, testing::HasSubstr("kernel 2 known time=9000 name=app/k <<<64, 1x4, 192>>>\n"));
  EXPECT_THAT(log, testing::HasSubstr("kernel 3 known time=70 name=app#fedcba98/k <<<1, 1x4, 192>>>\n"));
  EXPECT_THAT(log, testing::HasSubstr("kernel 4 known time=500 name=other/k <<<1, 1x4, 192>>>\n"));
  EXPECT_THAT(log, testing::Not(testing::HasSubstr("kernel 5"))) << "the first one came again";
  // The clients have left; what they did has not.
  const Applications all = core.applications(0);
  ASSERT_EQ(all.rows.size(), 3u);
  EXPECT_EQ(all.rows[0].program, "app");
  EXPECT_EQ(all.rows[0].clients, 3u);
  EXPECT_EQ(all.rows[0].connected, 0u);
  EXPECT_EQ(all.rows[0].done, 3u);
  EXPECT_EQ(all.rows[0].gpu_ns, 1000u + 9000 + 1010);
  EXPECT_EQ(all.rows[0].judged, 3u);
  EXPECT_EQ(all.rows[0].alone_ns, 1000u + 9000 + 1000);
  EXPECT_NEAR(all.rows[0].slowdowns, 1 + 1 + 1.01, 1e-9);
  EXPECT_NEAR(all.rows[0].progress, 1 + 1 + 1 / 1.01, 1e-9);
  EXPECT_EQ(all.rows[1].program, "app#fedcba98");
  EXPECT_EQ(all.rows[2].program, "other");
  EXPECT_TRUE(core.applications(3).rows.empty());
}

TEST(LiveCore, WhoDoesNothingIsPassedOverAndComesBack) {
  Daemon d("mps", 1);
  const ClientId a = d.join(), b = d.join();
  d.ask(a, 1), d.ask(a, 2), d.ask(a, 3, 9), d.ask(b, 1);
  EXPECT_EQ(d.granted(), (Granted{{a, 1}}));
  ASSERT_EQ(d.core.holders().size(), 1u);
  EXPECT_EQ(d.core.holders()[0].client, a);
  d.core.pass_over(a, ++d.now);
  EXPECT_EQ(d.granted(), (Granted{{b, 1}})) << "its slot is another's, and nothing more of it is granted";
  EXPECT_EQ(d.totals().running, 1u);
  EXPECT_EQ(d.totals().passed, 1u);
  EXPECT_TRUE(d.core.stats(0, d.now).rows[0].passed);
  EXPECT_TRUE(d.core.holders().empty()) << "nobody but the one that is passed over waits for it";
  d.say(a, Done{1, 50, false});
  EXPECT_FALSE(d.core.stats(0, d.now).rows[0].passed) << "it says something: it is back";
  EXPECT_EQ(d.granted(), (Granted{})) << "the slot is still the other's";
  EXPECT_EQ(d.totals().done, 1u);
  EXPECT_EQ(d.totals().passed, 0u);
  d.say(b, Done{1, 50, false});
  EXPECT_EQ(d.granted(), (Granted{{a, 2}}));
  d.say(a, Done{2, 50, false});
  EXPECT_EQ(d.granted(), (Granted{{a, 3}}));
  EXPECT_EQ(d.totals().passes, 1u);
  EXPECT_THAT(d.log, testing::HasSubstr(" pass 1\n"));
  EXPECT_THAT(d.log, testing::HasSubstr(" back 1\n"));
  EXPECT_EQ(corun::replay(d.log, "log").difference, "");
}

TEST(LiveCore, WhoIsPassedOverDoesNotGoByItself) {
  Daemon d("mps", 4);
  const ClientId a = d.core.connect(1, ++d.now);
  d.say(a, Hello{protocol_version, protocol_version, true, "app"});
  d.say(a, Register{0, 0, 0, "k"});
  d.ask(a, 1);
  EXPECT_EQ(d.core.may_go(), std::vector<ClientId>{a});
  d.core.pass_over(a, ++d.now);
  EXPECT_TRUE(d.core.may_go().empty());
  d.core.back(a, ++d.now);
  EXPECT_EQ(d.core.may_go(), std::vector<ClientId>{a});
  d.core.pass_over(a, ++d.now);
  d.core.disconnect(a, ++d.now);
  const Totals t = d.totals();
  EXPECT_EQ(t.lost, 1u);
  EXPECT_EQ(t.running + t.passed, 0u);
}

TEST(LiveCore, MemoryOfProgramsThatLeftIsBounded) {
  Caps caps;
  caps.names = 5;
  Daemon d("mps", 8, caps);
  for (int i = 0; i < 40; ++i) {
    const ClientId id = d.core.connect(7, ++d.now);
    d.say(id, Hello{protocol_version, protocol_version, false, "program" + std::to_string(i)});
    d.say(id, Register{0, 0, 0, "k"});
    d.ask(id, 1);
    d.say(id, Done{1, 10, false});
    d.core.disconnect(id, ++d.now);
    d.core.take();
  }
  const Applications all = d.core.applications(0);
  EXPECT_EQ(all.rows.size(), 6u);
  std::uint64_t launches = 0;
  for (const ApplicationRow& row : all.rows) launches += row.done;
  EXPECT_EQ(launches, 40u) << "further ones share a row";
  EXPECT_EQ(all.rows.back().program, "(other programs)");
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

TEST(LiveCore, PolicyAndLimitChangeWhileClientsWait) {
  Daemon d("mps", 1);
  const ClientId a = d.join(), b = d.join();
  const ClientId who = d.core.connect(1, ++d.now);
  d.say(who, Hello{protocol_version, protocol_version, false, "simtlab"});
  d.ask(a, 1, 0), d.ask(a, 2, 1), d.ask(b, 1, 0), d.ask(b, 2, 1);
  EXPECT_EQ(d.granted(), (Granted{{a, 1}}));
  unsigned told = 0;
  d.core.on_adjusted = [&](const corun::Policy& policy, const corun::Settings& s) {
    ++told;
    EXPECT_EQ(policy.name, "shark-aging");
    EXPECT_EQ(s.limit, 3u);
    EXPECT_EQ(s.aging, 7u);
    EXPECT_EQ(s.quantum, corun::Settings{}.quantum) << "what is not given stays";
  };
  Adjust m;
  m.policy = "shark-aging", m.limit = 3, m.aging = 7;
  d.say(who, m);
  std::vector<Core::Output> out = d.core.take();
  ASSERT_EQ(out.size(), 2u) << "the answer, and the grant that the limit has room for: one a client";
  EXPECT_EQ(out[1].client, b);
  const auto& reply = std::get<Adjusted>(out[0].message);
  EXPECT_EQ(out[0].client, who);
  EXPECT_FALSE(out[0].close);
  EXPECT_THAT(reply.before, testing::StartsWith("policy mps limit=1 "));
  EXPECT_THAT(reply.now, testing::StartsWith("policy shark-aging limit=3 light=2 aging=7 "));
  EXPECT_EQ(d.totals().waiting, 2u);
  EXPECT_EQ(d.totals().policy, "shark-aging");
  d.say(who, m);  // again: nothing changes
  EXPECT_EQ(std::get<Adjusted>(d.core.take()[0].message).before, reply.now);
  EXPECT_EQ(d.totals().adjusted, 1u);
  EXPECT_EQ(told, 1u);
  const corun::Replayed again = corun::replay(d.log, "log");
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.log, d.log);
}

TEST(LiveCore, WhatCannotBeSetIsRefusedAndChangesNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<Adjust, Refusal> cases[] = {
      {{.policy = "sharc"}, Refusal::policy},
      {{.policy = "shark\n", .limit = 2}, Refusal::policy},
      {{.limit = 0}, Refusal::settings},
      {{.light = 2}, Refusal::settings},  // of shark alone
      {{.policy = "shark", .limit = 2, .aging = 3}, Refusal::settings},
      {{.policy = "exclusive", .quantum_ns = ~0ull}, Refusal::settings},
      {{.policy = "bandwidth-budget", .l2_cap = 0}, Refusal::settings},
      {{.policy = "bandwidth-budget", .dram_cap = nan}, Refusal::settings},
      {{.policy = "complementary", .memory_class = 1.5}, Refusal::settings},
      {{.policy = "complementary", .memory_class = nan}, Refusal::settings}};
  Daemon d("mps", 1);
  const ClientId a = d.join();
  d.ask(a, 1), d.ask(a, 2, 1);
  EXPECT_EQ(d.granted(), (Granted{{a, 1}}));
  const std::string before = d.log;
  for (const auto& [m, reason] : cases) {
    const ClientId who = d.core.connect(1, ++d.now);
    d.say(who, Hello{protocol_version, protocol_version, false, "simtlab"});
    d.say(who, m);
    EXPECT_EQ(d.refused(who), reason) << m.policy;
    EXPECT_FALSE(d.core.knows(who));
    EXPECT_EQ(d.log, before) << m.policy;
  }
  EXPECT_EQ(d.totals().policy, "mps");
  EXPECT_EQ(d.totals().waiting, 1u);
  EXPECT_EQ(d.totals().adjusted, 0u);
  const ClientId early = d.core.connect(1, ++d.now);
  d.say(early, Adjust{.policy = "shark"});
  EXPECT_EQ(d.refused(early), Refusal::out_of_order);
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
    const auto random = [&](std::uint64_t below) {
      return (state = state * 6364136223846793005u + 1442695040888963407u, (state >> 33) % below);
    };
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
}  // namespace simtlab::corun::live
