// A memory that answers after a fixed time: what the driver is tested against.
#pragma once

#include <deque>
#include <vector>

#include "memory/dram/channels.h"

namespace simtlab::memory::traffic {

struct FixedMemory : memory::dram::Channels {
  std::uint32_t channels = 1;
  memory::Cycle latency = 10;
  std::size_t room = 4;  // requests under way in a channel
  std::uint32_t bytes = 64;
  std::uint64_t capacity = std::uint64_t{1} << 30;  // of a channel
  bool silent = false;                              // takes, and never answers
  bool doubles = false;                             // answers twice

  struct Added {
    std::uint32_t channel;
    memory::dram::Access access;
    memory::Cycle at;
  };
  std::vector<Added> added;  // all ever
  std::deque<Added> waiting;
  std::uint64_t advances = 0;

  std::uint32_t count() const override { return channels; }
  double clock_period() const override { return 1000; }
  std::uint32_t access_bytes() const override { return bytes; }
  std::uint64_t channel_bytes() const override { return capacity; }
  bool accepts(std::uint32_t channel, const memory::dram::Access&) const override {
    std::size_t there = 0;
    for (const Added& a : waiting) there += a.channel == channel;
    return there < room;
  }
  void add(std::uint32_t channel, const memory::dram::Access& access, memory::Cycle at) override {
    added.push_back({channel, access, at});
    waiting.push_back(added.back());
  }
  memory::Cycle next_event() const override {
    return waiting.empty() || silent ? memory::never : waiting.front().at + latency;
  }
  void advance(memory::Cycle end, std::vector<memory::dram::Completion>& done) override {
    ++advances;
    while (!silent && !waiting.empty() && waiting.front().at + latency < end) {
      const Added& a = waiting.front();
      for (int i = 0; i < (doubles ? 2 : 1); ++i)
        done.push_back({a.at + latency, a.access.tag, a.channel, a.access.write});
      waiting.pop_front();
    }
  }
  void restart() override {
    waiting.clear();
    added.clear();
  }
};

}  // namespace simtlab::memory::traffic
