// Sends accesses to a DRAM system as fast as it takes them, and says when each was done.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "memory/dram/own_channels.h"

namespace simtlab::memory::dram {

inline std::vector<device::Technology> technologies() {
  std::vector<device::Technology> all;
  for (const std::string& name : device::list_technologies())
    all.push_back(device::load_technology(name).technology);
  return all;
}

struct Outcome {
  Cycle end = 0;               // after the last completion
  std::vector<Cycle> latency;  // by request; 0: never done
  std::vector<unsigned> times_done;
};

// Offers one request a clock, or one every `interval`, and waits for all.
inline Outcome drive(OwnChannels& memory, const std::vector<Access>& accesses, Cycle interval = 1) {
  Outcome run;
  run.latency.resize(accesses.size());
  run.times_done.resize(accesses.size());
  std::vector<Cycle> sent(accesses.size());
  std::vector<Completion> done;
  std::size_t finished = 0;
  Cycle now = 0;
  const auto take = [&] {
    for (const Completion& c : done) {
      run.latency[c.tag] = c.at - sent[c.tag];
      ++run.times_done[c.tag];
      run.end = std::max(run.end, c.at + 1);
    }
    finished += done.size();
    done.clear();
  };
  for (const Access& access : accesses) {
    while (!memory.accepts(0, access)) {
      now = std::max(now, memory.next_event() + 1);
      memory.advance(now, done);
      take();
    }
    sent[access.tag] = now;
    memory.add(0, access, now);
    now += interval;
    memory.advance(now, done);
    take();
  }
  while (finished < accesses.size() && memory.next_event() != never) {
    now = memory.next_event() + 1;
    memory.advance(now, done);
    take();
  }
  return run;
}

inline std::vector<Access> random_accesses(const OwnChannels& memory, std::size_t count, unsigned write_share,
                                           std::uint64_t lines, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Access> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i].address = random() % lines * memory.access_bytes() % memory.channel_bytes();
    made[i].write = random() % 100 < write_share;
    made[i].source = static_cast<std::uint32_t>(random() % 5);
    made[i].tag = i;
  }
  return made;
}

}  // namespace simtlab::memory::dram
