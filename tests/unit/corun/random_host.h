// A host that makes up applications: random launches, ends, withdrawals and deaths against a Scheduler,
// checked at every step.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "corun/scheduler.h"

namespace simtlab::corun {

struct RandomHost {
  struct Seen {
    ClientId client = 0;
    StreamId stream = 0;
    std::uint32_t slots = 1;
    bool granted = false, over = false;
    std::uint64_t grants_at_ready = 0, heads_at_ready = 0;
  };

  RandomHost(const Policy& policy, Settings settings, std::uint64_t seed)
      : rng(seed),
        scheduler(policy, settings, [this](std::string_view line) { log.append(line) += '\n'; }),
        limit(settings.limit),
        allowed(settings.limit) {
    for (int k = 1; k <= 6; ++k) {
      Profile p;
      p.time_ns = static_cast<double>(100 * (1 + rng.below(50)));
      p.l2_bandwidth = static_cast<double>(rng.below(5)) * 80e9;  // ties are wanted
      p.dram_bandwidth = static_cast<double>(rng.below(100)) * 1e9;
      p.memory_stall = rng.unit();
      scheduler.kernel(0, "kernel " + std::to_string(k), k == 6 ? nullptr : &p);  // one is unknown
    }
  }

  void step(bool faults) {
    time += rng.below(3) * (1 + rng.below(200));
    for (std::uint64_t events = 1 + rng.below(3); events > 0; --events) event(faults);
    for (const Grant& g : scheduler.decide()) granted(g);
    check();
  }

  void event(bool faults) {
    const std::uint64_t dice = rng.below(100);
    if (clients.empty() || (dice < 6 && clients.size() < 12)) {
      clients.push_back(++last_client);
      scheduler.join(time, last_client, static_cast<std::int32_t>(rng.below(3)));
    } else if (dice < 55) {
      const ClientId client = clients[rng.below(clients.size())];
      Seen seen{client, rng.below(2),
                rng.below(10) == 0 ? static_cast<std::uint32_t>(1 + rng.below(2 * limit)) : 1u};
      const Sequence s =
          scheduler.launch(time, client, seen.stream, static_cast<KernelId>(1 + rng.below(6)), seen.slots);
      EXPECT_TRUE(launches.emplace(s, seen).second);
    } else if (dice < 92 && !running.empty()) {
      end(running[rng.below(running.size())]);
    } else if (dice < 94 && !passed_over.empty()) {
      end(passed_over[rng.below(passed_over.size())]);
    } else if (faults && dice < 96) {
      cancel();
    } else if (faults && dice < 98) {
      pass_or_back(clients[rng.below(clients.size())]);
    } else if (faults && dice == 99 && rng.below(4) == 0) {
      leave(clients[rng.below(clients.size())], rng.below(2) == 0);
    }
  }

  void end(Sequence s) {
    scheduler.end(time, s, 1 + rng.below(1000));
    std::erase(running, s);
    std::erase(passed_over, s);
    launches.at(s).over = true;
  }

  void cancel() {
    std::vector<Sequence> waiting;
    for (const auto& [s, seen] : launches)
      if (!seen.granted && !seen.over) waiting.push_back(s);
    if (waiting.empty()) return;
    const Sequence s = waiting[rng.below(waiting.size())];
    scheduler.cancel(time, s);
    launches.at(s).over = true;
  }

  // What runs of a client that is passed over goes on without slots, and ends like any other.
  void pass_or_back(ClientId client) {
    if (std::erase(passed, client) != 0) return scheduler.back(time, client);
    passed.push_back(client);
    scheduler.pass_over(time, client);
    for (const auto& [s, seen] : launches)
      if (seen.client == client && std::erase(running, s) != 0) passed_over.push_back(s);
  }

  void leave(ClientId client, bool drain) {
    std::erase(passed, client);
    for (const auto& [s, seen] : launches)
      if (seen.client == client && std::erase(passed_over, s) != 0) launches.at(s).over = true;
    scheduler.leave(time, client, drain);
    std::erase(clients, client);
    for (auto& [s, seen] : launches) {
      if (seen.client != client || seen.over) continue;
      if (seen.granted && drain) continue;
      if (seen.granted) std::erase(running, s);
      seen.over = true;
    }
  }

  // What runs stays: more than a smaller limit, until enough have ended.
  void set(const Policy& policy, const Settings& settings) {
    scheduler.set(time, policy, settings);
    limit = settings.limit;
    allowed = std::max(limit, scheduler.used_slots());
  }

  void granted(const Grant& g) {
    Seen& seen = launches.at(g.sequence);
    EXPECT_FALSE(seen.granted) << g.sequence;  // once
    EXPECT_FALSE(seen.over) << g.sequence;     // not after it was withdrawn or its client died
    EXPECT_EQ(seen.client, g.client);
    EXPECT_EQ(std::ranges::count(passed, g.client), 0) << "a client that is passed over is granted nothing";
    seen.granted = true;
    ++grants;
    for (const auto& [s, other] : launches) {  // the order within a stream
      if (s >= g.sequence) break;
      if (other.client == seen.client && other.stream == seen.stream) {
        EXPECT_TRUE(other.over) << s << " before " << g.sequence;
      }
    }
    running.push_back(g.sequence);
  }

  void check() {
    std::uint32_t used = 0;
    for (const Sequence s : running) used += std::min(launches.at(s).slots, limit);
    EXPECT_LE(used, allowed);
    allowed = std::max(limit, used);
    EXPECT_EQ(used, scheduler.used_slots());
    EXPECT_EQ(running.size(), scheduler.running());
    EXPECT_EQ(grants, scheduler.grants());
  }

  // Everything ends: whoever waits must get its turn. False: the policy stopped although something waits.
  bool drain() {
    while (!passed.empty()) pass_or_back(passed.front());
    while (!passed_over.empty()) end(passed_over.front());
    for (const Grant& g : scheduler.decide()) granted(g);
    while (scheduler.waiting() > 0 || !running.empty()) {
      if (running.empty()) return false;
      time += 10;
      end(running.front());
      for (const Grant& g : scheduler.decide()) granted(g);
      check();
    }
    return true;
  }

  Rng rng;
  std::string log;
  Scheduler scheduler;
  std::uint32_t limit, allowed;
  Time time = 0;
  ClientId last_client = 0;
  std::vector<ClientId> clients;
  std::vector<Sequence> running, passed_over;  // passed_over: without slots
  std::vector<ClientId> passed;
  std::map<Sequence, Seen> launches;
  std::uint64_t grants = 0;
};

}  // namespace simtlab::corun
