// Channels that answer every access after a fixed time and hold a fixed number: what the real ones are
// replaced by in tests.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "memory/dram/channels.h"

namespace simtlab::memory::dram {

class FixedChannels final : public Channels {
 public:
  struct Config {
    std::uint32_t count = 1;
    double clock_period = 1000;
    std::uint32_t access_bytes = 32;
    Cycle latency = 10;
    std::uint32_t room = 4;  // accesses of a channel under way
  };
  explicit FixedChannels(const Config& config) : config(config), under_way(config.count) {}

  std::uint32_t count() const override { return config.count; }
  double clock_period() const override { return config.clock_period; }
  std::uint32_t access_bytes() const override { return config.access_bytes; }
  std::uint64_t channel_bytes() const override { return 0; }
  bool accepts(std::uint32_t channel, const Access&) const override {
    return under_way[channel] < config.room;
  }
  void add(std::uint32_t channel, const Access& access, Cycle at) override {
    if (!accepts(channel, access)) throw std::logic_error("added although refused");
    if (at < end) throw std::logic_error("added in the past");
    ++under_way[channel];
    log.push_back({channel, access, at});
    pending.push_back({at + config.latency, access.tag, channel, access.write});
  }
  Cycle next_event() const override {
    Cycle next = never;
    for (const Completion& c : pending) next = std::min(next, c.at);
    return next;
  }
  void advance(Cycle until, std::vector<Completion>& done) override {
    end = std::max(end, until);
    std::stable_sort(pending.begin(), pending.end(), [](const Completion& a, const Completion& b) {
      return a.at != b.at ? a.at < b.at : a.channel < b.channel;
    });
    while (!pending.empty() && pending.front().at < until) {
      --under_way[pending.front().channel];
      done.push_back(pending.front());
      pending.erase(pending.begin());
    }
  }
  void restart() override {
    pending.clear();
    log.clear();
    end = 0;
    std::fill(under_way.begin(), under_way.end(), 0u);
  }

  struct Added {
    std::uint32_t channel;
    Access access;
    Cycle at;
  };
  Config config;
  std::vector<std::uint32_t> under_way;
  std::vector<Completion> pending;
  std::vector<Added> log;
  Cycle end = 0;
};

}  // namespace simtlab::memory::dram
